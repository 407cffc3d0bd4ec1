"""What people do about calls: have one looked up, let one be done again, have one undone (DESIGN 7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

import structlog
from pydantic import JsonValue, TypeAdapter

from agents.models.turns import Call
from agents.tools import rights, settling
from agents.tools.consent import addressee
from agents.tools.contract import NotDone, Tool
from agents.tools.moves import call_moved
from agents.tools.outcomes import Outcome, returned
from agents.tools.registry import TOOLS
from agents.tools.settling import Sent
from collab.errors import Busy, Gone, Invalid
from collab.events import CallEnded, CallRepeatAllowed
from collab.log import Locked, append, thread_locked
from collab.models.threads import Thread
from collab.services.checks import require_open
from collab.text import speakable
from permissions.actors import Actor, Person
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.gate import require

log = structlog.get_logger(__name__)
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)

_outward = threading.BoundedSemaphore(2)
"""How many wait for the other side at once in one process: a slow one must not keep its database threads."""


class NothingToAsk(Invalid):
    """There is nobody to ask what became of this call."""

    code = "no_lookup"


class NoUndo(Invalid):
    """This cannot be undone."""

    code = "no_undo"


def call_check(*, actor: Actor, call: UUID) -> Call:
    """Ask the other side now what became of a call, and return the call with its outcome as it is then known.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Gone: its outcome is known.
        NothingToAsk: its tool has no lookup.
        Busy: too many are being checked, or this one is at this moment.
    """
    require(actor, Action.VIEW, _thread_of(call))
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
    with thread_locked(_thread_of(call).id) as locked:
        found, epoch = _own(locked, actor, call, "lets it be done again")
        if found.outcome != Call.Outcome.UNKNOWN:
            raise Gone("What became of it is known.")
        if found.repeat_by is None:
            found.repeat_by = actor
            found.save(update_fields=["repeat_by"])
            append(locked, CallRepeatAllowed(found.id), actor=actor, grants_epoch=epoch)
        return found


def call_undo(*, actor: Actor, call: UUID) -> Call:
    """Take back what a call did. Undoing is claimed before it is asked for, so that it is asked for once; when nobody
    knows whether it was undone, the call stays done and says so.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Refused: the actor is neither the person it was for nor who approved it, or may no longer use its tool.
        Gone: it was not done, is undone, or is gone.
        NoUndo: its tool has no undo.
        Invalid: the thread is archived.
        Busy: too many are being undone.
    """
    with _one_of_few():
        sent = _undo_claimed(actor, call)
        outcome = asyncio.run(_undone(sent))
        _undo_recorded(sent, outcome, actor)
    return Call.objects.get(pk=call)


def whose(call: Call) -> list[Person]:
    """Return who answers for a call, in person: whom it was for or is asked for it, and who approved it."""
    asked = addressee(call.turn.origin, call.turn.principal)
    approver = call.carried_by.principal if call.carried_by else None
    return [one for one in dict.fromkeys((asked, approver)) if isinstance(one, Person)]


def _undo_claimed(actor: Actor, call: UUID) -> Sent:
    with thread_locked(_thread_of(call).id) as locked:
        found, _ = _own(locked, actor, call, "undoes it")
        if found.outcome != Call.Outcome.DONE or found.gone_at is not None or found.undone_by is not None:
            raise Gone(_why_not_undone(found))
        sent = settling.as_sent(found)
        if sent is None or sent.tool.undo is None:
            raise NoUndo()
        # What is true if this process ends before the answer comes.
        found.undone_by, found.reason, found.because = actor, "undo_unknown", _not_known(sent.tool)
        found.save(update_fields=["undone_by", "reason", "because"])
        return sent


async def _undone(sent: Sent) -> Outcome:
    tool, call = sent.tool, sent.call
    if tool.undo is None:
        raise NoUndo()
    result = _JSON.validate_json(call.result) if call.result else None
    try:
        async with asyncio.timeout(min(tool.timeout, settling.PATIENCE)):
            value = await tool.undo(sent.ctx, sent.args, result)
    except NotDone as refusal:
        return Outcome("done", "undo_failed", speakable(refusal.because)[: settling.LONGEST_BECAUSE])
    except (TimeoutError, ConnectionError):
        return Outcome("done", "undo_unknown", _not_known(tool))
    except Exception:
        log.exception("undo_raised", tool=tool.name, call=str(call.id))
        return Outcome("done", "undo_unknown", _not_known(tool))
    return replace(returned(tool.label, value), outcome="undone", reason="", because="")


def _undo_recorded(sent: Sent, came: Outcome, actor: Actor) -> None:
    """Store what undoing came to. What certainly was not undone may be asked for again."""
    call = sent.call
    with thread_locked(call.turn.thread_id) as locked:
        if came.outcome == Call.Outcome.UNDONE:
            call_moved(locked, call, before="done", to=came, actor=actor)
            return
        claimed = actor if came.reason == "undo_unknown" else None
        done = Call.objects.filter(pk=call.id, outcome=Call.Outcome.DONE)
        if done.update(reason=came.reason, because=came.because, undone_by=claimed):
            append(locked, CallEnded(call.id, outcome="done", reason=came.reason), actor=actor)


def _not_known(tool: Tool) -> str:
    return f"Nobody knows whether undoing {tool.label.lower()} was done."


def _why_not_asked(call: UUID) -> Busy | Gone | NothingToAsk:
    """Say why a call is not looked up now: another asks at this moment, it was settled meanwhile, or nobody can say."""
    found = settling.with_turn(call)
    if found is None or found.outcome != Call.Outcome.UNKNOWN:
        return Gone("What became of it is known.")
    sent = settling.as_sent(found)
    if sent is None or sent.tool.lookup is None:
        return NothingToAsk()
    return Busy("It is being checked at this moment; try again shortly.")


def _why_not_undone(call: Call) -> str:
    if call.gone_at is not None:
        return "It is gone already."
    if call.undone_by is not None:
        return "Undoing it was asked for already."
    return "Only what was done can be undone."


def _thread_of(call: UUID) -> Thread:
    found = Thread.objects.filter(turns__calls=call).first()
    if found is None:
        raise NotFound()
    return found


def _own(locked: Locked, actor: Actor, call: UUID, what: str) -> tuple[Call, int]:
    """Return a call of the actor's, and the grants epoch at which they may use its tool."""
    epoch = require(actor, Action.VIEW, locked.row, for_write=True).grants_epoch or 0
    found = Call.objects.select_related("turn__thread", "carried_by").defer("turn__history").get(pk=call)
    if actor not in whose(found):
        raise Refused(f"Only the person it was for {what}, in person.")
    require_open(locked.row)
    tool = TOOLS.get(found.called_as)
    if tool is not None and tool.permission:
        rights.require_use(actor, locked.row.workspace_id, tool)
    return found, epoch


@contextmanager
def _one_of_few() -> Iterator[None]:
    if not _outward.acquire(blocking=False):
        raise Busy("Others are waiting for an answer from outside; try again shortly.")
    try:
        yield
    finally:
        _outward.release()
