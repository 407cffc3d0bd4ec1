"""Threads: making, changing and reading them, and the events that say so (DESIGN 4 and 6)."""

from __future__ import annotations

import pytest

from collab import events, log, selectors
from collab.errors import Invalid
from collab.models.documents import Document, Follow
from collab.models.threads import Event, ReadMark, Thread
from collab.services.documents import document_create
from collab.services.threads import (
    read_mark_set,
    thread_answers_set,
    thread_archive,
    thread_create,
    thread_focus_set,
    thread_mode_set,
    thread_rename,
)
from collab.services.workspaces import agent_disable, workspace_create
from permissions.errors import NotFound, Refused
from permissions.services import grant_give
from tests.support.reading import facts


def test_a_thread_begins_with_its_first_event_by_who_made_it(studio):
    thread = thread_create(actor=studio.ben.actor, workspace=studio.workspace.id, title=" Music ")
    (row,) = log.read(thread.id, after=0)
    assert (row.seq, row.type, row.actor) == (1, "thread_created", studio.ben.actor)
    assert (thread.title, thread.head_seq, thread.agent_id) == ("Music", 1, studio.robin.id)
    assert log.verify(thread.id) is None


def test_a_log_that_grows_while_it_is_verified_holds(studio, monkeypatch):
    read_head = log._head
    heads = []

    def head(thread_id):
        heads.append(read_head(thread_id))
        if len(heads) == 1:
            thread_rename(actor=studio.ana.actor, thread=thread_id, title="Dinner")
        return heads[-1]

    monkeypatch.setattr(log, "_head", head)
    assert log.verify(studio.thread.id) is None
    assert heads[1] > heads[0]


@pytest.mark.corrupts
def test_a_log_that_ends_before_its_head_or_goes_beyond_it_does_not_hold(studio):
    thread_rename(actor=studio.ana.actor, thread=studio.thread.id, title="Dinner")
    row = Thread.objects.get(pk=studio.thread.id)
    for off in (-1, 1):
        Thread.objects.filter(pk=row.pk).update(head_seq=row.head_seq + off)
        assert "its log ends at" in log.verify(row.pk)
    Thread.objects.filter(pk=row.pk).update(head_seq=row.head_seq, head_hash="f" * 64)
    assert log.verify(row.pk) is not None


def test_who_may_not_start_turns_makes_no_thread(studio, zoe):
    with pytest.raises(Refused, match="Vera may only view Studio launch"):
        thread_create(actor=studio.vera.actor, workspace=studio.workspace.id, title="Music")
    with pytest.raises(NotFound):
        thread_create(actor=zoe.actor, workspace=studio.workspace.id, title="Music")
    assert Thread.objects.count() == 1


def test_an_agent_that_is_not_enabled_in_the_workspace_gets_no_thread(studio, desk):
    for account in (desk.user.pk, studio.ben.id):
        with pytest.raises(Invalid, match="not enabled"):
            thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music", agent_id=account)
    agent_disable(actor=studio.ana.actor, workspace=studio.workspace.id, agent_account=studio.robin.id)
    assert thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music").agent_id is None


CHANGES = {
    "title": (lambda **who: thread_rename(title="Dinner", **who), events.ThreadChanged("title")),
    "mode": (lambda **who: thread_mode_set(mode="suggest", **who), events.ModeChanged("suggest")),
    "answers": (
        lambda **who: thread_answers_set(answers="when mentioned", **who),
        events.ThreadChanged("answers", "when mentioned"),
    ),
    "archived": (lambda **who: thread_archive(archived=True, **who), events.ThreadChanged("archived", "true")),
}


@pytest.mark.parametrize(("change", "fact"), CHANGES.values(), ids=CHANGES)
def test_who_manages_changes_a_thread_and_its_log_says_so_once(studio, change, fact):
    before = facts(studio.thread)
    for _ in range(2):
        change(actor=studio.ana.actor, thread=studio.thread.id)
    assert facts(studio.thread) == [*before, fact]
    assert Event.objects.order_by("-seq").first().actor == studio.ana.actor


