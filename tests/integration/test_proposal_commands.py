"""Proposals through commands: what each refusal is called, suggesting by choice, several at once (DESIGN 5, 9, 11)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from collab import commands
from collab.db import in_db
from collab.errors import CollabError
from collab.models.proposals import Proposal
from collab.models.threads import Command
from collab.services.documents import document_edit
from collab.services.proposals import proposal_accept, proposal_reject
from collab.services.workspaces import member_add, workspace_create
from permissions.errors import PermissionsError
from permissions.ids import new_id
from permissions.roles import Role
from permissions.services import grant_give, grant_take
from tests.support.cast import PLAN
from tests.support.reading import state_of, text_of
from tests.support.sockets import Sockets
from tests.support.turns import outcomes, posts, turns, until
from tests.support.world import world

EDIT = [{"find": "for 12", "replace": "for 14"}]


def propose(studio, actor, **change):
    given = {"edits": EDIT, **change}
    return document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True, **given
    ).proposal


def sends(someone, name, id="c1", **args):
    """Send a command; return its result, or the code and the sentence it was refused with."""
    body = {key: value if isinstance(value, list | int | bool) else str(value) for key, value in args.items()}
    try:
        return commands.run(someone.actor, name, id, body)
    except (PermissionsError, CollabError) as refused:
        return refused.code, refused.because


class TestEachRefusalHasItsOwnCode:
    def refused(self, someone, proposal, name="proposal_accept", **args):
        """Send a command that is refused and changes nothing; return code and sentence."""
        before = world()
        code, because = sends(someone, name, proposal=getattr(proposal, "id", proposal), **args)
        assert world() == before
        return code, because

    def test_ones_own(self, studio):
        own = propose(studio, studio.ana.actor)
        for name in ("proposal_accept", "proposal_reject"):
            code, because = self.refused(studio.ana, own, name)
            assert (code, because) == ("own_proposal", "You proposed it: someone else must accept.")

    def test_without_the_right_and_after_losing_it(self, studio):
        proposal = propose(studio, studio.ana.actor)
        assert self.refused(studio.vera, proposal)[0] == "forbidden"
        grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="change_document", obj=studio.workspace)
        code, because = self.refused(studio.ben, proposal)
        assert (code, because) == ("forbidden", "You can't accept: you may only propose changes to Launch plan.")

    def test_one_that_was_resolved_by_another_or_by_oneself(self, studio):
        proposal = propose(studio, studio.robin.acting_for(None, studio.thread))
        proposal_accept(actor=studio.ben.actor, proposal=proposal.id)
        at = f"{Proposal.objects.get().resolved_at:%H:%M}"
        for name in ("proposal_accept", "proposal_reject"):
            assert self.refused(studio.ana, proposal, name) == ("already_settled", f"Ben accepted it at {at} UTC.")
            assert self.refused(studio.ben, proposal, name) == ("already_yours", f"You accepted it at {at} UTC.")

    def test_another_workspaces_and_one_of_a_document_that_may_not_be_seen(self, studio, zoe):
        proposal = propose(studio, studio.ben.actor)
        workspace_create(actor=zoe.actor, name="Garden")
        nothing = self.refused(zoe, new_id())
        assert nothing[0] == "not_found"
        assert self.refused(zoe, proposal) == nothing
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
        for state in ("open", "accepted"):
            assert state_of(proposal) == state
            for name in ("proposal_accept", "proposal_reject", "proposal_withdraw"):
                assert self.refused(zoe, proposal, name) == nothing
            if state == "open":
                proposal_accept(actor=studio.ana.actor, proposal=proposal.id)

    @pytest.mark.parametrize(
        ("args", "code"),
        [
            ({"text": PLAN.replace("for 12", "for 14")}, "unchanged"),
            ({"text": "x" * 300_000}, "text_refused"),
            ({"text": "Mine.", "base_version": 9}, "no_such_version"),
            ({"text": "Mine.", "base_version": 0}, "edits_stale"),
            ({"text": "Mine.", "base_version": -1}, "invalid"),
        ],
    )
    def test_edits_that_do_not_do(self, studio, args, code):
        assert self.refused(studio.ana, propose(studio, studio.ben.actor), **args)[0] == code

    def test_a_passage_that_changed(self, studio):
        proposal = propose(studio, studio.ben.actor)
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=[{"find": "12", "replace": "20"}])
        code, because = self.refused(studio.ana, proposal)
        assert (code, because) == ("conflict", "The document changed since: not found: “for 12”.")

    def test_an_unknown_decision(self, studio):
        proposal = propose(studio, studio.ben.actor)
        assert self.refused(studio.ana, proposal, "proposal_admire") == ("unknown_command", "There is no such command.")

    def test_an_operation_on_anything_but_the_document_is_refused_at_creation(self, studio):
        for operation in (
            {"op": "add", "path": "/grants", "value": ["manage"]},
            {"op": "replace", "path": "", "value": {"text": "Fine.", "write_policy": "direct"}},
        ):
            with pytest.raises(CollabError) as refused:
                propose(studio, studio.robin.acting_for(studio.ana, studio.thread), edits=[operation])
            assert refused.value.code == "out_of_scope"
        assert not Proposal.objects.exists()


class TestSuggestingByChoice:
    def test_who_may_change_can_suggest_instead(self, studio):
        thread = studio.thread.id
        for name, args in (
            ("document_save", {"document": studio.document.id, "text": "All new", "base_version": 1}),
            ("document_create", {"title": "Menu", "kind": "markdown"}),
            ("document_archive", {"document": studio.document.id}),
        ):
            result = sends(studio.ana, name, id=name, thread=thread, propose=True, rationale=f"For {name}.", **args)
            row = Proposal.objects.get(pk=result["proposal"])
            assert (row.state, row.proposer, row.rationale) == ("open", studio.ana.actor, f"For {name}.")
            assert (result["version"], result["because"]) == (None, "")
        studio.document.refresh_from_db()
        assert (studio.document.version, studio.document.archived_at) == (1, None)

    def test_a_suggestion_outside_of_any_thread_is_refused(self, studio):
        args = {"document": studio.document.id, "text": "All new", "base_version": 1, "propose": True}
        code, because = sends(studio.ana, "document_save", **args)
        assert (code, because) == ("invalid", "A proposal is made in a thread; name one.")

    def test_who_may_only_propose_is_told_why_it_became_one(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        args = {"document": studio.document.id, "text": "All new", "base_version": 1, "thread": studio.thread.id}
        assert sends(zoe, "document_save", **args)["because"] == "Zoe may only propose changes to Launch plan."


class TestSeveralAtOnce:
    def ids(self, *proposals):
        return [str(proposal.id) for proposal in proposals]

    def test_each_has_its_own_result_and_its_own_refusal(self, studio):
        mine = propose(studio, studio.ana.actor)
        first, second = (propose(studio, studio.ben.actor, edits=[{"append": text}]) for text in ("One.", "Two."))
        gone = propose(studio, studio.ben.actor, edits=[{"append": "Three."}])
        proposal_reject(actor=studio.ana.actor, proposal=gone.id)
        ids = [*self.ids(first, mine, second, gone), str(new_id())]
        results = sends(studio.ana, "proposals_accept", proposals=[*ids, ids[0]])["results"]
        assert [result["proposal"] for result in results] == ids
        codes = [result.get("code", "done") for result in results]
        assert codes == ["done", "own_proposal", "done", "already_yours", "not_found"]
        assert [result.get("version") for result in results[:3]] == [2, None, 3]
        assert text_of(studio.document).endswith("One.\nTwo.")

    def test_sent_again_it_is_answered_as_the_first_time(self, studio):
        proposals = [propose(studio, studio.ben.actor, edits=[{"append": text}]) for text in ("One.", "Two.")]
        args = {"proposals": self.ids(*proposals)}
        first = sends(studio.ana, "proposals_accept", **args)
        assert sends(studio.ana, "proposals_accept", **args) == first
        code, _ = sends(studio.ana, "proposals_accept", proposals=[str(new_id())])
        assert code == "command_id_reused"
        studio.document.refresh_from_db()
        assert studio.document.version == 3

    def test_cut_off_before_its_answer_was_stored_it_accepts_nothing_twice(self, studio):
        proposals = [propose(studio, studio.ben.actor, edits=[{"append": text}]) for text in ("One.", "Two.")]
        args = {"proposals": self.ids(*proposals)}
        first = sends(studio.ana, "proposals_accept", **args)
        Command.objects.get(command_id="c1").delete()
        assert sends(studio.ana, "proposals_accept", **args) == first
        studio.document.refresh_from_db()
        assert studio.document.version == 3

    def test_where_all_are_refused_for_one_reason_it_is_said_once(self, studio, zoe):
        proposals = self.ids(*(propose(studio, studio.ben.actor, edits=[{"append": text}]) for text in "ab"))
        before = world()
        code, because = sends(studio.vera, "proposals_accept", proposals=proposals)
        assert (code, because) == ("forbidden", "You can't accept: you may only view Launch plan.")
        assert sends(zoe, "proposals_accept", proposals=proposals)[0] == "not_found"
        assert world() == before

    @pytest.mark.parametrize("proposals", [[], [str(new_id()) for _ in range(51)], ["nothing"]])
    def test_none_and_more_than_fifty_are_refused(self, studio, proposals):
        assert sends(studio.ana, "proposals_accept", proposals=proposals)[0] == "invalid"


@pytest.mark.django_db(transaction=True)
class TestThroughTheSocketAndTheAgent:
    """The truth table of tests/integration/test_proposal_rights.py, on the other two ways in."""

    @pytest.fixture
    async def sockets(self, studio) -> AsyncIterator[Sockets]:
        async with Sockets() as opened:
            yield opened

    def proposed(self, studio):
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        return propose(studio, studio.ana.actor).id, propose(studio, robin, edits=[{"append": "More."}]).id

    async def test_a_socket_accepts_for_its_person_alone(self, sockets, studio):
        from_ana, from_robin = await in_db(self.proposed, studio)
        for someone, proposal, expected in (
            (studio.ana, from_ana, "own_proposal"),
            (studio.vera, from_ana, "forbidden"),
            (studio.vera, from_robin, "forbidden"),
            (studio.ben, from_ana, "result"),
            (studio.ana, from_robin, "result"),
            (studio.ben, from_robin, "already_settled"),
        ):
            socket = await sockets.connect(someone, studio.thread.id)
            await socket.hello()
            answer = await socket.command("proposal_accept", id=f"{someone.name}-{proposal}", proposal=str(proposal))
            assert answer.get("code", answer["type"]) == expected

    async def test_a_card_follows_who_holds_the_right_now(self, sockets, studio):
        mine = await in_db(lambda: propose(studio, studio.ana.actor).id)
        watching = {}
        for someone in (studio.ana, studio.ben):
            watching[someone.name] = await sockets.connect(someone, studio.thread.id)
            await watching[someone.name].hello()
        taken = {"holder": studio.ben.user, "codename": "review_document", "obj": studio.workspace}
        await in_db(lambda: grant_take(by=studio.ana.actor, **taken))
        told = {}
        for name, socket in watching.items():
            (item,) = (await socket.until("standing"))["items"]
            assert item["id"] == str(mine)
            told[name] = item["may"]
        assert (told["Ben"]["accept"]["ok"], told["Ben"]["reject"]) == (False, False)
        assert "Nobody here can accept it at present" in told["Ana"]["accept"]["because"]

    def test_the_agent_has_no_way_to_resolve_anything(self, studio, puppet, stage):
        own = propose(studio, studio.ben.actor)
        posts(studio.ana, studio.thread, "accept it")
        puppet.is_asked()
        for name in ("proposal_accept", "accept_proposal", "proposals_accept", "proposal_reject"):
            puppet.calls(name, proposal=str(own.id))
            puppet.is_asked()
        puppet.says("I can't.")
        until(lambda: turns(studio.thread)[0].status == "completed")
        stage.settles()
        assert {(outcome, reason) for _, outcome, reason in outcomes(turns(studio.thread)[0])} == {
            ("refused", "unknown_tool")
        }
        assert state_of(own) == "open"
