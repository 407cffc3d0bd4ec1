"""Which sentences an outcome lets stand (REPLIES, Outcomes)."""

from __future__ import annotations

from collections.abc import Mapping

from agents.replies.acts import Act
from agents.replies.record import Outcome

_ALWAYS: frozenset[Act] = frozenset({"question", "not_yet_known", "mention"})
ALLOWED: Mapping[Outcome, frozenset[Act]] = {
    "done": _ALWAYS | {"done"},
    "failed": _ALWAYS | {"not_done"},
    "refused": _ALWAYS | {"not_done"},
    "pending_confirmation": _ALWAYS | {"not_done", "promise"},
    "unknown": _ALWAYS,
    "undone": _ALWAYS | {"done", "not_done"},
    "not_attempted": _ALWAYS | {"not_done"},
}


def allows(outcome: Outcome, act: Act, *, is_passive: bool = False) -> bool:
    """Say whether a sentence may say this of a call with this outcome.

    After ``done`` a passive future ("will be processed in 5 to 7 days") is a mention and not a promise.
    """
    return act in ALLOWED[outcome] or (outcome == "done" and act == "promise" and is_passive)
