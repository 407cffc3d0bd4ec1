"""What a client posts is by that client: it cuts turns, its turns act for it, its proposals are somebody else's to
accept (DESIGN 5 and 6; FAILURES A5, A6, F1)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from agents.actions.services import action_approve, action_decline
from agents.clients.services import client_enable
from agents.models.actions import PendingAction
from agents.timers.services import timer_set
from agents.turns.ending import acting
from agents.turns.start import start_next
from collab.commands import run
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event
from collab.services.documents import document_edit
from collab.services.proposals import proposal_accept, proposal_reject
from collab.services.workspaces import workspace_create
from permissions.actors import Agent, Client, dumps
from permissions.decisions import Action, Level
from permissions.errors import NotFound, OwnProposal, Refused
from permissions.gate import decide_on
from permissions.roles import Role
from tests.support.clients import connected, reissued
from tests.support.tools import registered, send_flowers
from tests.support.turns import outcomes, posts, took
from tests.support.worked import Worker, edit

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(studio, ben):
    """A client of Ben's with a token for the studio."""
    return connected(studio, ben)


def sends(client, studio, text: str):
    """Post a message as a client, by the command that every surface gives."""
    return run(client.actor, "message_post", uuid4().hex, {"thread": str(studio.thread.id), "text": text})


def suggests(actor, studio, number: str) -> Proposal:
    """Propose a change of the budget."""
    made = document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True,
        edits=[{"find": "900", "replace": number}],
    )  # fmt: skip
    assert made.proposal is not None
    return made.proposal


class TestTurns:
    def test_a_clients_message_cuts_the_turn_of_its_own_person(self, studio, ben, desk):
        posts(ben, studio.thread, "raise the budget")
        sends(desk, studio, "to 950")
        posts(ben, studio.thread, "please")
        first = Worker.begins(studio)
        assert took(first.turn) == ["raise the budget"]
        first.ends()
        second = Worker.begins(studio)
        assert took(second.turn) == ["to 950"]
        assert second.turn.on_behalf_of == desk.actor
        second.ends()
        third = Worker.begins(studio)
        assert (took(third.turn), third.turn.on_behalf_of) == (["please"], ben.actor)

    def test_a_clients_message_joins_no_running_turn_of_its_person(self, studio, ben, desk):
        posts(ben, studio.thread, "raise the budget")
        running = Worker.begins(studio)
        sends(desk, studio, "and delete the plan")
        running.steps("list_documents")
        assert took(running.turn) == ["raise the budget"]

    def test_two_clients_of_one_person_are_two_authors(self, studio, ben, desk):
        other = connected(studio, ben, name="Till")
        sends(desk, studio, "one")
        sends(other, studio, "two")
        assert took(Worker.begins(studio).turn) == ["one"]

    def test_two_tokens_of_one_client_are_one_author(self, studio, ben, desk):
        other = reissued(desk, studio, ben)
        sends(desk, studio, "one")
        sends(other, studio, "two")
        assert took(Worker.begins(studio).turn) == ["one", "two"]

    def test_a_turn_that_a_client_starts_acts_for_it_and_says_so(self, studio, ben, desk):
        sends(desk, studio, "raise the budget")
        worker = Worker.begins(studio)
        turn = worker.turn
        assert (turn.trigger, turn.origin, turn.on_behalf_of) == ("message", desk.actor, desk.actor)
        worker.steps("edit_document", **edit("900", "950"))
        proposed = Event.objects.get(type="proposal_created")
        assert proposed.actor == Agent(studio.robin.id, studio.thread.id, Client(desk.row.pk, ben.id))
        assert dumps(proposed.actor).endswith(f"client:{desk.row.pk}/person:{ben.id}")

    @pytest.mark.parametrize(
        ("clients", "person", "level"),
        [
            (Role.EDITOR, "ben", Level.ALLOW),
            (Role.CONTRIBUTOR, "ben", Level.PROPOSE),
            (Role.VIEWER, "ben", Level.DENY),
            (Role.EDITOR, "vera", Level.DENY),
            (Role.EDITOR, None, Level.ALLOW),
            (Role.CONTRIBUTOR, None, Level.PROPOSE),
        ],
        ids=["both may", "it proposes", "it views", "its person views", "alone it may", "alone it proposes"],
    )
    def test_a_turn_for_it_is_capped_by_it_and_by_its_person(self, studio, request, clients, person, level):
        acts_for = connected(studio, request.getfixturevalue(person) if person else None, role=clients).actor
        robin = studio.robin.acting_for(acts_for, studio.thread)
        assert decide_on(robin, Action.CHANGE_DOCUMENT, studio.document).level is level

    def test_its_turn_only_proposes_since_no_person_began_it(self, studio, desk):
        sends(desk, studio, "raise the budget")
        worker = Worker.begins(studio)
        worker.calls("edit_document", **edit("900", "950"))
        assert outcomes(worker.turn) == [("propose_change", "done", "")]
        assert Document.objects.get(pk=studio.document.id).version == 1

    def test_who_may_not_start_a_turn_starts_none_through_a_client(self, studio, vera):
        desk = connected(studio, vera)
        with pytest.raises(Refused, match="Vera may only view Launch dinner"):
            sends(desk, studio, "raise the budget")
        assert start_next(studio.thread.id) is None

    def test_taking_its_grants_stops_the_very_next_write_of_its_turn(self, studio, ana, ben, desk):
        sends(desk, studio, "raise the budget")
        worker = Worker.begins(studio)
        client_enable(actor=ana.actor, workspace=studio.workspace.id, client=desk.row.pk, role=Role.VIEWER)
        worker.calls("edit_document", **edit("900", "950"))
        assert outcomes(worker.turn)[0][1:] == ("refused", "forbidden")
        assert Document.objects.get(pk=studio.document.id).version == 1

    def test_what_its_person_is_asked_for_is_the_persons_to_decide_in_person(self, studio, ben, desk):
        sends(desk, studio, "send flowers")
        worker = Worker.begins(studio)
        with registered(send_flowers):
            worker.calls("send_flowers", to="Sam")
            worker.ends()
        action = PendingAction.objects.get()
        assert action.addressee == ben.actor
        for decide in (action_approve, action_decline):
            with pytest.raises(Refused, match="Only people approve or decline"):
                decide(actor=desk.actor, action=action.pk)
        assert action_approve(actor=ben.actor, action=action.pk).state == "approved"


