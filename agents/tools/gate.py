"""The one way of a call: schema → decide → stored with its key → run → outcome (DESIGN 7).

A tool's right is decided by the service that it calls, on the object it touches, as the agent for its person. A
local tool's effect and outcome are one transaction; any other call is stored before it is sent, and what becomes of
it is stored after, so that a crash between the two leaves ``unknown`` and never a guess.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from agents.errors import AgentsError, LeaseLost
from agents.models.turns import Call, Question, Turn
from agents.replies.check import held
from agents.replies.record import Record
from agents.tools.contract import Asks, Recorded, Tool, ToolContext
from agents.tools.registry import TOOLS
from agents.turns import ending, lease
from agents.turns.boundary import Work
from agents.turns.spoken import earlier_calls, record_of, rulings_logged
from collab.canonical import BadJson, canonical, parse_json
from collab.db import in_db
from collab.errors import CollabError
from collab.events import CallEnded, CallStarted
from collab.log import Locked, append, thread_locked
from collab.text import speakable
from permissions.errors import PermissionsError
from permissions.ids import new_id

log = structlog.get_logger(__name__)

LONGEST_ARGS = 300_000
"""Bytes of a call's arguments; a call with more is refused."""

KEPT_BAD_ARGS = 2_000
"""Characters kept of arguments that are refused, for people to see what was tried."""

LONGEST_FAULT = 500
"""Characters of what is said about arguments that are refused: it may repeat names the model made up."""

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that is about to be made: its row, its tool and its checked arguments."""

    row: Call
    tool: Tool
    args: BaseModel


@dataclass(frozen=True, slots=True)
class _Outcome:
    outcome: str
    reason: str = ""
    because: str = ""
    result: JsonValue = None
    asks: Asks | None = None
    recorded_as: str = ""


async def carry_out(work: Work, part: ToolCallPart, *, step: int, number: int) -> ToolReturnPart | None:
    """Carry out one call that the model made, and return what the model is told; None for a question, which is told
    once it is answered.

    Args:
        step: which response of the turn made it.
        number: its place among the turn's calls.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    row = _row(work, part, step=step, number=number)
    tool = TOOLS.get(part.tool_name)
    if tool is None:
        return await in_db(_refuse, work, row, "unknown_tool", f"There is no tool called {row.tool[:60]}.")
    row.effect = tool.effect
    if tool.asks and not work.own_words:
        return await in_db(_refuse, work, row, "no_own_words", _no_own_words(work))
    try:
        raw = parse_json(_as_written(part), max_bytes=LONGEST_ARGS)
        args = tool.args.model_validate_json(canonical(raw))
        row.args = canonical(raw)
    except (BadJson, ValidationError) as bad:
        return await in_db(_refuse, work, row, "argument_schema", _explain(bad))
    if earlier := _reusable(work, row):
        work.records.append(record_of(earlier))
        return _told(part, earlier)
    made = _Made(row, tool, args)
    return await (in_db(_run_local, work, made) if tool.local else _send(work, made))


def _row(work: Work, part: ToolCallPart, *, step: int, number: int) -> Call:
    id = new_id()
    name = speakable(part.tool_name)[:100]
    return Call(
        id=id, turn=work.turn, step=step, number=number, tool=name, called_as=name, effect="none",
        args=speakable(_as_written(part)[:KEPT_BAD_ARGS]),
        key=f"{work.turn.thread_id}:{id}", model_call_id=part.tool_call_id,
    )  # fmt: skip


def _as_written(part: ToolCallPart) -> str:
    """The arguments as the model wrote them: read leniently, a repeated key or broken JSON would pass for something."""
    if isinstance(part.args, str):
        return part.args.strip() or "{}"
    return json.dumps(part.args or {})


def _run_local(work: Work, made: _Made) -> ToolReturnPart | None:
    with thread_locked(work.turn.thread_id) as locked:
        _begin(locked, work, made.row)
        outcome = _effect(work, made)
        return _finish(locked, work, made.row, outcome)


def _effect(work: Work, made: _Made) -> _Outcome:
    """Run a local tool inside a savepoint: what it refuses leaves nothing behind."""
    try:
        with thread_locked(work.turn.thread_id):
            return _outcome_of(made.tool.fn(_context(work), **_arguments(made.args)))
    except PermissionsError as refusal:
        return _Outcome("refused", refusal.code, refusal.because)
    except (CollabError, AgentsError) as failure:
        if isinstance(failure, LeaseLost):
            raise
        return _Outcome("failed", failure.code, failure.because)


async def _send(work: Work, made: _Made) -> ToolReturnPart | None:
    await in_db(_store_sent, work, made.row)
    try:
        async with asyncio.timeout(made.tool.timeout):
            outcome = _outcome_of(await made.tool.fn(_context(work), **_arguments(made.args)))
    except (TimeoutError, ConnectionError) as lost:
        outcome = _Outcome("unknown", "no_answer", f"{made.tool.label}: no answer came ({type(lost).__name__}).")
    except PermissionsError as refusal:
        outcome = _Outcome("refused", refusal.code, refusal.because)
    except (CollabError, AgentsError) as failure:
        outcome = _Outcome("failed", failure.code, failure.because)
    except Exception:
        log.exception("tool_raised", tool=made.tool.name, turn=str(work.turn.id))
        outcome = _Outcome("unknown", "tool_error", f"{made.tool.label} broke off; nobody knows whether it was done.")
    return await in_db(_store_outcome, work, made.row, outcome)


