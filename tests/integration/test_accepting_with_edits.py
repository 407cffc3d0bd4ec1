"""Accepting with edits: whose part is whose, and which edits are refused (DESIGN 5 and 11; decision 0012)."""

from __future__ import annotations

import pytest

from collab import events
from collab.errors import EditsStale, Invalid, NoSuchVersion, NotEditable, TextRefused, Unchanged
from collab.models.documents import Revision
from collab.models.proposals import Proposal
from collab.services.documents import document_archive, document_create, document_edit
from collab.services.proposals import proposal_accept
from collab.web.items import proposal_items
from tests.support.cast import PLAN
from tests.support.reading import facts, state_of, text_of
from tests.support.world import world

EDIT = [{"find": "for 12", "replace": "for 14"}]
PROPOSED = PLAN.replace("for 12", "for 14")


def propose(studio, actor, **change):
    given = {"edits": EDIT, **change}
    return document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True, **given
    ).proposal


def shown(viewer, proposal):
    (item,) = proposal_items(viewer, [proposal.id])
    return item


class TestWithEdits:
    def test_the_revision_holds_both_parts_and_the_proposal_the_resolvers(self, studio):
        proposal = propose(studio, studio.ben.actor)
        written = proposal_accept(
            actor=studio.ana.actor, proposal=proposal.id, text=PROPOSED + "By the window.\n", title="Plan B"
        )
        row, revision = Proposal.objects.get(), Revision.objects.get(version=2)
        assert (written.document.title, text_of(studio.document)) == ("Plan B", PROPOSED + "By the window.\n")
        assert revision.patch == [*EDIT, *row.resolver_edits]
        assert (revision.proposal_id, revision.actor, row.resolver) == (row.id, studio.ana.actor, studio.ana.actor)
        assert row.resolver_edits[-1] == {"title": "Plan B", "was": "Launch plan"}
        assert facts(studio.thread)[-1] == events.ProposalResolved(proposal.id, "accepted", 2)

    def test_a_proposed_document_is_made_as_its_resolver_wrote_it(self, studio):
        proposal = document_create(
            actor=studio.ben.actor, workspace=studio.workspace.id, title="Guests", kind="checklist", text="- [ ] Ada",
            thread=studio.thread.id, propose=True,
        ).proposal  # fmt: skip
        kept = proposal.data["items"][0]["id"]
        written = proposal_accept(actor=studio.ana.actor, proposal=proposal.id, text="- [x] Ada\n- [ ] Bo")
        assert [item["text"] for item in written.document.data["items"]] == ["Ada", "Bo"]
        assert written.document.data["items"][0]["id"] == kept
        assert Revision.objects.get(proposal=proposal).patch == Proposal.objects.get().resolver_edits

    def test_everyone_sees_both_parts(self, studio):
        proposal = propose(studio, studio.robin.acting_for(studio.ana, studio.thread))
        assert shown(studio.ben.actor, proposal)["edits"] is None
        proposal_accept(
            actor=studio.ben.actor, proposal=proposal.id, text=PROPOSED + "Bring flowers.\n", title="Plan B"
        )
        item = shown(studio.vera.actor, proposal)
        (changed,) = [line for line in item["diff"] if line["op"] == "change"]
        assert ("ins", "14") in changed["spans"]
        (added,) = [line for line in item["edits"]["diff"] if line["op"] == "add"]
        assert added["spans"] == (("ins", "Bring flowers."),)
        assert item["edits"]["title"] == "Plan B"
        assert (item["resolver"]["name"], item["proposed_text"]) == ("Ben", None)

    def test_the_text_to_edit_is_given_to_who_may_accept_only(self, studio):
        proposal = propose(studio, studio.robin.acting_for(studio.ana, studio.thread))
        assert shown(studio.ana.actor, proposal)["proposed_text"] == PROPOSED
        assert shown(studio.vera.actor, proposal)["proposed_text"] is None
        assert shown(None, proposal)["proposed_text"] is None

    @pytest.mark.parametrize(
        ("change", "refusal"),
        [
            ({"text": PROPOSED}, Unchanged),
            ({"title": "Launch plan"}, Unchanged),
            ({"text": PLAN}, Unchanged),
            ({"text": "a\0b"}, TextRefused),
            ({"text": "x" * 300_000}, TextRefused),
            ({"title": "\n"}, Invalid),
            ({"text": "Mine.", "base_version": 0}, EditsStale),
            ({"text": "Mine.", "base_version": 7}, NoSuchVersion),
        ],
    )
    def test_edits_that_do_not_do_are_refused_each_with_its_code_and_nothing_changes(self, studio, change, refusal):
        proposal = propose(studio, studio.ben.actor)
        before = world()
        with pytest.raises(refusal) as refused:
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id, **change)
        assert type(refused.value) is refusal
        assert world() == before

    def test_archiving_has_no_text_to_edit(self, studio):
        proposal = document_archive(
            actor=studio.ben.actor, document=studio.document.id, thread=studio.thread.id, propose=True
        ).proposal
        with pytest.raises(NotEditable, match="Archiving Launch plan has no text to edit"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id, text="Mine.")
        assert shown(studio.ana.actor, proposal)["proposed_text"] is None
        assert state_of(proposal) == "open"

    def test_edits_written_on_an_older_version_do_not_undo_what_came_between(self, studio):
        proposal = propose(studio, studio.ben.actor)
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=[{"append": "Bring flowers."}])
        with pytest.raises(EditsStale, match="changed since version 1"):
            proposal_accept(actor=studio.ana.actor, proposal=proposal.id, text=PROPOSED + "!", base_version=1)
        assert "Bring flowers." in text_of(studio.document)
        assert state_of(proposal) == "open"
