"""What a turn says, held to what its calls came to (DESIGN 9 and 10; REPLIES)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import structlog
from pydantic_ai.messages import ModelResponse, TextPart

from agents.actions.closing import continued
from agents.models.agents import Agent
from agents.models.turns import Call, Turn
from agents.replies.composing import TemplateStream
from agents.replies.figures import Derived
from agents.replies.mending import Ruling, Setting
from agents.replies.record import CallRecord
from agents.replies.rules import PERSONAL_DATA, ReplyRules, lines_of
from agents.replies.stream import CheckedStream
from agents.tools.registry import SETTING
from agents.turns.counts import rulings_counted
from collab.canonical import BadJson, parse_json
from permissions.actors import same_author

log = structlog.get_logger(__name__)

EARLIER = 200
"""Calls of a thread's earlier turns that its replies may speak of, at most: the newest."""

LONGEST_JSON = 1_048_576
"""Bytes of arguments or of a result that are read for what they say."""


def setting_of(agent: Agent) -> Setting:
    """Return what an agent's replies are checked with, or composed from."""
    # The model's choices are those of REPLIES 7.
    return replace(SETTING, derived=cast("Derived", agent.derived), rules=rules_of(agent))


def rules_of(agent: Agent) -> ReplyRules:
    """Return the reply rules of an agent (REPLIES 10)."""
    return ReplyRules(
        never_show=frozenset(kind for kind in PERSONAL_DATA if kind in agent.never_show.split()),
        never_say=lines_of(agent.never_say),
        never_offer=lines_of(agent.never_offer),
        required=lines_of(agent.required),
        region=agent.region,
    )


def gate_of(agent: Agent, setting: Setting, shown: str) -> CheckedStream | TemplateStream:
    """Return what the text of an agent's turn leaves through (REPLIES, Composers).

    Args:
        setting: what it is checked with, or composed from.
        shown: what the turn said before.
    """
    if agent.composer == Agent.Composer.TEMPLATE:
        return TemplateStream(setting, shown)
    return CheckedStream(setting, shown=shown)


def record_of(call: Call) -> CallRecord:
    """Return a call as a reply is held to it."""
    args = _read(call.args)
    reason = call.reason if call.reason == "argument_schema" else (call.because or call.reason)
    was_declined = call.outcome == Call.Outcome.REFUSED and call.reason == "declined"
    outcome: Any = "not_attempted" if was_declined else str(call.outcome or Call.Outcome.UNKNOWN)
    if call.reason == "undo_unknown":
        outcome = "unknown"  # it was done, and may be undone
    return CallRecord(
        name=call.tool,
        args=args if isinstance(args, dict) else {},
        outcome=outcome,  # the model's choices are the outcomes of REPLIES
        result=_read(call.result) if call.result else None,
        reason=reason.removesuffix("."),
        effect=call.effect,
        key=call.key,
    )


def earlier_calls(turn: Turn) -> list[CallRecord]:
    """Return the calls of a thread's turns before this one, oldest first, in one query.

    Of another author's, that were not shared, only what everyone here is told: what was called, and what became of it.
    """
    before = Call.objects.filter(turn__thread_id=turn.thread_id, turn__seq__lt=turn.seq, question=None)
    newest = before.exclude(outcome=None).select_related("turn").defer("turn__history")
    return [
        record_of(call)
        if call.shared_at or same_author(call.turn.origin, turn.origin)
        else _told_to_all(record_of(call))
        for call in reversed(newest.order_by("-turn__seq", "-number")[:EARLIER])
    ]


def _told_to_all(call: CallRecord) -> CallRecord:
    return replace(call, args={}, result=None)


def made_before(turn: Turn) -> list[CallRecord]:
    """Return the calls made up to its last boundary by the abandoned turns that a turn continues, in order."""
    made = Call.objects.filter(turn__in=continued(turn)[1:], step__lte=turn.steps, question=None).exclude(outcome=None)
    return [record_of(call) for call in made.order_by("turn__number", "number")]


def voiced(response: ModelResponse, said: str) -> ModelResponse:
    """Return a response that says what people were shown of it: a replaced sentence is kept nowhere."""
    parts: list[Any] = [part for part in response.parts if not isinstance(part, TextPart)]
    return replace(response, parts=[*([TextPart(said)] if said or not parts else []), *parts])


def rulings_logged(turn: Turn, rulings: Sequence[Ruling]) -> None:
    """Write down and count which rule did what to what a turn said, without its text (REPLIES, The check)."""
    for ruling in rulings:
        log.info("reply_ruled", turn=str(turn.id), rule=ruling.rule, tool=ruling.tool, action=ruling.action)
    rulings_counted(turn.agent_id, rulings)


def _read(text: str) -> Any:
    try:
        return parse_json(text, max_bytes=LONGEST_JSON)
    except (BadJson, json.JSONDecodeError):
        return None