def _store_sent(work: Work, row: Call) -> None:
    with thread_locked(work.turn.thread_id) as locked:
        _begin(locked, work, row)
        row.save(force_insert=True)


def _store_outcome(work: Work, row: Call, outcome: _Outcome) -> ToolReturnPart | None:
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        return _finish(locked, work, row, outcome)


def _refuse(work: Work, row: Call, reason: str, because: str) -> ToolReturnPart | None:
    with thread_locked(work.turn.thread_id) as locked:
        _begin(locked, work, row)
        return _finish(locked, work, row, _Outcome("refused", reason, because))


def _begin(locked: Locked, work: Work, row: Call) -> None:
    lease.fence(locked, work.turn)
    row.sent_at = locked.now
    append(locked, CallStarted(call=row.id, tool=row.called_as), actor=ending.acting(work.turn), turn=work.turn.id)


def _finish(locked: Locked, work: Work, row: Call, outcome: _Outcome) -> ToolReturnPart | None:
    row.tool = outcome.recorded_as or row.called_as
    row.reason, row.because = outcome.reason, outcome.because
    row.result = "" if outcome.result is None else canonical(outcome.result)
    if outcome.asks is not None:
        row.save()
        _ask(locked, work, row, outcome.asks)
        return None
    row.outcome, row.finished_at = outcome.outcome, locked.now
    row.save()
    ended = CallEnded(call=row.id, outcome=outcome.outcome, reason=outcome.reason)
    append(locked, ended, actor=ending.acting(work.turn), turn=work.turn.id)
    work.records.append(record_of(row))
    return _answer(row, outcome)


def _ask(locked: Locked, work: Work, row: Call, asks: Asks) -> None:
    question = Question.objects.create(
        turn=work.turn, call=row, seq=locked.row.head_seq, text=asks.text, choices=list(asks.choices),
        asked_at=locked.now,
    )  # fmt: skip
    work.questions.append(question.id)


def _answer(row: Call, outcome: _Outcome) -> ToolReturnPart:
    content: JsonValue = outcome.result
    if outcome.outcome != "done":
        content = {outcome.outcome: outcome.reason, "summary": outcome.because}
    return ToolReturnPart(tool_name=row.called_as, tool_call_id=row.model_call_id, content=content)


def _outcome_of(value: Any) -> _Outcome:
    match value:
        case Asks():
            return _Outcome("done", asks=value)
        case Recorded(tool=name, result=result):
            return _Outcome("done", result=result, recorded_as=name)
        case BaseModel():
            return _Outcome("done", result=value.model_dump(mode="json"))
        case _:
            return _Outcome("done", result=_JSON.validate_python(value))


def _reusable(work: Work, row: Call) -> Call | None:
    """A continued turn's call that its lineage made already, after the last boundary: the same tool with the same
    arguments, each used once, in order. It is told again and not done again (DESIGN 7, keys)."""
    for earlier in work.orphans:
        if (earlier.called_as, earlier.args) == (row.called_as, row.args):
            work.orphans.remove(earlier)
            return earlier
    return None


def _told(part: ToolCallPart, earlier: Call) -> ToolReturnPart:
    result = _JSON.validate_json(earlier.result) if earlier.result else None
    told = _Outcome(earlier.outcome or "unknown", earlier.reason, earlier.because, result)
    answer = _answer(earlier, told)
    return ToolReturnPart(tool_name=part.tool_name, tool_call_id=part.tool_call_id, content=answer.content)


def _context(work: Work) -> ToolContext:
    turn = work.turn
    return ToolContext(
        actor=ending.acting(turn), workspace=work.workspace, thread=turn.thread_id, turn=turn.id,
        said=partial(_said, work),
    )  # fmt: skip


def _said(work: Work, text: str) -> str:
    if not text or not work.own_words:
        return ""
    work.wording.read()
    checked = held(text, Record(work.records, earlier_calls(work.turn)), work.wording.setting)
    rulings_logged(work.turn, checked.rulings)
    return checked.text


def _no_own_words(work: Work) -> str:
    name = work.names.get(work.turn.agent_id, "The agent")
    return f"{name} may not ask in its own words: people read what its calls came to, and nothing else."


def _arguments(args: BaseModel) -> dict[str, Any]:
    return {name: getattr(args, name) for name in type(args).model_fields}


def _explain(bad: BadJson | ValidationError) -> str:
    if isinstance(bad, BadJson):
        return f"The arguments are not valid: {bad}."
    faults = [f"{'.'.join(map(str, error['loc'])) or 'arguments'}: {error['msg']}" for error in bad.errors()[:3]]
    return f"The arguments are not valid: {'; '.join(faults)[:LONGEST_FAULT]}."


def done_after_boundary(turn_id: UUID, steps: int) -> list[Call]:
    """Return the calls that an abandoned turn had settled after its last saved boundary, in order; also those of the
    turns it continued itself without reaching another boundary: what it only told again has no row of its own.

    Args:
        steps: the boundaries that were saved.
    """
    lineage = [turn_id]
    while before := Turn.objects.filter(continued_by=lineage[-1], steps=steps).values_list("id", flat=True).first():
        lineage.append(before)
    settled = Call.objects.filter(turn__in=lineage, step__gt=steps, outcome__in=["done", "unknown"], question=None)
    return list(settled.order_by("turn__number", "number"))
