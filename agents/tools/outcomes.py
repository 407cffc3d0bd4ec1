"""What a call came to, as it is recorded and as the model is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_ai.messages import ToolReturnPart

from agents.models.turns import Call
from agents.tools.contract import Asks, Recorded
from collab.canonical import BadJson, canonical, parse_json

LONGEST_RESULT = 262_144
"""Bytes of a result that is kept; of a longer one it is recorded that there was one."""

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An outcome of DESIGN 2: its reason as a code, the same as a sentence, and what came back as canonical JSON."""

    outcome: str
    reason: str = ""
    because: str = ""
    result: str = ""
    asks: Asks | None = None
    recorded_as: str = ""


def returned(label: str, value: Any) -> Outcome:
    """Return the outcome of a tool that returned: it did what it does, whatever its result is worth.

    Args:
        label: what people call the tool.
    """
    match value:
        case Asks():
            return Outcome("done", asks=value)
        case Recorded(tool=name, result=result):
            return Outcome("done", result=canonical(result), recorded_as=name)
    try:
        plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else _JSON.validate_python(value)
        text = "" if plain is None else canonical(plain)
        parse_json(text or "null", max_bytes=LONGEST_RESULT)
    except (BadJson, ValidationError, ValueError, RecursionError):
        return Outcome("done", "bad_result", f"{label} returned something that cannot be kept.")
    return Outcome("done", result=text)


def told(row: Call, *, tool_name: str, tool_call_id: str) -> ToolReturnPart:
    """Return what the model is told of a call, as the answer to the request of these ids."""
    content: JsonValue = _JSON.validate_json(row.result) if row.result else None
    outcome = row.outcome or Call.Outcome.UNKNOWN.value
    if outcome != Call.Outcome.DONE or row.reason:
        content = {str(outcome): row.reason, "summary": row.because}
    return ToolReturnPart(tool_name=tool_name, tool_call_id=tool_call_id, content=content)
