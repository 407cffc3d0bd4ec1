"""What the record says: the calls of a turn and of its thread, as a reply is held to them (REPLIES, Outcomes)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast, get_args

from agents.replies.evidence import Evidence, evidence_of

Outcome = Literal["done", "failed", "refused", "pending_confirmation", "unknown", "undone", "not_attempted"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
LONGEST_REASON = 300
"""Characters of a reason that a phrasing shows."""


@dataclass(frozen=True, eq=False)
class CallRecord:
    """One call and what became of it.

    Attributes:
        args: as they were sent.
        result: what came back: JSON, or JSON as text, or text.
        reason: why it was refused or failed, for people; "" when the record has none.
        effect: ``none``, ``read`` or ``write``; "" when only its tool's name tells.
        key: tells it from every other call; "" where nothing is ever recorded of it again.
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome = "done"
    result: Any = None
    reason: str = ""
    effect: str = ""
    key: str = ""

    @cached_property
    def returned(self) -> Any:
        """The result with JSON text read."""
        return read_json(self.result)

    @cached_property
    def evidence(self) -> Evidence:
        """The values it was sent and returned, found once."""
        return evidence_of(self.args, self.returned)

    @cached_property
    def sent(self) -> Evidence:
        """The values of its arguments alone."""
        return evidence_of(self.args, None)

    @cached_property
    def because(self) -> str:
        """Why it was not done, in a line: the record's reason, or the error that came back."""
        reason = self.reason
        if not reason and self.outcome in {"failed", "refused"}:
            returned = self.returned
            if isinstance(returned, dict):
                returned = next(
                    (returned[key] for key in ("error", "reason", "message", "code") if returned.get(key)), ""
                )
            reason = returned if isinstance(returned, str) else ""
            reason = reason.removeprefix("Error:").removeprefix("error:")
        return " ".join(reason.split())[:LONGEST_REASON].strip().rstrip(".")


@dataclass(frozen=True)
class Record:
    """A turn's calls in the order they were made, and its thread's earlier ones; of what was recorded of one call, the
    last counts."""

    calls: Sequence[CallRecord] = ()
    earlier: Sequence[CallRecord] = ()

    def __post_init__(self) -> None:
        last = {call.key: call for call in (*self.earlier, *self.calls) if call.key}
        for name in ("calls", "earlier"):
            kept = tuple(call for call in getattr(self, name) if last.get(call.key, call) is call)
            object.__setattr__(self, name, kept)

    @cached_property
    def all(self) -> tuple[CallRecord, ...]:
        """Every call of the thread, oldest first."""
        return (*self.earlier, *self.calls)


def read_json(value: Any) -> Any:
    """Return a value with the JSON that it is the text of read."""
    if isinstance(value, str) and value[:1] in {"{", "[", '"'}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def call_of(row: Mapping[str, Any]) -> CallRecord:
    """Return the call that a row of cases holds.

    Raises:
        ValueError: it has no name, or an outcome nobody knows.
    """
    name, outcome, args = row.get("name"), row.get("outcome", "done"), read_json(row.get("args") or {})
    if not isinstance(name, str) or not name:
        raise ValueError("a call has no name")
    if outcome not in OUTCOMES:
        raise ValueError(f"no outcome is called {outcome!r}")
    reason = row.get("reason") or row.get("because") or ""
    return CallRecord(
        name, args if isinstance(args, dict) else {"": args}, cast("Outcome", outcome), row.get("result"), str(reason),
        str(row.get("effect") or ""),
    )  # fmt: skip


def record_of(row: Mapping[str, Any]) -> Record:
    """Return the record that a row of cases holds (REPLIES, Cases)."""
    return Record(
        tuple(call_of(call) for call in row.get("calls") or ()),
        tuple(call_of(call) for call in row.get("earlier") or ()),
    )
