"""What a proposal's card says in advance: whether it still fits, who can accept, who may reject (DESIGN 5, 11)."""

from __future__ import annotations

import json

import pytest

from collab.errors import Conflict
from collab.inbox import page_of
from collab.models.proposals import Proposal
from collab.resolvers import who_else
from collab.services.documents import document_archive, document_create, document_edit, document_restore, document_save
from collab.services.proposals import proposal_accept, proposal_reject
from collab.services.threads import thread_create
from collab.services.workspaces import member_add, member_role_set
from collab.web.access import Viewer
from collab.web.frames import document_frames, event_frames, page_items
from collab.web.items import proposal_items
from permissions.roles import Role
from permissions.services import grant_give, grant_take
from tests.support import cast
from tests.support.cast import PLAN
from tests.support.reading import state_of, text_of

EDIT = [{"find": "for 12", "replace": "for 14"}]


def propose(studio, actor, **change):
    given = {"edits": EDIT, **change}
    return document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True, **given
    ).proposal


def shown(viewer, proposal):
    (item,) = proposal_items(viewer, [proposal.id])
    return item


def changes(studio, *edits):
    document_edit(actor=studio.ana.actor, document=studio.document.id, edits=list(edits))


class TestWhereItsDocumentWent:
    def test_nothing_is_said_where_it_did_not_move(self, studio):
        assert shown(studio.ana.actor, propose(studio, studio.ben.actor))["moved"] is None

    def test_it_says_that_it_still_fits_and_what_it_would_become(self, studio):
        proposal = propose(studio, studio.ben.actor)
        changes(studio, {"append": "Bring flowers."})
        item = shown(studio.ana.actor, proposal)
        assert item["moved"]["because"] == ("It was made on version 1; Launch plan is at version 2. It still fits.")
        assert item["proposed_text"] == PLAN.replace("for 12", "for 14") + "Bring flowers."
        proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert text_of(studio.document) == item["proposed_text"]

    def test_where_it_does_not_fit_it_shows_the_passage_as_it_was_and_as_it_is(self, studio):
        proposal = propose(studio, studio.ben.actor)
        changes(studio, {"find": "for 12", "replace": "for 20"})
        item = shown(studio.vera.actor, proposal)
        assert (item["moved"]["fits"], item["proposed_text"]) == (False, None)
        assert "It does not fit any more." in item["moved"]["because"]
        assert "“for 12”" in item["moved"]["because"]
        assert "Dinner on Friday for 12." in item["moved"]["was"]
        assert "Dinner on Friday for 20." in item["moved"]["now"]
        with pytest.raises(Conflict, match="“for 12”"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id)
        assert state_of(proposal) == "open"
        changes(studio, {"find": "for 20", "replace": "for 12"})
        assert shown(studio.vera.actor, proposal)["moved"]["fits"] is True

    def test_a_whole_text_fits_only_the_version_it_was_made_on(self, studio):
        proposal = document_save(
            actor=studio.ben.actor, document=studio.document.id, text="All new", base_version=1,
            thread=studio.thread.id, propose=True, rationale="Shorter.",
        ).proposal  # fmt: skip
        assert (proposal.rationale, shown(studio.ana.actor, proposal)["moved"]) == ("Shorter.", None)
        changes(studio, {"append": "Bring flowers."})
        assert shown(studio.ana.actor, proposal)["moved"]["fits"] is False

    def test_an_archived_document_takes_none_until_it_is_back(self, studio):
        proposal = propose(studio, studio.ben.actor)
        document_archive(actor=studio.ana.actor, document=studio.document.id)
        assert "Launch plan is archived" in shown(studio.ana.actor, proposal)["moved"]["because"]
        document_restore(actor=studio.ana.actor, document=studio.document.id)
        assert shown(studio.ana.actor, proposal)["moved"]["fits"] is True


