"""The one way of a call: schema → decide → consent → stored with its key → sent → outcome (DESIGN 7).

Who may use a tool is decided in the transaction that stores the call; what a tool of ours does is decided again by the
service that it calls, on the object it touches, as the agent for its person. A local tool's effect and outcome are one
transaction; any other call is stored before it is sent, and what becomes of it is stored after, so that a crash between
the two leaves ``unknown`` and never a guess.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import structlog
from pydantic import BaseModel, JsonValue
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from agents.errors import AgentsError, LeaseLost
from agents.models.actions import PendingAction
from agents.models.turns import Call, Question
from agents.replies.check import held
from agents.replies.record import Record
from agents.tools import consent, rights, routing, undoing
from agents.tools.asked import Made, checked, row_of
from agents.tools.contract import Asks, Tool, ToolContext
from agents.tools.outcomes import Outcome, returned, told
from agents.tools.settling import call_settle
from agents.turns import ending, lease
from agents.turns.boundary import Work
from agents.turns.spoken import earlier_calls, record_of, rulings_logged
from collab.db import in_db
from collab.errors import CollabError
from collab.events import CallEnded, CallStarted
from collab.log import Locked, append, thread_locked
from permissions.errors import PermissionsError

log = structlog.get_logger(__name__)

SETTLED = ["tool", "outcome", "reason", "because", "result", "moved_from", "finished_at"]
"""What settling a call writes of its row."""

WRITES = [*SETTLED, "sent_at", "carried_by"]
"""What carrying a call out writes of its row: who shared it, or let it be done again, is written by others."""


async def carry_out(work: Work, part: ToolCallPart, *, step: int, number: int) -> ToolReturnPart | None:
    """Carry out one call that the model made, and return what the model is told; None for a question, which is told
    once it is answered.

    Args:
        step: which response of the turn made it.
        number: its place among the turn's calls.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    row = row_of(work, part, step=step, number=number)
    made = checked(work, part, row)
    if isinstance(made, Outcome):
        await in_db(_refuse, work, row, made)
    elif earlier := _reusable(work, made):
        return await _again(work, made, earlier, part)
    elif consent.waits(made.tool, asks_first=work.turn.asks_first, steps=len(work.steps)):
        await in_db(_hold, work, made)
    else:
        await run(work, made)
    if row.outcome is None:
        return None
    return told(row, tool_name=row.called_as, tool_call_id=row.model_call_id)


async def run(work: Work, made: Made) -> None:
    """Send a call, unless it may not be sent, and store what it came to.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    if made.tool.local:
        await in_db(_run_local, work, made)
    elif await in_db(_store_sent, work, made):
        outcome = await _sent(made.tool, _context(work, made), made.args)
        await in_db(_store_outcome, work, made, outcome)
        if outcome.outcome == Call.Outcome.UNKNOWN and made.tool.lookup and await call_settle(made.row.id):
            await in_db(_read_again, work, made.row)


def _read_again(work: Work, row: Call) -> None:
    """Take in what a lookup found of the call that was stored last."""
    row.refresh_from_db(fields=SETTLED)
    work.records[-1] = record_of(row)


def _reusable(work: Work, made: Made) -> Call | None:
    """A call that the turn's lineage made already: the same tool with the same arguments, each used once, in order."""
    row = made.row
    for earlier in work.orphans:
        if (earlier.called_as, earlier.args) == (row.called_as, row.args):
            work.orphans.remove(earlier)
            return earlier
    return None


async def _again(work: Work, made: Made, earlier: Call, part: ToolCallPart) -> ToolReturnPart:
    """Tell a call of the lineage again. One whose outcome is not known is sent again where its key makes that safe."""
    if earlier.outcome == Call.Outcome.UNKNOWN and made.tool.keyed:
        earlier.carried_by = work.turn
        await run(work, Made(earlier, made.tool, made.args, frozen=True))
    elif earlier.id not in work.recorded:
        work.records.append(record_of(earlier))
    if earlier.outcome == Call.Outcome.PENDING_CONFIRMATION:
        work.steps.append(earlier)
    return told(earlier, tool_name=part.tool_name, tool_call_id=part.tool_call_id)


