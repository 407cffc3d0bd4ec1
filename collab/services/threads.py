"""Threads: making them, what they are called, how they answer, what they show, and how far each person has read."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from collab import selectors
from collab.errors import Invalid
from collab.events import FocusChanged, ModeChanged, ThreadChanged, ThreadCreated
from collab.log import Locked, append, thread_locked
from collab.models.documents import Document, Follow
from collab.models.threads import ReadMark, Thread
from collab.models.workspaces import Workspace
from collab.services.checks import line, require_open
from permissions.actors import Actor, Person
from permissions.decisions import Action, Decision
from permissions.errors import NotFound, Refused
from permissions.gate import require


def thread_create(*, actor: Actor, workspace: UUID, title: str, agent_id: UUID | None = None) -> Thread:
    """Open a thread in a workspace, for its people and one agent.

    Args:
        agent_id: the account of an agent that is enabled in the workspace; None: the first that is, or no agent.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor may not start turns there.
        Invalid: the title is refused, or the agent is not enabled there.
    """
    with transaction.atomic():
        found = Workspace.objects.filter(pk=workspace).first()
        if found is None:
            raise NotFound()
        decision = require(actor, Action.START_TURN, found, for_write=True)
        agent = _agent(workspace, agent_id)
        thread = Thread.objects.create(workspace=found, title=line(title, "the title"), agent_id=agent)
        with thread_locked(thread.id) as locked:
            _appended(locked, ThreadCreated(), actor, decision)
            return locked.row


def thread_rename(*, actor: Actor, thread: UUID, title: str) -> Thread:
    """Give a thread another title.

    Raises:
        NotFound: there is no such thread, or the actor may not view it.
        Refused: the actor may not manage it.
        Invalid: the title is refused.
    """
    with thread_locked(thread) as locked:
        decision = require(actor, Action.MANAGE, locked.row, for_write=True)
        wanted = line(title, "the title")
        if locked.row.title != wanted:
            locked.change(title=wanted)
            _appended(locked, ThreadChanged("title"), actor, decision)
        return locked.row


def thread_archive(*, actor: Actor, thread: UUID, archived: bool) -> Thread:
    """Put a thread away, or bring it back. Raises NotFound and Refused as :func:`thread_rename`."""
    with thread_locked(thread) as locked:
        decision = require(actor, Action.MANAGE, locked.row, for_write=True)
        if (locked.row.archived_at is not None) is not archived:
            locked.change(archived_at=locked.now if archived else None)
            _appended(locked, ThreadChanged("archived", "true" if archived else "false"), actor, decision)
        return locked.row


def thread_mode_set(*, actor: Actor, thread: UUID, mode: str) -> Thread:
    """Let agents and clients change documents in a thread (``edit``) or only propose changes (``suggest``).

    Raises:
        NotFound, Refused: as for :func:`thread_rename`.
        Invalid: there is no such mode.
    """
    if mode not in Thread.Mode.values:
        raise Invalid(f"A thread's mode is {' or '.join(Thread.Mode.values)}.")
    with thread_locked(thread) as locked:
        decision = require(actor, Action.MANAGE, locked.row, for_write=True)
        if locked.row.mode != mode:
            locked.change(mode=mode)
            _appended(locked, ModeChanged(mode), actor, decision)
        return locked.row


def thread_answers_set(*, actor: Actor, thread: UUID, answers: str) -> Thread:
    """Let the agent answer ``every message``, or only ``when mentioned``.

    Raises:
        NotFound, Refused: as for :func:`thread_rename`.
        Invalid: there is no such choice.
    """
    if answers not in Thread.Answers.values:
        raise Invalid(f"A thread answers {' or '.join(Thread.Answers.values)}.")
    with thread_locked(thread) as locked:
        decision = require(actor, Action.MANAGE, locked.row, for_write=True)
        if locked.row.answers != answers:
            locked.change(answers=answers)
            _appended(locked, ThreadChanged("answers", answers), actor, decision)
        return locked.row


def thread_focus_set(*, actor: Actor, thread: UUID, document: UUID | None) -> Thread:
    """Show a document beside a thread, which then follows it; None shows none.

    Raises:
        NotFound: there is no such thread, or no such document in its workspace, or the actor may not view it.
        Refused: the actor may not start turns in the thread.
        Invalid: the thread is archived.
    """
    with thread_locked(thread) as locked:
        decision = require(actor, Action.START_TURN, locked.row, for_write=True)
        require_open(locked.row)
        if document is not None:
            _followed(actor, locked, document)
        if locked.row.focus_id != document:
            locked.change(focus_id=document)
            _appended(locked, FocusChanged(document), actor, decision)
        return locked.row


@transaction.atomic
def read_mark_set(*, actor: Actor, thread: UUID, seq: int) -> int:
    """Note how far a person has read a thread, and return it; it only moves forward, and never past the log's head.

    Raises:
        NotFound: there is no such thread, or the person may not view it.
        Refused: the actor is no person.
    """
    if not isinstance(actor, Person):
        raise Refused("Only people have read marks.")
    found = selectors.thread_for(actor, thread)
    seen = min(max(seq, 0), found.head_seq)
    marks = ReadMark.objects.filter(thread=found, user=actor.id)
    if not marks.update(seq=Greatest(F("seq"), seen)):
        ReadMark.objects.bulk_create([ReadMark(thread=found, user_id=actor.id, seq=seen)], ignore_conflicts=True)
    return marks.values_list("seq", flat=True).get()


def _agent(workspace: UUID, wanted: UUID | None) -> UUID | None:
    enabled = [agent.id for agent in selectors.agents_of(workspace)]
    if wanted is None:
        return next(iter(enabled), None)
    if wanted not in enabled:
        raise Invalid("This agent is not enabled in the workspace.")
    return wanted


def _followed(actor: Actor, locked: Locked, document: UUID) -> None:
    found = Document.objects.filter(pk=document, workspace=locked.row.workspace_id).first()
    if found is None:
        raise NotFound()
    require(actor, Action.VIEW, found)
    Follow.objects.bulk_create([Follow(thread_id=locked.row.id, document=found)], ignore_conflicts=True)


def _appended(
    locked: Locked, event: ThreadCreated | ThreadChanged | ModeChanged | FocusChanged, actor: Actor, decision: Decision
) -> None:
    append(locked, event, actor=actor, grants_epoch=decision.grants_epoch or 0)
