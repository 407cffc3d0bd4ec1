"""What people do about calls: have one looked up, let one be done again, have one undone (DESIGN 7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from agents.models.turns import Call
from agents.tools import settling, undoing
from agents.tools.whose import own_call, thread_of
from collab.errors import Busy, Gone, Invalid
from collab.events import CallRepeatAllowed
from collab.log import append, thread_locked
from permissions.actors import Actor
from permissions.decisions import Action
from permissions.gate import require

_outward = threading.BoundedSemaphore(2)
"""How many wait for the other side at once in one process: a slow one must not keep its database threads."""


class NothingToAsk(Invalid):
    """There is nobody to ask what became of this call."""

    code = "no_lookup"


def call_check(*, actor: Actor, call: UUID) -> Call:
    """Ask the other side now what became of a call, and return the call with its outcome as it is then known.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Gone: its outcome is known.
        NothingToAsk: its tool has no lookup.
        Busy: too many are being checked, or this one is at this moment.
    """
    require(actor, Action.VIEW, thread_of(call))
    found = Call.objects.get(pk=call)
    if found.outcome != Call.Outcome.UNKNOWN:
        raise Gone("What became of it is known.")
    with _one_of_few():
        sent = settling.lookup_claimed(call)
        if sent is None:
            raise _why_not_asked(call)
        looked = asyncio.run(settling.looked_up(sent))
        settling.settled(sent, looked, actor=actor)
    return Call.objects.get(pk=call)


def call_repeat(*, actor: Actor, call: UUID) -> Call:
    """Let a call be done again though nobody knows whether it was done: whom it was for, in person, answers for that.
    Allowed twice is allowed once.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Refused: the actor is neither the person it was for nor who approved it, or may no longer use its tool.
        Gone: its outcome is known.
        Invalid: the thread is archived.
    """
    with thread_locked(thread_of(call).id) as locked:
        only = "Only the person it was for lets it be done again, in person."
        found, epoch = own_call(locked, actor, call, whom=actor, only=only)
        if found.outcome != Call.Outcome.UNKNOWN:
            raise Gone("What became of it is known.")
        if found.repeat_by is None:
            found.repeat_by = actor
            found.save(update_fields=["repeat_by"])
            append(locked, CallRepeatAllowed(found.id), actor=actor, grants_epoch=epoch)
        return found


def call_undo(*, actor: Actor, call: UUID) -> Call:
    """Take back what a call did, at most once: the button of whom it was for.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Refused: the actor is neither the person it was for nor who approved it, or may no longer use its tool.
        Gone: it was not done, is undone, or is gone.
        NoUndo: its tool has no undo.
        Invalid: the thread is archived.
        Busy: too many are being undone.
    """
    with _one_of_few():
        only = "Only the person it was for undoes it, in person."
        sent = undoing.undo_claimed(actor=actor, call=call, whom=actor, only=only)
        undoing.undo_recorded(sent, asyncio.run(undoing.undone(sent)), actor=actor)
    return Call.objects.get(pk=call)


def _why_not_asked(call: UUID) -> Busy | Gone | NothingToAsk:
    """Say why a call is not looked up now: another asks at this moment, it was settled meanwhile, or nobody can say."""
    found = settling.with_turn(call)
    if found is None or found.outcome != Call.Outcome.UNKNOWN:
        return Gone("What became of it is known.")
    sent = settling.as_sent(found)
    if sent is None or sent.tool.lookup is None:
        return NothingToAsk()
    return Busy("It is being checked at this moment; try again shortly.")


@contextmanager
def _one_of_few() -> Iterator[None]:
    if not _outward.acquire(blocking=False):
        raise Busy("Others are waiting for an answer from outside; try again shortly.")
    try:
        yield
    finally:
        _outward.release()
