"""Settling calls of which nobody knows whether they were done, by asking the other side (DESIGN 6 and 7).

A lookup is claimed before it is sent and its outcome stored after, so that several who look at once settle a call once.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from django.db.models import F, Q, QuerySet
from pydantic import BaseModel, ValidationError

from agents.models.turns import Call
from agents.tools import routing
from agents.tools.contract import Looked, Tool, ToolContext
from agents.tools.moves import call_moved
from agents.tools.outcomes import Outcome, returned
from agents.tools.registry import TOOLS
from agents.turns.ending import acting
from collab.db import in_db
from collab.log import thread_locked
from collab.text import speakable
from permissions.actors import Actor, System
from permissions.clock import AccordNow

log = structlog.get_logger(__name__)

AT_ONCE = 10
"""Calls that are looked up at once, at most; the next time takes the rest."""

WAITS = (timedelta(seconds=10), timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10))
"""How long after its last lookup a call is looked up again, by how often it was; hourly after these."""

HOURLY = timedelta(hours=1)

GIVEN_UP = timedelta(hours=24)
"""How long a call is looked up of itself; after that, when a turn of its thread begins or a person asks."""

MAY_ARRIVE = timedelta(seconds=30)
"""How long after it was sent a call may still arrive: that the other side does not have it says nothing before."""

PATIENCE = 10.0
"""Seconds that a lookup or an undo may take, at most: a turn, the sweep or a person waits for it."""

LONGEST_BECAUSE = 500
"""Characters kept of what a tool says to people."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A call as a tool's lookup or undo is given it."""

    call: Call
    tool: Tool
    ctx: ToolContext
    args: BaseModel


async def call_settle(call_id: UUID) -> bool:
    """Look a call up whose outcome is not known, and record what it came to; say whether that is known now."""
    found = await in_db(lookup_claimed, call_id)
    if found is None:
        return False
    looked = await looked_up(found)
    return await in_db(settled, found, looked, actor=System())


async def settle_all(call_ids: list[UUID]) -> None:
    """Look calls up, all at once. What goes wrong with one is logged and stops no other."""
    for call_id, came in zip(
        call_ids, await asyncio.gather(*map(call_settle, call_ids), return_exceptions=True), strict=True
    ):
        if isinstance(came, Exception):
            log.error("lookup_failed", call=str(call_id), exc_info=came)


def calls_to_look_up() -> list[UUID]:
    """Return calls whose next lookup is due by the database's clock."""
    due = Q(lookups=0, finished_at__lte=AccordNow() - WAITS[0])
    for lookups, wait in enumerate(WAITS[1:], start=1):
        due |= Q(lookups=lookups, looked_up_at__lte=AccordNow() - wait)
    due |= Q(lookups__gte=len(WAITS), looked_up_at__lte=AccordNow() - HOURLY)
    return _ids(_unknown().filter(due, finished_at__gt=AccordNow() - GIVEN_UP))


def unknown_in(thread_id: UUID) -> list[UUID]:
    """Return calls of a thread that can be looked up: what a turn that begins there would know."""
    return _ids(_unknown().filter(turn__thread_id=thread_id))


def lookup_claimed(call_id: UUID) -> Sent | None:
    """Count a lookup of a call, and return what it needs; None when there is nothing to look up, or another process
    has just begun to. A call that cannot be read any more counts too, so that it makes room for others."""
    call = with_turn(call_id)
    if call is None or call.outcome != Call.Outcome.UNKNOWN:
        return None
    sent = as_sent(call)
    if sent is not None and sent.tool.lookup is None:
        return None
    same = Call.objects.filter(pk=call_id, outcome=Call.Outcome.UNKNOWN, lookups=call.lookups)
    return sent if same.update(lookups=F("lookups") + 1, looked_up_at=AccordNow()) else None


def with_turn(call_id: UUID) -> Call | None:
    """Return a call with its turn and thread."""
    return Call.objects.select_related("turn__thread").defer("turn__history").filter(pk=call_id).first()


def as_sent(call: Call) -> Sent | None:
    """Return a call as its tool is given it; None when no pack of this server can read it any more."""
    tool, turn = TOOLS.get(call.called_as), call.turn
    if tool is None:
        return None
    try:
        args = tool.args.model_validate_json(call.args)
    except ValidationError:
        log.warning("call_not_read", tool=tool.name, call=str(call.id))
        return None
    ctx = ToolContext(
        actor=acting(turn), workspace=turn.thread.workspace_id, thread=turn.thread_id, turn=turn.id,
        said=_nothing, key=call.key,
    )  # fmt: skip
    return Sent(call, tool, ctx, args)


async def looked_up(sent: Sent) -> Looked:
    """Ask the other side what became of a call. Whatever goes wrong, it is then still not known."""
    tool = sent.tool
    if tool.lookup is None:
        return Looked(None)
    try:
        async with asyncio.timeout(min(tool.timeout, PATIENCE)):
            found: object = await tool.lookup(sent.ctx, sent.args)
    except (TimeoutError, ConnectionError):
        return Looked(None)
    except Exception:
        log.exception("lookup_raised", tool=tool.name, call=str(sent.call.id))
        return Looked(None)
    if not isinstance(found, Looked):
        log.error("lookup_returned_none", tool=tool.name, call=str(sent.call.id))
        return Looked(None)
    return found


def settled(sent: Sent, looked: Looked, *, actor: Actor) -> bool:
    """Record what a lookup found of a call, with the routes that its result names; say whether this settled it. A call
    that the other side does not have is settled only when it can no longer arrive there."""
    if looked.happened is None:
        return False
    call, tool = sent.call, sent.tool
    with thread_locked(call.turn.thread_id) as locked:
        if looked.happened:
            to = returned(tool.label, looked.result)
            moved = call_moved(locked, call, before="unknown", to=to, actor=actor, result=to.result)
            if moved and tool.routes:
                routing.routes_stored(call.turn, sent.ctx.workspace, call, tool.routes)
            return moved
        if call.sent_at and locked.now < call.sent_at + MAY_ARRIVE:
            return False
        because = speakable(looked.because)[:LONGEST_BECAUSE] or f"{tool.label} was not done."
        to = Outcome("failed", "did_not_happen", because)
        return call_moved(locked, call, before="unknown", to=to, actor=actor)


def _unknown() -> QuerySet[Call]:
    looked_up = [name for name, tool in TOOLS.items() if tool.lookup]
    return Call.objects.filter(outcome=Call.Outcome.UNKNOWN, called_as__in=looked_up)


def _ids(found: QuerySet[Call]) -> list[UUID]:
    """Those never looked up first, then those looked up longest ago."""
    by_turns = found.order_by(F("looked_up_at").asc(nulls_first=True), "sent_at")
    return list(by_turns.values_list("id", flat=True)[:AT_ONCE])


def _nothing(text: str) -> str:
    return ""