class TestAPageThatLives:
    """Old items and the frames since equal a fresh page, for everyone."""

    def views(self, studio):
        studio.thread.refresh_from_db()
        return {
            someone.name: {
                item["id"]: json.loads(json.dumps(item))
                for item in page_items(someone.actor, studio.thread)["items"]
                if item["item"] in {"proposal", "document"}
            }
            for someone in (studio.ana, studio.ben, studio.vera)
        }

    def acts(self, studio):
        """Each act, and the documents it changed outside of the thread."""
        mine, theirs, last = (propose(studio, who) for who in (studio.ana.actor, studio.ben.actor, studio.ana.actor))
        where = {"document": studio.document.id, "thread": studio.thread.id}
        yield lambda: document_edit(actor=studio.ana.actor, edits=[{"append": "One."}], **where), []
        yield lambda: changes(studio, {"append": "Two."}), [studio.document.id]
        yield lambda: proposal_accept(actor=studio.ben.actor, proposal=mine.id, text="Mine."), []
        yield lambda: proposal_reject(actor=studio.ana.actor, proposal=theirs.id, reason="No."), []
        yield lambda: document_archive(actor=studio.ben.actor, **where), []
        yield lambda: proposal_reject(actor=studio.ben.actor, proposal=last.id), []

    def test_state_before_and_events_equal_a_fresh_load(self, studio):
        people = {person.name: Viewer(person.id, whole=True) for person in (studio.ana, studio.ben, studio.vera)}
        for act, outside in self.acts(studio):
            live, seq = self.views(studio), studio.thread.head_seq
            act()
            batches = [event_frames(studio.thread.id, seq, people.values())]
            batches += [document_frames(studio.thread.id, outside, people.values())] if outside else []
            for frame in (frame for batch in batches for frame in batch.frames):
                for name, viewer in people.items():
                    items = json.loads(frame.texts[viewer])["items"]
                    live[name].update({item["id"]: item for item in items if item["item"] in {"proposal", "document"}})
            assert live == self.views(studio)

    def test_a_proposal_of_another_thread_travels_with_no_event_of_this_one(self, studio):
        other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music")
        hidden = document_edit(
            actor=studio.ben.actor, document=studio.document.id, thread=other.id, propose=True, edits=EDIT
        ).proposal
        changes(studio, {"append": "One."})
        document_edit(
            actor=studio.ana.actor, document=studio.document.id, thread=studio.thread.id, edits=[{"append": "Two."}]
        )
        viewer = Viewer(studio.vera.id, whole=True)
        batches = [event_frames(studio.thread.id, 0, [viewer])]
        batches.append(document_frames(studio.thread.id, [studio.document.id], [viewer]))
        assert str(hidden.id) not in "".join(frame.texts[viewer] for batch in batches for frame in batch.frames)


