"""Documents: who changes them, what is recorded, and what is only suggested (DESIGN 4 and 5; FAILURES F and G)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from collab import events, log
from collab.errors import CollabError, Conflict, Invalid
from collab.log import thread_locked
from collab.models.documents import Document, Follow, Revision
from collab.models.threads import Event
from collab.services.documents import document_archive, document_create, document_edit, document_restore, document_save
from collab.services.threads import thread_archive, thread_create, thread_focus_set
from collab.services.workspaces import member_add, workspace_create
from permissions.errors import NotFound, Refused
from permissions.ids import new_id
from permissions.roles import Role
from permissions.services import grant_give
from tests.support.reading import facts, text_of

EDIT = [{"find": "for 12", "replace": "for 14"}]


def contributor(studio, zoe):
    member_add(actor=studio.ana.actor, workspace=studio.workspace.id, username="zoe", role=Role.CONTRIBUTOR)
    return zoe


class TestCreating:
    def test_a_new_document_has_a_first_version_and_is_shown_where_it_was_made(self, studio):
        revision = Revision.objects.get(document=studio.document)
        assert (revision.version, revision.actor, revision.thread_id) == (1, studio.ana.actor, studio.thread.id)
        assert revision.data == studio.document.data
        assert facts(studio.thread, after=1) == [
            events.DocumentCreated(studio.document.id),
            events.FocusChanged(studio.document.id),
        ]
        assert Follow.objects.filter(thread=studio.thread, document=studio.document).exists()

    def test_a_second_one_is_followed_and_does_not_push_the_first_away(self, studio):
        made = document_create(
            actor=studio.ben.actor, workspace=studio.workspace.id, title="Guests", kind="checklist",
            text="- [ ] Ada\n- [x] Bob", thread=studio.thread.id,
        )  # fmt: skip
        assert facts(studio.thread)[-1] == events.DocumentCreated(made.document.id)
        assert [item["done"] for item in made.document.data["items"]] == [False, True]
        studio.thread.refresh_from_db()
        assert studio.thread.focus_id == studio.document.id

    def test_one_made_outside_a_thread_is_in_no_log(self, studio):
        before = Event.objects.count()
        made = document_create(actor=studio.ben.actor, workspace=studio.workspace.id, title="Notes", kind="markdown")
        assert (made.version, made.summary) == (1, "Notes is at version 1.")
        assert Event.objects.count() == before
        assert not Follow.objects.filter(document=made.document).exists()

    @pytest.mark.parametrize(
        "wrong",
        [
            {"kind": "spreadsheet"},
            {"title": " "},
            {"text": "a\0b"},
            {"data": {"text": 3}},
            {"data": {"text": "a", "more": 1}},
            {"text": "x" * 300_000},
        ],
    )
    def test_what_is_no_document_is_refused(self, studio, wrong):
        given = {"title": "Notes", "kind": "markdown", **wrong}
        with pytest.raises(Invalid):
            document_create(actor=studio.ana.actor, workspace=studio.workspace.id, thread=studio.thread.id, **given)
        assert Document.objects.count() == 1
        assert log.verify(studio.thread.id) is None

    def test_a_viewer_makes_none(self, studio, zoe):
        given = {"workspace": studio.workspace.id, "title": "Notes", "kind": "markdown", "thread": studio.thread.id}
        with pytest.raises(Refused, match="Vera may only view Studio launch"):
            document_create(actor=studio.vera.actor, **given)
        with pytest.raises(NotFound):
            document_create(actor=zoe.actor, **given)

    def test_a_thread_of_another_workspace_does_not_take_it(self, studio):
        elsewhere = workspace_create(actor=studio.ana.actor, name="Elsewhere")
        with pytest.raises(NotFound):
            document_create(
                actor=studio.ana.actor, workspace=elsewhere.id, title="Notes", kind="markdown", thread=studio.thread.id
            )


class TestEditing:
    @pytest.mark.corrupts
    def test_an_edit_is_the_next_version_a_revision_and_an_event_of_its_turn(self, studio):
        turn, robin = new_id(), studio.robin.acting_for(studio.ben, studio.thread)
        written = document_edit(actor=robin, document=studio.document.id, edits=EDIT, base_version=1, turn=turn)
        assert (written.version, written.proposal, written.summary) == (2, None, "Launch plan is at version 2.")
        assert "for 14" in text_of(studio.document)
        revision = Revision.objects.get(document=studio.document, version=2)
        assert (revision.actor, revision.turn_id, revision.patch) == (robin, turn, EDIT)
        row = Event.objects.order_by("-seq").first()
        assert (row.actor, row.turn_id) == (robin, turn)
        assert row.grants_epoch == type(studio.workspace).objects.get().grants_epoch
        assert events.load(row.type, row.data) == events.DocumentChanged(studio.document.id, 2)

    def test_all_edits_are_made_or_none(self, studio):
        before = text_of(studio.document)
        with pytest.raises(Conflict, match="Not found: “for 99”"):
            document_edit(
                actor=studio.ana.actor, document=studio.document.id, thread=studio.thread.id,
                edits=[*EDIT, {"find": "for 99", "replace": ""}],
            )  # fmt: skip
        assert text_of(studio.document) == before
        assert not Revision.objects.filter(version=2).exists()

    def test_an_edit_of_an_older_version_is_a_conflict_that_names_who_changed_it(self, studio):
        robin = studio.robin.acting_for(studio.ben, studio.thread)
        document_edit(actor=robin, document=studio.document.id, edits=EDIT)
        with pytest.raises(Conflict) as conflict:
            document_edit(actor=studio.ana.actor, document=studio.document.id, edits=EDIT, base_version=1)
        assert conflict.value.because == (
            "Launch plan changed since version 1 (it is at version 2, by Robin for Ben); read it again."
        )

    def test_a_version_that_never_was_is_refused(self, studio):
        with pytest.raises(Invalid, match="has no version 7; it is at version 1"):
            document_edit(actor=studio.ana.actor, document=studio.document.id, edits=EDIT, base_version=7)

    def test_a_title_is_changed_alone_or_together_with_the_text(self, studio):
        document_edit(actor=studio.ana.actor, document=studio.document.id, title="The plan")
        written = document_edit(actor=studio.ana.actor, document=studio.document.id, title="Plan B", edits=EDIT)
        assert (written.document.title, written.version) == ("Plan B", 3)
        assert Revision.objects.get(version=3).patch == [{"title": "Plan B", "was": "The plan"}, *EDIT]
        assert not Event.objects.filter(data__contains="Plan B").exists()

    def test_what_changes_nothing_makes_no_version(self, studio):
        written = document_save(
            actor=studio.ana.actor, document=studio.document.id, text=text_of(studio.document), base_version=1
        )
        assert (written.version, written.summary) == (1, "Launch plan is unchanged, at version 1.")
        with pytest.raises(Invalid, match="Nothing was asked to change"):
            document_edit(actor=studio.ana.actor, document=studio.document.id)

    def test_a_person_saves_the_whole_text(self, studio):
        written = document_save(
            actor=studio.ben.actor, document=studio.document.id, text="All new\n", base_version=1,
            thread=studio.thread.id,
        )  # fmt: skip
        assert (written.version, text_of(studio.document)) == (2, "All new\n")

    def test_a_thread_that_a_document_is_changed_in_follows_it(self, studio):
        other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music")
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=EDIT, thread=other.id)
        assert set(Follow.objects.values_list("thread_id", flat=True)) == {studio.thread.id, other.id}

    def test_all_threads_that_follow_it_are_told_once_it_is_committed(self, studio, monkeypatch):
        told = []
        monkeypatch.setattr(
            "collab.doorbell.document_changed_on_commit", lambda id, threads: told.append((id, threads))
        )
        other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music")
        thread_focus_set(actor=studio.ana.actor, thread=other.id, document=studio.document.id)
        document_edit(actor=studio.ana.actor, document=studio.document.id, edits=EDIT)
        assert told == [(studio.document.id, {studio.thread.id, other.id})]

    def test_in_an_archived_thread_nothing_is_changed(self, studio):
        thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
        with pytest.raises(Invalid, match="Launch dinner is archived"):
            document_edit(actor=studio.ana.actor, document=studio.document.id, edits=EDIT, thread=studio.thread.id)

    def test_a_change_is_not_shown_in_a_thread_that_its_author_may_not_see(self, studio, zoe):
        for codename in ("view", "change_document"):
            grant_give(by=studio.ana.actor, holder=zoe.user, codename=codename, obj=studio.document)
        with pytest.raises(NotFound):
            document_edit(actor=zoe.actor, document=studio.document.id, edits=EDIT, thread=studio.thread.id)
        assert document_edit(actor=zoe.actor, document=studio.document.id, edits=EDIT).version == 2

    @pytest.mark.corrupts
    def test_an_agents_edit_in_its_turn_takes_few_queries(self, studio, queries):
        robin = studio.robin.acting_for(studio.ana, studio.thread)
        with thread_locked(studio.thread.id), queries() as sent:
            document_edit(actor=robin, document=studio.document.id, edits=EDIT, base_version=1, turn=new_id())
        sent.at_most(7)


class TestArchiving:
    def test_an_archived_document_takes_no_change_until_it_is_brought_back(self, studio):
        at = {"actor": studio.ben.actor, "document": studio.document.id, "thread": studio.thread.id}
        assert document_archive(**at).summary == "Launch plan was archived."
        assert facts(studio.thread)[-1] == events.DocumentArchived(studio.document.id, 2)
        with pytest.raises(Invalid, match="Launch plan is archived"):
            document_edit(edits=EDIT, **at)
        document_restore(**at)
        assert facts(studio.thread)[-1] == events.DocumentChanged(studio.document.id, 3)
        assert document_edit(edits=EDIT, **at).version == 4
        patches = Revision.objects.order_by("version").values_list("patch", flat=True)
        assert list(patches) == [[], [{"archived": True}], [{"archived": False}], EDIT]

    def test_bringing_back_what_is_not_archived_changes_nothing(self, studio):
        assert document_restore(actor=studio.ben.actor, document=studio.document.id).version == 1

    def test_who_may_only_propose_does_not_bring_it_back(self, studio, zoe):
        contributor(studio, zoe)
        document_archive(actor=studio.ana.actor, document=studio.document.id)
        with pytest.raises(Refused):
            document_restore(actor=zoe.actor, document=studio.document.id, thread=studio.thread.id)


@pytest.mark.django_db(transaction=True)
def test_of_two_edits_made_on_one_version_at_once_one_wins_and_no_text_is_lost(studio):
    start = Barrier(2)

    def edit(word):
        try:
            start.wait(timeout=10)
            return document_edit(
                actor=studio.ana.actor, document=studio.document.id, edits=[{"append": word}], base_version=1
            ).version
        except CollabError as error:
            return error.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(edit, ["first", "second"]))
    assert sorted(map(str, outcomes)) == ["2", "conflict"]
    assert Document.objects.get().version == Revision.objects.count() == 2
    winner = ["first", "second"][outcomes.index(2)]
    assert text_of(studio.document).endswith(winner)
