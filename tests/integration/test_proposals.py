"""Resolving proposals: never one's own, once, on the document as it is by then (DESIGN 5; FAILURES F1 to F8)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from collab import events, log
from collab.errors import Conflict, Gone, Invalid
from collab.models.documents import Document, Follow, Revision
from collab.models.proposals import Proposal
from collab.services.documents import document_archive, document_create, document_edit, document_restore, document_save
from collab.services.proposals import (
    acceptance,
    proposal_accept,
    proposal_reject,
    proposal_withdraw,
)
from collab.services.threads import thread_archive, thread_mode_set
from collab.services.workspaces import member_add
from permissions.roles import Role
from tests.support.reading import facts, state_of, text_of

EDIT = [{"find": "for 12", "replace": "for 14"}]


def propose(studio, actor, **change):
    given = {"edits": EDIT, **change}
    return document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True, **given
    ).proposal


class TestAccepting:
    def test_accepting_makes_the_change_as_the_one_who_accepted(self, studio):
        proposal = propose(studio, studio.ben.actor)
        written = proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert (written.version, written.summary) == (2, "Launch plan is at version 2.")
        assert "for 14" in text_of(studio.document)
        revision = Revision.objects.get(version=2)
        assert (revision.actor, revision.proposal_id, revision.patch) == (studio.ana.actor, proposal.id, EDIT)
        assert facts(studio.thread)[-2:] == [
            events.DocumentChanged(studio.document.id, 2),
            events.ProposalResolved(proposal.id, "accepted", 2),
        ]
        assert {row.actor for row in log.read(studio.thread.id, after=0)[-2:]} == {studio.ana.actor}
        row = Proposal.objects.get()
        assert (row.state, row.resolver) == ("accepted", studio.ana.actor)

    def test_a_proposed_document_is_made_when_it_is_accepted(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        proposal = document_create(
            actor=zoe.actor, workspace=studio.workspace.id, title="Guests", kind="checklist", text="- [ ] Ada",
            thread=studio.thread.id,
        ).proposal  # fmt: skip
        written = proposal_accept(actor=studio.ben.actor, proposal=proposal.id)
        assert (written.document.title, written.version) == ("Guests", 1)
        assert Proposal.objects.get().document_id == written.document.id
        assert Follow.objects.filter(thread=studio.thread, document=written.document).exists()
        assert facts(studio.thread)[-2:] == [
            events.DocumentCreated(written.document.id),
            events.ProposalResolved(proposal.id, "accepted", 1),
        ]

    def test_a_proposed_archive_puts_the_document_away(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        given = {"actor": zoe.actor, "document": studio.document.id, "thread": studio.thread.id}
        proposal = document_archive(**given).proposal
        assert proposal_accept(actor=studio.ben.actor, proposal=proposal.id).summary == "Launch plan was archived."
        assert Document.objects.get().archived_at is not None

    def test_a_proposed_whole_text_and_title_are_applied(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        given = {"actor": zoe.actor, "document": studio.document.id, "thread": studio.thread.id}
        saved = document_save(text="All new\n", base_version=1, **given).proposal
        renamed = document_edit(title="Plan B", **given).proposal
        proposal_accept(actor=studio.ben.actor, proposal=saved.id)
        proposal_accept(actor=studio.ben.actor, proposal=renamed.id)
        document = Document.objects.get()
        assert (document.title, document.data["text"], document.version) == ("Plan B", "All new\n", 3)

    def test_in_suggest_mode_a_person_accepts_what_the_agent_proposed_for_them(self, studio):
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        proposal = document_edit(actor=robin, document=studio.document.id, edits=EDIT).proposal
        assert acceptance(studio.ana.actor, proposal).because == "You can accept: Robin proposed it for you."
        assert proposal_accept(actor=studio.ana.actor, proposal=proposal.id).version == 2


class TestOnceOnly:
    def test_the_second_is_told_who_was_first_and_when(self, studio):
        proposal = propose(studio, studio.robin.acting_for(studio.ana, studio.thread))
        proposal_accept(actor=studio.ben.actor, proposal=proposal.id)
        at = Proposal.objects.get().resolved_at
        for again in (proposal_accept, proposal_reject, proposal_withdraw):
            with pytest.raises(Gone) as gone:
                again(actor=studio.ana.actor, proposal=proposal.id)
            assert gone.value.because == f"Ben accepted it at {at:%H:%M} UTC."
        assert Document.objects.get().version == 2

    def test_a_rejection_keeps_its_reason_and_changes_nothing(self, studio):
        proposal = propose(studio, studio.ben.actor)
        proposal_reject(actor=studio.ana.actor, proposal=proposal.id, reason="Too many.")
        row = Proposal.objects.get()
        assert (row.state, row.reason, row.resolver) == ("rejected", "Too many.", studio.ana.actor)
        assert facts(studio.thread)[-1] == events.ProposalResolved(proposal.id, "rejected")
        assert Document.objects.get().version == 1

    def test_a_reason_no_database_keeps_is_refused(self, studio):
        proposal = propose(studio, studio.ben.actor)
        with pytest.raises(Invalid):
            proposal_reject(actor=studio.ana.actor, proposal=proposal.id, reason="a\0b")
        assert state_of(proposal) == "open"

    def test_in_an_archived_thread_it_waits(self, studio):
        proposal = propose(studio, studio.ben.actor)
        thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
        with pytest.raises(Invalid, match="archived"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert state_of(proposal) == "open"


class TestOnAChangedDocument:
    def test_a_passage_that_is_still_there_takes_the_change(self, studio):
        proposal = propose(studio, studio.ben.actor)
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=[{"append": "Bring flowers."}])
        assert proposal_accept(actor=studio.ana.actor, proposal=proposal.id).version == 3
        assert "for 14" in text_of(studio.document)
        assert "Bring flowers." in text_of(studio.document)

    def test_a_passage_that_changed_is_a_conflict_and_it_stays_open(self, studio):
        proposal = propose(studio, studio.ben.actor)
        document_edit(
            actor=studio.ana.actor, document=studio.document.id, edits=[{"find": "for 12", "replace": "for 20"}]
        )
        before = facts(studio.thread)
        with pytest.raises(Conflict, match="“for 12”"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert state_of(proposal) == "open"
        assert facts(studio.thread) == before
        assert log.verify(studio.thread.id) is None

    def test_a_whole_text_made_on_an_older_version_is_a_conflict(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        proposal = document_save(
            actor=zoe.actor, document=studio.document.id, text="All new", base_version=1, thread=studio.thread.id
        ).proposal
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=EDIT)
        with pytest.raises(Conflict):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert "for 14" in text_of(studio.document)

    def test_two_names_for_one_document_are_a_conflict(self, studio):
        proposal = propose(studio, studio.ben.actor, edits=[], title="Plan B")
        document_edit(actor=studio.ana.actor, document=studio.document.id, title="Plan C")
        with pytest.raises(Conflict, match="Launch plan is called Plan C by now"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)

    def test_an_archived_document_takes_no_change(self, studio):
        proposal = propose(studio, studio.ben.actor)
        document_archive(actor=studio.ana.actor, document=studio.document.id)
        with pytest.raises(Conflict, match="is archived"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        document_restore(actor=studio.ana.actor, document=studio.document.id)
        assert proposal_accept(actor=studio.ana.actor, proposal=proposal.id).version == 4

    def test_what_changed_since_is_not_put_away_unread(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        proposal = document_archive(actor=zoe.actor, document=studio.document.id, thread=studio.thread.id).proposal
        document_edit(actor=studio.ben.actor, document=studio.document.id, edits=EDIT)
        with pytest.raises(Conflict, match="changed since version 1"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert Document.objects.get().archived_at is None


@pytest.mark.django_db(transaction=True)
def test_of_an_accept_and_a_reject_at_once_one_wins_and_the_other_is_told(studio):
    proposal = propose(studio, studio.robin.acting_for(studio.ana, studio.thread))
    start = Barrier(2)

    def resolve(who):
        service = proposal_accept if who is studio.ana else proposal_reject
        try:
            start.wait(timeout=10)
            service(actor=who.actor, proposal=proposal.id)
        except Gone as gone:
            return gone.because.partition(" at ")[0]
        finally:
            connections.close_all()
        return "won"

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(resolve, [studio.ana, studio.ben]))
    row = Proposal.objects.get()
    if row.state == "accepted":
        assert (outcomes, Document.objects.get().version) == (["won", "Ana accepted it"], 2)
    else:
        assert (outcomes, Document.objects.get().version) == (["Ben rejected it", "won"], 1)
    assert [type(fact) for fact in facts(studio.thread)].count(events.ProposalResolved) == 1
    assert log.verify(studio.thread.id) is None


@pytest.mark.django_db(transaction=True)
def test_two_people_who_accept_at_once_change_the_document_once(studio):
    proposal = propose(studio, studio.robin.acting_for(None, studio.thread))
    start = Barrier(2)

    def accept(who):
        try:
            start.wait(timeout=10)
            return proposal_accept(actor=who.actor, proposal=proposal.id).version
        except Gone as gone:
            return gone.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(accept, [studio.ana, studio.ben]))
    assert sorted(map(str, outcomes)) == ["2", "already_settled"]
    assert Document.objects.get().version == 2
    assert Revision.objects.filter(proposal=proposal).count() == 1
