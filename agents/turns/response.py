"""A model's response as a turn keeps it: text that can be written down, and calls that can be told apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any
from uuid import uuid4

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart

LONGEST_ID = 200
"""Characters of a call's id."""


def keepable(response: ModelResponse, before: Iterable[ModelMessage]) -> ModelResponse:
    """Return a response without half surrogate pairs, each of whose calls has an id of its own (FAILURES J7, O1).

    Arguments go on meaning what they meant: half a pair is written as JSON escapes it, and is refused where they are
    read. An id that another call of the turn has, or that is too long or not printable, is replaced.

    Args:
        before: the turn's own messages so far.
    """
    taken = {part.tool_call_id for message in before for part in message.parts if isinstance(part, ToolCallPart)}
    parts: list[Any] = []
    for part in response.parts:
        found: Any = _written(part)
        if isinstance(found, ToolCallPart):
            found = replace(found, tool_call_id=_own_id(found.tool_call_id, taken))
            taken.add(found.tool_call_id)
        parts.append(found)
    return replace(response, parts=parts)


def calls_of(response: ModelResponse) -> Sequence[ToolCallPart]:
    """Return the calls of a response, in order."""
    return [part for part in response.parts if isinstance(part, ToolCallPart)]


def _written(part: Any) -> Any:
    changes: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, str) and not _is_whole(value):
            errors = "backslashreplace" if field.name == "args" else "replace"
            changes[field.name] = value.encode("utf-8", errors).decode()
    if isinstance(part, ToolCallPart) and isinstance(part.args, dict):
        changes["args"] = json.dumps(part.args)
    return replace(part, **changes)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _own_id(id: str, taken: set[str]) -> str:
    fits = 0 < len(id) <= LONGEST_ID and id.isascii() and id.isprintable()
    return id if fits and id not in taken else f"call-{uuid4()}"