class TestWhoElseCan:
    def because(self, viewer, proposal):
        return shown(viewer.actor, proposal)["may"]["accept"]["because"]

    def test_the_proposer_is_told_who_can(self, studio):
        proposal = propose(studio, studio.ana.actor)
        assert self.because(studio.ana, proposal) == "You proposed it: someone else must accept. Ben can."
        assert self.because(studio.ben, proposal) == "You can accept: Ana proposed it."

    def test_nobody_is_named_who_may_not(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        proposal = propose(studio, studio.ana.actor)
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="review_document", obj=studio.document)
        assert self.because(studio.ana, proposal).endswith("accept. Ben can.")
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="change_document", obj=studio.document)
        assert self.because(studio.ana, proposal).endswith("accept. Ben and Zoe can.")
        zoe.user.is_active = False
        zoe.user.save()
        assert self.because(studio.ana, proposal).endswith("accept. Ben can.")

    def test_who_may_not_see_the_thread_is_not_named(self, studio, zoe):
        proposal = propose(studio, studio.ana.actor)
        for codename in ("view", "review_document", "change_document"):
            grant_give(by=studio.ana.actor, holder=zoe.user, codename=codename, obj=studio.document)
        assert self.because(studio.ana, proposal).endswith("accept. Ben can.")
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
        assert self.because(studio.ana, proposal).endswith("accept. Ben and Zoe can.")

    def test_who_sees_only_a_part_of_the_workspace_is_told_no_names(self, studio, zoe):
        for obj in (studio.thread, studio.document):
            grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=obj)
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="propose_document", obj=studio.document)
        proposal = propose(studio, zoe.actor)
        told = "You proposed it: someone else must accept. Someone else here can."
        assert self.because(zoe, proposal) == told
        assert [row.because for section in page_of(zoe.actor).sections for row in section.waiting] == [told]

    def test_three_names_at_most(self, studio):
        for name in ("Cleo", "Dan", "Eve"):
            someone = cast.someone(name)
            member_add(
                actor=studio.ana.actor, workspace=studio.workspace.id, username=someone.user.username, role=Role.EDITOR
            )
        proposal = propose(studio, studio.ana.actor)
        assert self.because(studio.ana, proposal).endswith("accept. Ben, Cleo, Dan and others can.")

    def test_where_nobody_can_everyone_is_told_so(self, studio):
        proposal = propose(studio, studio.ana.actor)
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
        nobody = "Nobody here can accept it at present: nobody else may review proposals on Launch plan and change it."
        assert self.because(studio.ana, proposal) == f"You proposed it: someone else must accept. {nobody}"
        (section,) = page_of(studio.ana.actor).sections
        assert section.waiting[0].because == self.because(studio.ana, proposal)
        assert self.because(studio.vera, proposal) == f"You can't accept: you may only view Launch plan. {nobody}"

    def test_what_an_agent_proposed_for_someone_they_can_accept_themselves(self, studio):
        proposal = propose(studio, studio.robin.acting_for(studio.ana, studio.thread))
        (row,) = Proposal.objects.select_related("document", "thread", "workspace").filter(pk=proposal.pk)
        assert who_else(studio.vera.actor, [row])[row.id].sentence == "Ana and Ben can."

    def test_it_costs_the_same_however_many_proposals_and_documents_there_are(self, studio, queries):
        def cost():
            with queries() as sent:
                proposal_items(studio.ana.actor, list(Proposal.objects.values_list("pk", flat=True)))
            return sent

        propose(studio, studio.ana.actor)
        rows = list(Proposal.objects.select_related("document", "thread", "workspace"))
        with queries() as sent:
            who_else(studio.ana.actor, rows)
        sent.at_most(3)
        few = len(cost())
        for number in range(5):
            propose(studio, studio.ana.actor, edits=[{"append": str(number)}])
        assert len(cost()) == few
        for number in range(3):
            document_create(
                actor=studio.ana.actor, workspace=studio.workspace.id, title=f"D{number}", kind="markdown",
                thread=studio.thread.id, propose=True,
            )  # fmt: skip
        rows = list(Proposal.objects.select_related("document", "thread", "workspace"))
        with queries() as sent:
            who_else(studio.ana.actor, rows)
        sent.at_most(3)


class TestRejecting:
    def test_who_may_review_but_not_change_may_reject_and_is_shown_so(self, studio, zoe):
        member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
        proposal = propose(studio, studio.ana.actor)
        assert shown(zoe.actor, proposal)["may"]["reject"] is False
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="review_document", obj=studio.document)
        may = shown(zoe.actor, proposal)["may"]
        assert (may["accept"]["ok"], may["reject"]) == (False, True)
        assert may["accept"]["because"].startswith("You can't accept: you may only propose changes to Launch plan.")
        assert proposal_reject(actor=zoe.actor, proposal=proposal.id).state == "rejected"

    def test_nobody_is_shown_that_they_may_reject_their_own(self, studio):
        proposal = propose(studio, studio.ana.actor)
        assert shown(studio.ana.actor, proposal)["may"]["reject"] is False
        assert shown(studio.ben.actor, proposal)["may"]["reject"] is True
        grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="review_document", obj=studio.workspace)
        assert shown(studio.ben.actor, proposal)["may"]["reject"] is False
