"""Who may resolve a proposal: never one's own, in person or through anyone (DESIGN 5, may_resolve; FAILURES F)."""

from __future__ import annotations

import pytest

from collab import events
from collab.errors import Gone
from collab.models.proposals import Proposal
from collab.services.documents import document_edit
from collab.services.proposals import (
    acceptance,
    acceptances,
    may_withdraw,
    proposal_accept,
    proposal_reject,
    proposal_withdraw,
)
from collab.services.threads import thread_create, thread_mode_set
from collab.services.workspaces import member_add, member_role_set
from permissions.actors import Source, System
from permissions.errors import NotFound, Refused
from permissions.ids import new_id
from permissions.roles import Role
from permissions.services import grant_give, grant_take
from tests.support.reading import facts, state_of, text_of

EDIT = [{"find": "for 12", "replace": "for 14"}]


def propose(studio, actor, **change):
    given = {"edits": EDIT, **change}
    return document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True, **given
    ).proposal


def refusal_of(actor, proposal):
    """Try to accept; return why it was refused, or None."""
    try:
        proposal_accept(actor=actor, proposal=proposal.id)
    except Refused as refused:
        return refused.because
    return None


@pytest.fixture
def reviewer(studio, desk):
    """Desk, a client that holds an editor's grants by itself."""
    for codename in ("view", "propose_document", "change_document", "review_document"):
        grant_give(by=studio.ana.actor, holder=desk.user, codename=codename, obj=studio.workspace)
    return desk


class TestWhoMayNot:
    def test_nobody_accepts_or_rejects_their_own(self, studio, reviewer):
        own = propose(studio, studio.ana.actor)
        desk = reviewer.acting_for(studio.ana)
        her_clients = propose(studio, desk)
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        for actor, proposal in (
            (studio.ana.actor, own),
            (desk, own),
            (robin, own),
            (studio.ana.actor, her_clients),
            (desk, her_clients),
            (robin, propose(studio, robin)),
        ):
            for resolve in (proposal_accept, proposal_reject):
                with pytest.raises(Refused, match="someone else must accept"):
                    resolve(actor=actor, proposal=proposal.id)
            assert state_of(proposal) == "open"
        assert "for 12" in text_of(studio.document)

    def test_an_agent_for_another_person_may_accept(self, studio):
        proposal = propose(studio, studio.ana.actor)
        robin = studio.robin.acting_for(studio.ben, studio.thread)
        assert proposal_accept(actor=robin, proposal=proposal.id).version == 2

    def test_in_suggest_mode_no_agent_or_client_accepts_for_anyone(self, studio, reviewer):
        proposal = propose(studio, studio.ana.actor)
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        for actor in (studio.robin.acting_for(studio.ben, studio.thread), reviewer.acting_for(studio.ben)):
            with pytest.raises(Refused, match="Launch dinner is in suggest mode"):
                proposal_accept(actor=actor, proposal=proposal.id)
        assert proposal_accept(actor=studio.ben.actor, proposal=proposal.id).version == 2

    def test_accepting_needs_reviewing_and_the_change_itself(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        proposal = propose(studio, studio.ana.actor)
        with pytest.raises(Refused, match="you may not review proposals on Launch plan"):
            proposal_accept(actor=zoe.actor, proposal=proposal.id)
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="review_document", obj=studio.document)
        with pytest.raises(Refused, match="you may only propose changes to Launch plan"):
            proposal_accept(actor=zoe.actor, proposal=proposal.id)
        assert proposal_reject(actor=zoe.actor, proposal=proposal.id).state == "rejected"

    def test_a_viewer_is_told_in_advance_and_a_stranger_nothing(self, studio, zoe):
        proposal = propose(studio, studio.ben.actor)
        assert acceptance(studio.vera.actor, proposal).because == ("You can't accept: you may only view Launch plan.")
        with pytest.raises(Refused):
            proposal_accept(actor=studio.vera.actor, proposal=proposal.id)
        for id in (proposal.id, new_id()):
            with pytest.raises(NotFound):
                proposal_accept(actor=zoe.actor, proposal=id)

    def test_sources_and_the_system_resolve_nothing(self, studio):
        proposal = propose(studio, studio.ben.actor)
        for actor in (System(), Source(new_id()), Source(new_id(), studio.ana.id)):
            for resolve in (proposal_accept, proposal_reject, proposal_withdraw):
                with pytest.raises(Refused):
                    resolve(actor=actor, proposal=proposal.id)
        assert state_of(proposal) == "open"

    def test_an_agent_resolves_only_in_its_own_thread(self, studio):
        other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music")
        proposal = propose(studio, studio.ana.actor)
        with pytest.raises(NotFound):
            proposal_accept(actor=studio.robin.acting_for(studio.ben, other), proposal=proposal.id)

    def test_what_is_said_in_advance_is_what_the_service_does(self, studio, reviewer, zoe):
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        desk = reviewer.acting_for(studio.ben)
        actors = [studio.ana.actor, studio.ben.actor, studio.vera.actor, robin, desk, reviewer.acting_for(None)]
        outcomes = set()
        for proposer in (studio.ana.actor, studio.ben.actor, robin, desk):
            for actor in actors:
                proposal = propose(studio, proposer, edits=[{"append": "More."}])
                said = acceptance(actor, proposal)
                assert said == acceptances(actor, [proposal])[proposal.id]
                assert said.because == refusal_of(actor, proposal) or said.ok
                assert (state_of(proposal) == "accepted") is said.ok
                outcomes.add(said.ok)
        assert outcomes == {True, False}

    def test_the_acceptor_who_lost_their_rights_is_refused(self, studio):
        proposal = propose(studio, studio.ana.actor)
        assert acceptance(studio.ben.actor, proposal).ok
        grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="change_document", obj=studio.workspace)
        with pytest.raises(Refused):
            proposal_accept(actor=studio.ben.actor, proposal=proposal.id)

    def test_what_a_proposer_lost_since_does_not_matter(self, studio):
        proposal = propose(studio, studio.ben.actor)
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
        assert proposal_accept(actor=studio.ana.actor, proposal=proposal.id).version == 2