def _may(locked: Locked, work: Work, made: Made) -> tuple[Outcome | None, int]:
    """Return why a call may not be sent at this moment, if it may not, and the grants epoch this was decided at."""
    refusal, epoch = rights.use_decided(work.turn, work.workspace, made.tool)
    if refusal is None and not made.frozen:
        refusal = rights.barred(locked, work.turn, work.workspace, made.tool, made.row.args)
    if refusal is None and made.stands:
        refusal = made.stands()
    return refusal, epoch


def _opened(locked: Locked, work: Work, made: Made) -> bool:
    """Begin a call, or refuse it; say whether it is carried out. One that was settled meanwhile is left as it is."""
    row = made.row
    lease.fence(locked, work.turn)
    if row.outcome is not None and not still(row):
        row.refresh_from_db(fields=SETTLED)
        work.records.append(record_of(row))
        return False
    refusal, epoch = _may(locked, work, made)
    begin(locked, work, row, epoch)
    if refusal:
        _finish(locked, work, made, refusal)
    return refusal is None


def still(row: Call) -> bool:
    """Say whether a stored call has the outcome that it is thought to have; its thread is locked."""
    return Call.objects.filter(pk=row.pk, outcome=row.outcome).exists()


def _run_local(work: Work, made: Made) -> None:
    with thread_locked(work.turn.thread_id) as locked:
        if _opened(locked, work, made):
            _finish(locked, work, made, _effect(work, made))


def _effect(work: Work, made: Made) -> Outcome:
    """Run a local tool inside a savepoint: what it refuses leaves nothing behind."""
    try:
        with thread_locked(work.turn.thread_id):
            return returned(made.tool.label, made.tool.fn(_context(work, made), **_arguments(made.args)))
    except PermissionsError as refusal:
        return Outcome("refused", refusal.code, refusal.because)
    except (CollabError, AgentsError) as failure:
        if isinstance(failure, LeaseLost):
            raise
        return Outcome("failed", failure.code, failure.because)


async def _sent(tool: Tool, ctx: ToolContext, args: BaseModel) -> Outcome:
    try:
        async with asyncio.timeout(tool.timeout):
            value = await tool.fn(ctx, **_arguments(args))
    except (TimeoutError, ConnectionError) as lost:
        how = "no answer came in time" if isinstance(lost, TimeoutError) else "the connection broke before an answer"
        return Outcome("unknown", "no_answer", f"{tool.label}: {how}.")
    except PermissionsError as refusal:
        return Outcome("refused", refusal.code, refusal.because)
    except (CollabError, AgentsError) as failure:
        return Outcome("failed", failure.code, failure.because)
    except Exception:
        log.exception("tool_raised", tool=tool.name, turn=str(ctx.turn))
        return Outcome("unknown", "tool_error", f"{tool.label} broke off; nobody knows whether it was done.")
    return returned(tool.label, value)


def _store_sent(work: Work, made: Made) -> bool:
    """Store a call that is about to be sent, or its refusal; say whether it is sent."""
    with thread_locked(work.turn.thread_id) as locked:
        if opened := _opened(locked, work, made):
            _saved(made.row)
        return opened


def _store_outcome(work: Work, made: Made, outcome: Outcome) -> None:
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        _finish(locked, work, made, outcome)


def _hold(work: Work, made: Made) -> None:
    """Store a call that waits for consent: a step of the action that the turn asks for as it ends or pauses."""
    turn = work.turn
    with thread_locked(turn.thread_id) as locked:
        refusal, epoch = _may(locked, work, made)
        asked = consent.addressee(turn.origin, turn.principal)
        if refusal is None and asked is None:
            refusal = Outcome("refused", "no_one_to_ask", "It needs a person's consent, and there is no one to ask.")
        if refusal is None and max(len(work.steps), _open_actions(locked)) >= consent.MOST_OPEN:
            refusal = Outcome("refused", "too_many_actions", "Too much waits for consent in this thread already.")
        begin(locked, work, made.row, epoch)
        waits = Outcome("pending_confirmation", "consent", "It is done once a person has approved it, and not before.")
        _finish(locked, work, made, refusal or waits)
        if refusal is None:
            work.steps.append(made.row)


