"""What a turn says, held to what its calls came to (DESIGN 9 and 10; REPLIES)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import structlog
from pydantic_ai.messages import ModelResponse, TextPart

from agents.models.turns import Call, Turn
from agents.replies.mending import Ruling
from agents.replies.record import CallRecord
from collab.canonical import BadJson, parse_json

log = structlog.get_logger(__name__)

EARLIER = 200
"""Calls of a thread's earlier turns that its replies may speak of, at most: the newest."""

LONGEST_JSON = 1_048_576
"""Bytes of arguments or of a result that are read for what they say."""


def record_of(call: Call) -> CallRecord:
    """Return a call as a reply is held to it."""
    args = _read(call.args)
    reason = call.reason if call.reason == "argument_schema" else (call.because or call.reason)
    outcome: Any = call.outcome or Call.Outcome.UNKNOWN
    return CallRecord(
        name=call.tool,
        args=args if isinstance(args, dict) else {},
        outcome=str(outcome),  # the model's choices are the outcomes of REPLIES
        result=_read(call.result) if call.result else None,
        reason=reason.removesuffix("."),
        effect=call.effect,
    )


def earlier_calls(turn: Turn) -> list[CallRecord]:
    """Return the calls of a thread's turns before this one, oldest first, in one query."""
    before = Call.objects.filter(turn__thread_id=turn.thread_id, turn__seq__lt=turn.seq, question=None)
    newest = before.exclude(outcome=None).order_by("-turn__seq", "-number")[:EARLIER]
    return [record_of(call) for call in reversed(newest)]


def made_before(turn: Turn) -> list[CallRecord]:
    """Return the calls made up to its last boundary by the abandoned turns that a turn continues, in order."""
    continued, before = [], turn.continues_id
    while before is not None:
        continued.append(before)
        before = Turn.objects.filter(pk=before).values_list("continues_id", flat=True).first()
    made = Call.objects.filter(turn__in=continued, step__lte=turn.steps, question=None).exclude(outcome=None)
    return [record_of(call) for call in made.order_by("turn__number", "number")]


def voiced(response: ModelResponse, said: str) -> ModelResponse:
    """Return a response that says what people were shown of it: a replaced sentence is kept nowhere."""
    parts: list[Any] = [part for part in response.parts if not isinstance(part, TextPart)]
    return replace(response, parts=[*([TextPart(said)] if said or not parts else []), *parts])


def rulings_logged(turn: Turn, rulings: Sequence[Ruling]) -> None:
    """Write down which rule did what to what a turn said, without its text (REPLIES: counted by rule and tool)."""
    for ruling in rulings:
        log.info("reply_ruled", turn=str(turn.id), rule=ruling.rule, tool=ruling.tool, action=ruling.action)


def _read(text: str) -> Any:
    try:
        return parse_json(text, max_bytes=LONGEST_JSON)
    except (BadJson, json.JSONDecodeError):
        return None
