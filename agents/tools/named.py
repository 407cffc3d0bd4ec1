"""Calls by the names they have in their thread: ``T2-1`` is the first call of its second turn (DESIGN 6, Revise)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import JsonValue, TypeAdapter

from agents.models.turns import Call

NAME = r"^T\d{1,9}-\d{1,9}$"

_JSON: TypeAdapter[Any] = TypeAdapter(JsonValue)


def call_named(thread: UUID, name: str) -> Call | None:
    """Return the call of a thread that a name of the form ``NAME`` is of; None where there is none."""
    turn, number = name.removeprefix("T").split("-")
    found = Call.objects.filter(turn__thread_id=thread, turn__number=int(turn), number=int(number))
    return found.select_related("turn").defer("turn__history").first()


def as_undone(call: Call) -> dict[str, JsonValue]:
    """Return what undoing a call has come to: which it was, what it was asked for, and what it had returned."""
    return {
        "undone": call.name, "action": call.tool.replace("_", " "), "args": _JSON.validate_json(call.args),
        "result": _JSON.validate_json(call.result or "null"),
    }  # fmt: skip
