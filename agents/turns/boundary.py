"""Boundaries: the points between a turn's steps where its state is saved and new input may join (DESIGN 6).

Nothing is pushed into a running turn. It pulls from the log here: stop requests, messages of its own author until the
first of another, and change notes; each joins in the transaction that saves the history it is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from django.db.models import F
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelRequestPart, UserPromptPart

from agents.errors import LeaseLost
from agents.models.turns import Call, Turn
from agents.replies.record import CallRecord
from agents.tools.phrasings import Wording
from agents.tools.registry import SETTING
from agents.turns import ending, history, lease
from agents.turns.notes import changes_told
from agents.turns.plan import joinable
from agents.turns.resolutions import RESOLVED, resolutions
from agents.turns.start import PARKED, as_waiting, take, waiting_messages
from collab.events import MessageTaken
from collab.log import Locked, append, thread_locked
from collab.models.documents import Revision
from collab.models.threads import Message, Thread
from collab.signals import thread_asked
from permissions.actors import same_author


@dataclass(slots=True)
class Work:
    """What a running turn has in hand: the messages of its own history, and the text it has let out."""

    turn: Turn
    workspace: UUID
    names: dict[UUID, str]
    messages: list[ModelMessage]
    text: str = ""
    wording: Wording = field(default_factory=partial(Wording, SETTING))
    """What its calls are said to be, and what everything it says is checked with."""
    parks: bool = False
    """True once this process ends: what is left of the turn is for another."""
    joins: bool = True
    """False once another author's message waits: from then on nothing joins this turn."""
    returns: list[ModelRequestPart] = field(default_factory=list)
    """What the calls of the newest response came to, so far."""
    questions: list[UUID] = field(default_factory=list)
    remembers: bool = False
    """True once the calls of the thread's earlier turns were read for what it says."""
    records: list[CallRecord] = field(default_factory=list)
    """What the turn's calls came to, as what it says is held to it; ``voiced`` of them are known to its gate."""
    voiced: int = 0
    ruled: int = 0
    """The rulings on what the turn said that are counted."""
    orphans: list[Call] = field(default_factory=list)
    """Calls that the turn this one continues had settled after its last boundary."""
    own_words: bool = True
    """False where no text that the model writes reaches a person (REPLIES, Composers)."""

    def fresh(self) -> list[CallRecord]:
        """Return the records that the gate has not been told of, which from here on it has."""
        told, self.voiced = self.voiced, len(self.records)
        return self.records[told:]

    @property
    def wrote(self) -> bool:
        """True when the turn called a tool that changes something."""
        return any(record.effect == "write" for record in self.records)


def reach(work: Work) -> bool:
    """Reach the boundary after a model response and its calls: end, pause, park or go on, and save. Say whether the
    turn goes on here with another request. A response without calls was the turn's last, unless something joins here.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        if locked.row.stop_turn_id == work.turn.id:
            stop(locked, work)
            return False
        if work.questions:
            work.turn.history = _as_far_as_it_came(work)
            ending.pause(locked, work.turn, questions=tuple(work.questions), text=work.text)
            return False
        waiting = waiting_messages(work.turn.thread_id)
        joining = _joining(locked, work, waiting)
        if not work.returns and not joining:
            work.turn.history = history.dump(work.messages)
            ending.end(locked, work.turn, status=Turn.Status.COMPLETED, text=work.text, more=bool(waiting))
            return False
        _go_on(locked, work, [*work.returns, *_notes(locked, work)], joining)
        if work.parks:
            _leave(locked, work.turn, reason=PARKED)
        return not work.parks


def cut_off(turn: Turn) -> None:
    """Leave a turn in the middle of a step, as its process ends: another continues it from its last boundary."""
    with thread_locked(turn.thread_id) as locked, suppress(LeaseLost):
        lease.fence(locked, turn)
        _leave(locked, turn)


def fail(work: Work, *, reason: str, because: str) -> None:
    """End a turn that cannot go on, keeping what it took and what it said so far.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        work.turn.history = _as_far_as_it_came(work)
        ending.end(
            locked, work.turn, status=Turn.Status.FAILED, reason=reason, because=because, text=work.text, whole=False
        )


def end_stopped(work: Work) -> None:
    """End a turn that was stopped inside a model response or a call.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        stop(locked, work)


def stop(locked: Locked, work: Work) -> None:
    """End a turn as stopped, with what it said and did so far."""
    work.turn.history = _as_far_as_it_came(work)
    ending.end(
        locked, work.turn, status=Turn.Status.STOPPED, reason="stopped", because="It was stopped.",
        text=work.text, whole=False,
    )  # fmt: skip


def _leave(locked: Locked, turn: Turn, *, reason: str = "") -> None:
    """Give the thread back with its turn still running, and ask for whoever continues it."""
    turn.reason = reason
    turn.save(update_fields=["reason"])
    lease.release(locked)
    thread_asked.send(sender=Thread, thread_id=locked.row.id)


def _joining(locked: Locked, work: Work, waiting: list[Message]) -> list[Message]:
    """Take the waiting messages that may join: the turn's own author's, up to the first of another (DESIGN 6)."""
    foreign = any(not same_author(message.author, work.turn.origin) for message in waiting)
    ids = {message.id for message in joinable(as_waiting(waiting), work.turn.origin)} if work.joins else set()
    work.joins = work.joins and not foreign
    if not ids:
        return []
    taken = take(waiting, ids, turn=work.turn, taken_as=Message.TakenAs.STEER)
    event = MessageTaken(messages=tuple(message.id for message in taken), taken_as=Message.TakenAs.STEER)
    append(locked, event, actor=ending.acting(work.turn), turn=work.turn.id)
    return taken


def _go_on(locked: Locked, work: Work, parts: list[ModelRequestPart], joining: list[Message]) -> None:
    request = ModelRequest(parts=parts)
    if joining:
        asked = history.input_request(joining, work.names)
        request = ModelRequest(parts=[*parts, *asked.parts], metadata=asked.metadata)
    work.messages.append(request)
    turn = work.turn
    turn.steps += 1
    turn.history, turn.text = history.dump(work.messages), work.text
    turn.save(update_fields=["steps", "history", "text", "known", "input_tokens", "output_tokens"])


def _as_far_as_it_came(work: Work) -> str:
    returned = [ModelRequest(parts=work.returns)] if work.returns else []
    return history.dump([*work.messages, *returned])


def _notes(locked: Locked, work: Work) -> list[UserPromptPart]:
    """Tell the turn which followed documents others changed since it last looked, and what became of what its author's
    turns proposed; nothing once its joining is over."""
    if not work.joins:
        return []
    turn = work.turn
    newest = newest_revisions(turn.thread_id)
    fresh = [
        revision
        for revision in newest
        if revision.turn_id != turn.id and turn.known.get(str(revision.document_id), 0) < revision.version
    ]
    ended = resolutions(turn, after=turn.known.get(RESOLVED, turn.seq))
    changed = changes_told(turn, fresh)
    turn.known = {**versions(newest), RESOLVED: locked.row.head_seq}
    return [*map(history.note, changed), *(history.resolution(one.text) for one in ended)]


def newest_revisions(thread_id: UUID) -> list[Revision]:
    """Return the newest revision of each document that a thread follows."""
    newest = Revision.objects.filter(document__follows__thread=thread_id, version=F("document__version"))
    return list(newest.select_related("document").defer("data", "patch", "document__data"))


def versions(newest: Sequence[Revision]) -> dict[str, int]:
    """Return what a turn that was told of these revisions knows: the version of each document."""
    return {str(revision.document_id): revision.version for revision in newest}
