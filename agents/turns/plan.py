"""What a thread does next: a pure function of the thread as its log has it (DESIGN 6, Planning)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

from permissions.actors import Actor, Client, Person, same_author


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that no turn has taken, that was not passed over or cancelled, and that asks for a turn."""

    id: UUID
    seq: int
    author: Actor


@dataclass(frozen=True, slots=True)
class Paused:
    """The thread's paused turn that nothing has resumed: where it asked, and who answered last, if all is answered."""

    turn: UUID
    asked_seq: int
    answered_by: Actor | None = None


@dataclass(frozen=True, slots=True)
class Approved:
    """An action that was approved and whose turn has not started, and who approved it."""

    action: UUID
    by: Person


@dataclass(frozen=True, slots=True)
class Nothing:
    """No turn is due."""


@dataclass(frozen=True, slots=True)
class Start:
    """Start a turn for ``author`` that takes ``messages`` (planning 4)."""

    author: Actor
    messages: tuple[Waiting, ...]


@dataclass(frozen=True, slots=True)
class Resume:
    """Resume a paused turn for ``author``, who answered it, by ``reply`` or by button when that is None; the turn
    takes ``messages`` besides (planning 2 and 3)."""

    turn: UUID
    author: Actor
    reply: Waiting | None
    messages: tuple[Waiting, ...]


@dataclass(frozen=True, slots=True)
class CarryOut:
    """Start a turn for ``author``, who approved ``action``, that carries it out; it takes no message (planning 0)."""

    action: UUID
    author: Person


Plan = Nothing | Start | Resume | CarryOut


def plan(waiting: Sequence[Waiting], paused: Paused | None, approved: Approved | None = None) -> Plan:
    """Say what comes next.

    Args:
        waiting: the waiting messages in log order.
        paused: the paused turn, if there is one.
        approved: the action that was approved first of those whose turn has not started, if there is one. It comes
            before everything else, even while a question is open.
    """
    if approved is not None:
        return CarryOut(approved.action, approved.by)
    if paused is not None and paused.answered_by is not None:
        return Resume(paused.turn, paused.answered_by, None, joinable(waiting, paused.answered_by))
    if paused is not None:
        return _reply(waiting, paused)
    if not waiting:
        return Nothing()
    return Start(waiting[0].author, joinable(waiting, waiting[0].author))


def joinable(waiting: Sequence[Waiting], author: Actor) -> tuple[Waiting, ...]:
    """Return the messages that may be part of a turn for ``author``: those before the first of another author."""
    return tuple(takewhile(lambda message: same_author(message.author, author), waiting))


def _reply(waiting: Sequence[Waiting], paused: Paused) -> Plan:
    """The oldest message of a person or client after the question answers it; what waited before it goes on waiting,
    and so does the input of sources and the system."""
    after = [message for message in waiting if message.seq > paused.asked_seq]
    for place, message in enumerate(after):
        if isinstance(message.author, Person | Client):
            return Resume(paused.turn, message.author, message, joinable(after[place + 1 :], message.author))
    return Nothing()
