"""Who changes a document, and who only suggests (DESIGN 5; FAILURES G)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from collab import events
from collab.errors import Invalid
from collab.models.documents import Document, Revision
from collab.models.proposals import Proposal
from collab.models.threads import Event
from collab.services.documents import document_archive, document_create, document_edit, document_save
from collab.services.threads import thread_create, thread_mode_set
from collab.services.workspaces import member_add, member_role_set
from permissions.errors import NotFound, Refused
from permissions.ids import new_id
from permissions.models import GrantChange
from permissions.roles import Role
from permissions.services import grant_give, grant_take
from tests.support.reading import facts, text_of

EDIT = [{"find": "for 12", "replace": "for 14"}]


def contributor(studio, zoe):
    member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
    return zoe


class TestRights:
    def test_a_viewer_changes_nothing_and_neither_does_the_agent_for_them(self, studio):
        robin = studio.robin.acting_for(studio.vera, studio.thread)
        for actor, because in (
            (studio.vera.actor, "Vera may only view Launch plan."),
            (robin, "Vera may only view Launch plan (Robin may change it)."),
        ):
            with pytest.raises(Refused) as refused:
                document_edit(actor=actor, document=studio.document.id, edits=EDIT)
            assert refused.value.because == because
        assert "for 12" in text_of(studio.document)

    def test_an_agent_for_no_one_has_no_more_than_its_own_grants(self, studio):
        alone = studio.robin.acting_for(None, studio.thread)
        assert document_edit(actor=alone, document=studio.document.id, edits=EDIT).version == 2
        grant_take(by=studio.ana.actor, holder=studio.robin.user, codename="change_document", obj=studio.workspace)
        written = document_edit(actor=alone, document=studio.document.id, edits=[{"append": "More."}])
        assert written.document is None
        grant_take(by=studio.ana.actor, holder=studio.robin.user, codename="propose_document", obj=studio.workspace)
        with pytest.raises(Refused):
            document_edit(actor=alone, document=studio.document.id, edits=[{"append": "More."}])

    def test_a_revoked_grant_stops_the_very_next_write(self, studio):
        robin = studio.robin.acting_for(studio.ben, studio.thread)
        document_edit(actor=robin, document=studio.document.id, edits=EDIT)
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
        with pytest.raises(Refused, match="Ben may only view Launch plan"):
            document_edit(actor=robin, document=studio.document.id, edits=[{"append": "More."}])
        assert Revision.objects.get(version=2).actor == robin

    def test_an_agent_writes_in_no_thread_but_its_own(self, studio):
        other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music")
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        with pytest.raises(NotFound):
            document_edit(actor=robin, document=studio.document.id, edits=EDIT, thread=other.id)

    def test_a_stranger_is_told_no_more_than_that_there_is_nothing(self, studio, zoe):
        for document in (studio.document.id, new_id()):
            with pytest.raises(NotFound) as found:
                document_edit(actor=zoe.actor, document=document, edits=EDIT)
            assert found.value.because == "There is no such thing, or you may not see it."


class TestSuggesting:
    def test_who_may_only_propose_makes_a_proposal_instead(self, studio, zoe):
        contributor(studio, zoe)
        written = document_edit(
            actor=zoe.actor, document=studio.document.id, edits=EDIT, thread=studio.thread.id, rationale="Two more."
        )
        assert (written.document, written.version) == (None, None)
        assert written.summary == "A change to Launch plan was suggested; someone else must accept it."
        assert "Zoe may only propose changes to Launch plan" in written.because
        proposal = Proposal.objects.get()
        assert (proposal.proposer, proposal.base_version, proposal.rationale) == (zoe.actor, 1, "Two more.")
        assert (proposal.edits, proposal.change, proposal.state) == (EDIT, "edit", "open")
        assert "for 14" in proposal.data["text"]
        assert "for 12" in text_of(studio.document)
        assert facts(studio.thread)[-1] == events.ProposalCreated(proposal.id)
        assert proposal.seq == type(studio.thread).objects.get().head_seq

    def test_outside_a_thread_there_is_no_one_to_propose_to(self, studio, zoe):
        contributor(studio, zoe)
        with pytest.raises(Invalid, match="A proposal is made in a thread; name one"):
            document_edit(actor=zoe.actor, document=studio.document.id, edits=EDIT)
        assert not Proposal.objects.exists()

    @pytest.mark.parametrize("lowered_by", ["the thread's mode", "the document's policy"])
    def test_suggest_mode_and_policy_lower_the_agent_and_not_the_person(self, studio, lowered_by):
        if lowered_by == "the thread's mode":
            thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        else:
            Document.objects.update(write_policy="propose")
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        assert document_edit(actor=robin, document=studio.document.id, edits=EDIT).proposal is not None
        written = document_edit(
            actor=studio.ana.actor, document=studio.document.id, edits=EDIT, thread=studio.thread.id
        )
        assert written.version == 2

    def test_an_agent_that_names_no_thread_does_not_escape_suggest_mode(self, studio):
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        written = document_edit(actor=robin, document=studio.document.id, edits=EDIT, thread=None)
        assert written.because == (
            "Robin for Ana may only propose changes to Launch plan: Launch dinner is in suggest mode."
        )
        assert written.proposal.thread_id == studio.thread.id

    def test_a_client_outside_a_thread_is_lowered_by_any_thread_that_follows_the_document(self, studio, desk):
        for codename in ("view", "propose_document", "change_document"):
            grant_give(by=studio.ana.actor, holder=desk.user, codename=codename, obj=studio.workspace)
        client = desk.acting_for(studio.ana)
        assert document_edit(actor=client, document=studio.document.id, edits=EDIT).version == 2
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        with pytest.raises(Invalid, match="Launch dinner is in suggest mode"):
            document_edit(actor=client, document=studio.document.id, edits=[{"append": "More."}])

    def test_a_client_is_told_the_title_of_no_thread_that_it_may_not_view(self, studio, desk):
        for codename in ("view", "change_document"):
            grant_give(by=studio.ana.actor, holder=desk.user, codename=codename, obj=studio.document)
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
        with pytest.raises(Invalid, match="a thread that follows Launch plan is in suggest mode") as refused:
            document_edit(actor=desk.acting_for(studio.ana), document=studio.document.id, edits=EDIT)
        assert studio.thread.title not in refused.value.because

    def test_who_may_change_it_may_still_choose_to_propose(self, studio):
        written = document_edit(
            actor=studio.ben.actor, document=studio.document.id, edits=EDIT, thread=studio.thread.id, propose=True
        )
        assert written.proposal.proposer == studio.ben.actor

    def test_a_document_an_archive_and_a_whole_text_are_proposed_too(self, studio, zoe):
        zoe = contributor(studio, zoe)
        at = {"actor": zoe.actor, "thread": studio.thread.id}
        made = document_create(workspace=studio.workspace.id, title="Guests", kind="checklist", **at)
        put_away = document_archive(document=studio.document.id, **at)
        saved = document_save(document=studio.document.id, text="All new", base_version=1, **at)
        assert [written.summary for written in (made, put_away, saved)] == [
            "A document called Guests was suggested; someone else must accept it.",
            "Archiving Launch plan was suggested; someone else must accept it.",
            "A change to Launch plan was suggested; someone else must accept it.",
        ]
        assert [written.proposal.change for written in (made, put_away, saved)] == ["create", "archive", "edit"]
        assert Document.objects.filter(version=1, archived_at__isnull=True).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_a_write_and_a_revocation_at_once_the_log_says_which_was_first(studio):
    robin = studio.robin.acting_for(studio.ben, studio.thread)
    for number in range(8):
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.EDITOR)
        start = Barrier(2)
        version = Document.objects.get().version

        def write(start=start, number=number):
            try:
                start.wait(timeout=10)
                document_edit(actor=robin, document=studio.document.id, edits=[{"append": str(number)}])
            except Refused:
                return False
            finally:
                connections.close_all()
            return True

        def revoke(start=start):
            try:
                start.wait(timeout=10)
                member_role_set(
                    actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER
                )
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            written, _ = pool.submit(write), pool.submit(revoke).result()
        revoked_at = GrantChange.objects.filter(account=studio.ben.user, given=False).latest("epoch").epoch
        assert Document.objects.get().version == version + written.result()
        if written.result():
            assert Event.objects.filter(type="document_changed").latest("seq").grants_epoch < revoked_at
