"""Taking back what a call did: by the person it was for, or in a turn of theirs (DESIGN 6, Revise; DESIGN 7).

Undoing is claimed before it is asked for, so that it is asked for once, whoever asks and whichever process dies. When
nobody knows whether it was undone, the call stays done and says so.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import structlog
from pydantic import JsonValue, TypeAdapter

from agents.models.turns import Call
from agents.tools import settling
from agents.tools.contract import NotDone, Tool
from agents.tools.moves import call_moved
from agents.tools.named import as_undone, call_named
from agents.tools.outcomes import Outcome, returned
from agents.tools.registry import TOOLS
from agents.tools.settling import Sent
from agents.tools.whose import own_call, thread_of
from collab.db import in_db
from collab.errors import Gone, Invalid
from collab.events import CallEnded
from collab.log import append, thread_locked
from collab.text import speakable
from permissions.actors import Actor, Agent
from permissions.errors import NotFound, Refused

log = structlog.get_logger(__name__)
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class NoUndo(Invalid):
    """This cannot be undone."""

    code = "no_undo"


async def undone_in_turn(actor: Agent, name: str, tool: str) -> tuple[Call, Outcome]:
    """Take back what a call of the agent's thread did, for the person it acts for, who is also the one it was done for;
    return the call as it is then, and what undoing it came to.

    Args:
        name: the call's, like ``T2-1``.
        tool: the name of the tool it called, which is told to who is asked for consent.

    Raises:
        NotFound: there is no such call.
        Refused: it was done for someone else; or the agent or whom it acts for may no longer use its tool; or that is a
            tool for which a person is always asked.
        Gone, NoUndo, Invalid: as for :func:`undo_claimed`.
    """
    sent = await in_db(_claimed_in_turn, actor, name, tool)
    came = await undone(sent)
    await in_db(undo_recorded, sent, came, actor=actor)
    return sent.call, came


def told(call: Call, came: Outcome) -> dict[str, JsonValue]:
    """Return what a turn is told of a call that it undid.

    Raises:
        NotDone: it certainly was not undone.
        ConnectionError: nobody knows whether it was.
    """
    if came.outcome == Call.Outcome.UNDONE:
        return as_undone(call)
    raise ConnectionError if came.reason == "undo_unknown" else NotDone(came.because)


def undo_claimed(*, actor: Actor, call: UUID, whom: Actor | None, only: str) -> Sent:
    """Claim that a call is undone, and return what its tool needs for that. As long as nothing else is recorded, nobody
    knows whether it was.

    Args:
        whom, only: as :func:`~agents.tools.whose.own_call` has them.

    Raises:
        NotFound: there is no such call, or the actor may not see its thread.
        Refused: it is someone else's, or the actor may no longer use its tool.
        Gone: it was not done, is undone, or is gone; or undoing it was claimed before.
        NoUndo: its tool has no undo.
        Invalid: the thread is archived.
    """
    with thread_locked(thread_of(call).id) as locked:
        found, _ = own_call(locked, actor, call, whom=whom, only=only)
        if found.outcome != Call.Outcome.DONE or found.gone_at is not None or found.undone_by is not None:
            raise Gone(_why_not(found))
        sent = settling.as_sent(found)
        if sent is None or sent.tool.undo is None:
            raise NoUndo()
        # What is true if this process ends before the answer comes.
        found.undone_by, found.reason, found.because = actor, "undo_unknown", _not_known(sent.tool)
        found.save(update_fields=["undone_by", "reason", "because"])
        return sent


async def undone(sent: Sent) -> Outcome:
    """Ask the other side to take back what a claimed call did, and return what came of it: ``undone``; or ``done``,
    where it was certainly not undone (``undo_failed``) or nobody knows (``undo_unknown``)."""
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


def undo_recorded(sent: Sent, came: Outcome, *, actor: Actor) -> None:
    """Store what undoing came to. What certainly was not undone may be asked for again."""
    call = sent.call
    with thread_locked(call.turn.thread_id) as locked:
        if came.outcome == Call.Outcome.UNDONE:
            call_moved(locked, call, before="done", to=came, actor=actor)
            return
        claimed = actor if came.reason == "undo_unknown" else None
        call.reason, call.because, call.undone_by = came.reason, came.because, claimed
        done = Call.objects.filter(pk=call.id, outcome=Call.Outcome.DONE)
        if done.update(reason=call.reason, because=call.because, undone_by=claimed):
            append(locked, CallEnded(call.id, outcome="done", reason=came.reason), actor=actor)


def _claimed_in_turn(actor: Agent, name: str, tool: str) -> Sent:
    call = call_named(actor.thread, name)
    if call is None or call.tool != tool:
        raise NotFound(f"There is no call {name} of {tool} in this thread.")
    contract = TOOLS.get(tool)
    if contract is not None and contract.consent == "always":
        raise Refused(f"{contract.label} always asks a person, so whom it was done for undoes it, in person.")
    only = "It was not done for the person this turn is for."
    return undo_claimed(actor=actor, call=call.id, whom=actor.on_behalf_of, only=only)


def _not_known(tool: Tool) -> str:
    return f"Nobody knows whether undoing {tool.label.lower()} was done."


def _why_not(call: Call) -> str:
    if call.gone_at is not None:
        return "It is gone already."
    if call.undone_by is not None:
        return "Undoing it was asked for already."
    return "Only what was done can be undone."