@pytest.mark.parametrize(("change", "fact"), CHANGES.values(), ids=CHANGES)
def test_nobody_else_changes_a_thread(studio, zoe, change, fact):
    before = facts(studio.thread)
    robin = studio.robin.acting_for(studio.ana, studio.thread)
    for actor, error in ((studio.ben.actor, Refused), (robin, Refused), (zoe.actor, NotFound)):
        with pytest.raises(error):
            change(actor=actor, thread=studio.thread.id)
    assert facts(studio.thread) == before


def test_what_a_thread_is_called_is_not_in_its_log(studio):
    thread_rename(actor=studio.ana.actor, thread=studio.thread.id, title="A secret dinner")
    assert not Event.objects.filter(data__contains="secret").exists()


def test_a_mode_or_a_choice_of_answers_that_is_none_is_refused(studio):
    with pytest.raises(Invalid, match="edit or suggest"):
        thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="Edit")
    with pytest.raises(Invalid, match="every message or when mentioned"):
        thread_answers_set(actor=studio.ana.actor, thread=studio.thread.id, answers="never")


def test_an_archived_thread_comes_back(studio):
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    with pytest.raises(Invalid, match="Launch dinner is archived"):
        thread_focus_set(actor=studio.ana.actor, thread=studio.thread.id, document=None)
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=False)
    assert Thread.objects.get().archived_at is None
    assert facts(studio.thread)[-1] == events.ThreadChanged("archived", "false")


class TestFocus:
    def test_a_document_that_is_shown_is_followed(self, studio):
        other = document_create(
            actor=studio.ana.actor, workspace=studio.workspace.id, title="Guests", kind="checklist"
        ).document
        thread = thread_focus_set(actor=studio.ben.actor, thread=studio.thread.id, document=other.id)
        assert thread.focus_id == other.id
        assert facts(studio.thread)[-1] == events.FocusChanged(other.id)
        assert Follow.objects.filter(thread=studio.thread, document=other).count() == 1

    def test_showing_none_still_follows_what_was_shown(self, studio):
        thread_focus_set(actor=studio.ben.actor, thread=studio.thread.id, document=None)
        assert facts(studio.thread)[-1] == events.FocusChanged(None)
        assert [document.title for document in selectors.followed_by(studio.ben.actor, studio.thread.id)] == [
            "Launch plan"
        ]

    def test_a_document_of_another_workspace_cannot_be_shown(self, studio):
        elsewhere = workspace_create(actor=studio.ana.actor, name="Elsewhere")
        other = document_create(actor=studio.ana.actor, workspace=elsewhere.id, title="Diary", kind="markdown").document
        with pytest.raises(NotFound):
            thread_focus_set(actor=studio.ana.actor, thread=studio.thread.id, document=other.id)
        assert Thread.objects.get(pk=studio.thread.id).focus_id == studio.document.id

    def test_who_only_views_does_not_choose_what_everyone_is_shown(self, studio):
        with pytest.raises(Refused):
            thread_focus_set(actor=studio.vera.actor, thread=studio.thread.id, document=None)


class TestReadMarks:
    def test_a_mark_only_moves_forward_and_never_past_the_head(self, studio):
        head = studio.thread.head_seq
        moves = [(1, 1), (head + 50, head), (1, head), (-3, head)]
        for seq, expected in moves:
            assert read_mark_set(actor=studio.vera.actor, thread=studio.thread.id, seq=seq) == expected
        assert ReadMark.objects.count() == 1

    def test_only_people_who_may_view_the_thread_have_one(self, studio, zoe):
        with pytest.raises(NotFound):
            read_mark_set(actor=zoe.actor, thread=studio.thread.id, seq=1)
        with pytest.raises(Refused):
            read_mark_set(actor=studio.robin.acting_for(studio.ana, studio.thread), thread=studio.thread.id, seq=1)
        assert not ReadMark.objects.exists()


def test_a_grant_narrowed_to_one_thread_opens_that_thread_alone(studio, zoe):
    other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Music")
    grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
    assert selectors.thread_for(zoe.actor, studio.thread.id) == studio.thread
    for load, id in (
        (selectors.thread_for, other.id),
        (selectors.workspace_for, studio.workspace.id),
        (selectors.document_for, Document.objects.get().id),
    ):
        with pytest.raises(NotFound):
            load(zoe.actor, id)
