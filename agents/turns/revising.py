"""What a turn is told of the one it revises: each write that the old plan made, and what it came to (DESIGN 6)."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage, ModelRequest

from agents.models.turns import Call, Turn
from agents.turns import history
from permissions.actors import same_author

ABOUT = "what was done before the request changed"

MOST_TOLD = 50
"""Calls told of, at most: the newest."""

LONGEST = 2_000
"""Characters told of one call's arguments, and of its result, each."""

_HEAD = (
    "This request changes an earlier one, and the work for that was stopped. Nothing of it is undone by itself. "
    "What it did:"
)
_NOTHING = "This request changes an earlier one, and the work for that was stopped before it changed anything."


def revised_by(turn: Turn) -> Turn | None:
    """Return the turn whose work a turn, or the one it continues or restarts, revises; None where it revises none, or
    goes on for another author, to whom the old turn's results are not shown."""
    revised = Turn.objects.filter(revised_by=turn.root_id).defer("history").first()
    return revised if revised and same_author(revised.origin, turn.origin) else None


def written(revised: Turn) -> list[Call]:
    """Return the writes of a turn and its lineage, the newest of them, in order."""
    calls = Call.objects.filter(turn__root_id=revised.root_id, effect="write").exclude(outcome=None)
    newest = calls.select_related("turn").defer("turn__history").order_by("-turn__number", "-number")
    return list(reversed(newest[:MOST_TOLD]))


def account(turn: Turn) -> list[ModelMessage]:
    """Return the account of the old plan as labelled data, for the turn that revises it; nothing for any other."""
    revised = revised_by(turn)
    if revised is None:
        return []
    calls = written(revised)
    text = "\n".join([_HEAD, *map(_line, calls)]) if calls else _NOTHING
    return [ModelRequest(parts=history.account(text, about=ABOUT).parts)]


def _line(call: Call) -> str:
    told = [f"- {call.name} {call.tool} {call.args[:LONGEST]}: {call.outcome}"]
    told += [call.because] if call.because else []
    told += [f"result {call.result[:LONGEST]}"] if call.result else []
    told += ["a source reported that it is gone"] if call.gone_at else []
    return "; ".join(told)
