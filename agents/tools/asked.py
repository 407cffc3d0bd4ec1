"""What a model asked for, read against the tool's closed schema: the first step of a call (DESIGN 7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from pydantic_ai.messages import ToolCallPart

from agents.models.turns import Call
from agents.tools.contract import LONGEST_ARGS, Tool, written
from agents.tools.outcomes import Outcome
from agents.tools.registry import TOOLS
from agents.turns.boundary import Work
from collab.canonical import BadJson, canonical, parse_json
from collab.text import speakable
from permissions.ids import new_id

KEPT_BAD_ARGS = 2_000
"""Characters kept of arguments that are refused, for people to see what was tried."""

LONGEST_FAULT = 500
"""Characters of what is said about arguments that are refused: it may repeat names the model made up."""


@dataclass(frozen=True, slots=True)
class Made:
    """A call that is about to be made: its row, its tool, its checked arguments, and what it may use of the record.

    Attributes:
        frozen: it was allowed before, as a step of an approved action or as what is sent again with its key: who may is
            asked again, consent and limits are not.
        stands: returns why it is refused though all else allows it; read in the transaction that sends it.
    """

    row: Call
    tool: Tool
    args: BaseModel
    frozen: bool = False
    stands: Callable[[], Outcome | None] | None = None


def checked(work: Work, part: ToolCallPart, row: Call) -> Made | Outcome:
    """Return the call with its arguments checked, or its refusal. What goes to another side is kept as the tool reads
    it, with what the model left out, so that one operation is written one way and consent shows all of it."""
    tool = TOOLS.get(part.tool_name)
    if tool is None:
        return Outcome("refused", "unknown_tool", f"There is no tool called {row.tool[:60]}.")
    row.effect = tool.effect
    if work.reports:
        return Outcome("refused", "report_only", "This turn only tells what the approved steps came to.")
    if tool.asks and not work.own_words:
        return Outcome("refused", "no_own_words", _no_own_words(work))
    try:
        raw = parse_json(_as_written(part), max_bytes=LONGEST_ARGS)
        args = tool.args.model_validate_json(canonical(raw))
        row.args = written(tool, raw)
    except (BadJson, ValidationError) as bad:
        return Outcome("refused", "argument_schema", _explain(bad))
    return Made(row, tool, args)


def row_of(work: Work, part: ToolCallPart, *, step: int, number: int) -> Call:
    """Return the row of a call that the model made, not stored yet, with its arguments as they were written."""
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


def _no_own_words(work: Work) -> str:
    name = work.names.get(work.turn.agent_id, "The agent")
    return f"{name} may not ask in its own words: people read what its calls came to, and nothing else."


def _explain(bad: BadJson | ValidationError) -> str:
    if isinstance(bad, BadJson):
        return f"The arguments are not valid: {bad}."
    faults = [f"{'.'.join(map(str, error['loc'])) or 'arguments'}: {error['msg']}" for error in bad.errors()[:3]]
    return f"The arguments are not valid: {'; '.join(faults)[:LONGEST_FAULT]}."