class TestProposals:
    """Nobody accepts their own proposal, in person or through a client."""

    def test_what_a_client_proposed_its_person_cannot_settle_and_another_can(self, studio, ana, ben, desk):
        proposal = suggests(desk.actor, studio, "950")
        assert proposal.proposer == desk.actor
        for settle in (proposal_accept, proposal_reject):
            with pytest.raises(OwnProposal):
                settle(actor=ben.actor, proposal=proposal.id)
        proposal_accept(actor=ana.actor, proposal=proposal.id)
        assert Proposal.objects.get().state == "accepted"

    def test_what_a_person_proposed_their_client_cannot_settle(self, studio, ben, desk):
        proposal = suggests(ben.actor, studio, "950")
        for settle in (proposal_accept, proposal_reject):
            with pytest.raises(OwnProposal):
                settle(actor=desk.actor, proposal=proposal.id)

    def test_what_a_client_proposed_neither_itself_nor_another_of_its_persons_settles(self, studio, ben, desk):
        proposal = suggests(desk.actor, studio, "950")
        for client in (desk, connected(studio, ben, name="Till")):
            with pytest.raises(OwnProposal):
                proposal_accept(actor=client.actor, proposal=proposal.id)

    def test_a_client_for_no_one_cannot_settle_what_it_proposed_for_someone(self, studio, ben):
        shared = connected(studio, None, name="Shared")
        proposal = suggests(Client(shared.row.pk, ben.id), studio, "950")
        with pytest.raises(OwnProposal):
            proposal_accept(actor=shared.actor, proposal=proposal.id)

    def test_what_the_agent_proposed_for_a_client_its_person_settles_in_person_and_no_client_does(
        self, studio, ben, desk
    ):
        sends(desk, studio, "raise the budget")
        robin = acting(Worker.begins(studio).turn)
        proposal = suggests(robin, studio, "950")
        for client in (desk, connected(studio, ben, name="Till")):
            with pytest.raises(OwnProposal):
                proposal_accept(actor=client.actor, proposal=proposal.id)
        proposal_accept(actor=ben.actor, proposal=proposal.id)

    def test_anothers_client_may_settle_it_if_its_rights_reach(self, studio, ana, ben, vera, desk):
        proposal = suggests(ben.actor, studio, "950")
        with pytest.raises(Refused):
            proposal_accept(actor=connected(studio, vera, name="Vera's").actor, proposal=proposal.id)
        anas = connected(studio, ana, name="Ana's").actor
        proposal_accept(actor=anas, proposal=proposal.id)
        assert Proposal.objects.get().resolver == anas

    def test_a_proposal_outside_its_tokens_workspaces_is_not_there(self, studio, ana, ben):
        elsewhere = workspace_create(actor=ana.actor, name="Elsewhere")
        proposal = suggests(ben.actor, studio, "950")
        away = connected(studio, ana, name="Away", within=[elsewhere])
        with pytest.raises(NotFound):
            proposal_accept(actor=away.actor, proposal=proposal.id)


class TestTimers:
    """A timer's turns are capped by its owner alone, so a client that could set one would escape its own cap."""

    SET = {"text": "What is the budget?", "at": "2027-01-04T09:00"}

    def test_a_client_sets_no_timer_that_asks_the_agent(self, studio, desk):
        with pytest.raises(Refused, match="Only people set timers that ask the agent"):
            timer_set(actor=desk.actor, thread=studio.thread.id, does="asks", **self.SET)

    def test_the_agent_sets_none_for_a_client_either(self, studio, desk):
        sends(desk, studio, "ask me later")
        with pytest.raises(Refused, match="Only people set timers that ask the agent"):
            timer_set(actor=acting(Worker.begins(studio).turn), thread=studio.thread.id, does="asks", **self.SET)

    def test_a_client_sets_one_that_tells_and_it_is_its_persons(self, studio, ben, desk):
        timer = timer_set(actor=desk.actor, thread=studio.thread.id, **self.SET)
        assert (timer.set_by, timer.owner) == (desk.actor, ben.actor)


class TestCommands:
    def test_a_command_id_is_of_a_client_and_its_person(self, studio, ben, desk):
        body = {"thread": str(studio.thread.id), "text": "hello"}
        first = run(desk.actor, "message_post", "once", body)
        assert run(desk.actor, "message_post", "once", body) == first
        assert run(ben.actor, "message_post", "once", body) != first
        other = connected(studio, ben, name="Till")
        assert run(other.actor, "message_post", "once", body) != first