def _open_actions(locked: Locked) -> int:
    return PendingAction.objects.filter(thread_id=locked.row.id, state=PendingAction.State.OPEN).count()


def _refuse(work: Work, row: Call, refusal: Outcome) -> None:
    with thread_locked(work.turn.thread_id) as locked:
        begin(locked, work, row)
        settle(locked, work, row, refusal)


def begin(locked: Locked, work: Work, row: Call, grants_epoch: int = 0) -> None:
    """Record in the log that a call begins, or, where it has an outcome, that it begins again."""
    lease.fence(locked, work.turn)
    row.sent_at = locked.now
    if row.outcome is not None:
        row.moved_from, row.outcome = row.outcome, None
        row.reason = row.because = ""
    event = CallStarted(call=row.id, tool=row.called_as)
    append(locked, event, actor=ending.acting(work.turn), turn=work.turn.id, grants_epoch=grants_epoch)


def _finish(locked: Locked, work: Work, made: Made, outcome: Outcome) -> None:
    if outcome.asks is not None:
        _saved(made.row)
        _ask(locked, work, made.row, outcome.asks)
        return
    settle(locked, work, made.row, outcome)
    if outcome.outcome == Call.Outcome.DONE and made.tool.routes:
        routing.routes_stored(work.turn, work.workspace, made.row, made.tool.routes)


def settle(locked: Locked, work: Work, row: Call, outcome: Outcome) -> None:
    """Store what a call came to, in the log too, and keep it for what the turn says."""
    row.tool = outcome.recorded_as or row.called_as
    row.reason, row.because, row.result = outcome.reason, outcome.because, outcome.result
    row.outcome, row.finished_at = outcome.outcome, locked.now
    _saved(row)
    ended = CallEnded(call=row.id, outcome=outcome.outcome, reason=outcome.reason)
    append(locked, ended, actor=ending.acting(work.turn), turn=work.turn.id)
    work.records.append(record_of(row))


def _saved(row: Call) -> None:
    row.save(update_fields=None if row._state.adding else WRITES)


def _ask(locked: Locked, work: Work, row: Call, asks: Asks) -> None:
    question = Question.objects.create(
        turn=work.turn, call=row, seq=locked.row.head_seq, text=asks.text, choices=list(asks.choices),
        asked_at=locked.now,
    )  # fmt: skip
    work.questions.append(question.id)


def _context(work: Work, made: Made) -> ToolContext:
    """Return what a tool is given. What a person approved is said as they read it; anything else passes the check."""
    turn, said = work.turn, str if made.stands else partial(_said, work)
    return ToolContext(
        actor=ending.acting(turn), workspace=work.workspace, thread=turn.thread_id, turn=turn.id,
        said=said, key=made.row.key, within=rights.within_of(turn, work.names), undoes=partial(_undoes, work),
    )  # fmt: skip


async def _undoes(work: Work, name: str, tool: str) -> JsonValue:
    """Take back what an earlier call did, and have what the turn says from here on held to that."""
    call, came = await undoing.undone_in_turn(ending.acting(work.turn), name, tool)
    if any(record.key == call.key for record in work.records):
        work.records.append(record_of(call))
    else:
        work.remembers = False  # it is of an earlier turn, whose calls are read again where they matter
    return undoing.told(call, came)


def _said(work: Work, text: str) -> str:
    if not text or not work.own_words:
        return ""
    work.wording.read()
    checked = held(text, Record(work.records, earlier_calls(work.turn)), work.wording.setting)
    rulings_logged(work.turn, checked.rulings)
    return checked.text


def _arguments(args: BaseModel) -> dict[str, Any]:
    return {name: getattr(args, name) for name in type(args).model_fields}