class TestWithdrawing:
    def test_who_proposed_it_and_in_person_whom_it_was_proposed_for_may(self, studio, reviewer):
        ana, robin = studio.ana.actor, studio.robin.acting_for(studio.ana, studio.thread)
        desk = reviewer.acting_for(studio.ana)
        allowed = {
            (actor, proposer)
            for actor in (ana, robin, desk, studio.ben.actor)
            for proposer in (ana, robin, desk)
            if may_withdraw(actor, proposer)
        }
        assert allowed == {(ana, ana), (ana, robin), (ana, desk), (robin, robin), (desk, desk)}

    def test_a_withdrawn_one_says_so_and_nobody_else_can_withdraw_it(self, studio):
        proposal = propose(studio, studio.ben.actor)
        with pytest.raises(Refused, match="Only who proposed it"):
            proposal_withdraw(actor=studio.ana.actor, proposal=proposal.id)
        proposal_withdraw(actor=studio.ben.actor, proposal=proposal.id)
        assert facts(studio.thread)[-1] == events.ProposalResolved(proposal.id, "withdrawn")
        with pytest.raises(Gone, match="Ben withdrew it at"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)


def test_rights_are_read_once_for_all_proposals_of_one_document(studio, queries):
    proposals = [propose(studio, studio.ben.actor, edits=[{"append": str(number)}]) for number in range(5)]
    rows = list(Proposal.objects.select_related("document", "thread", "workspace"))
    with queries() as sent:
        found = acceptances(studio.ana.actor, rows)
    sent.at_most(3)
    assert {id for id, eligible in found.items() if eligible.ok} == {proposal.id for proposal in proposals}
