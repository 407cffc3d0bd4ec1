"""What a scenario came to, as data: the timeline as its page words it, and what the model of each turn was given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agents.models.actions import PendingAction
from agents.models.agents import Agent
from agents.models.turns import Turn
from agents.scenarios.cast import Cast
from agents.turns import history
from agents.turns.revising import account
from collab.events import ActionAsked, load
from collab.models.threads import Event, Message, Thread
from collab.web.timeline import Entry, Group, timeline
from collab.web.timeline_words import EXCERPT_CHARS

Line = dict[str, Any]


def events_after(cast: Cast, seq: int) -> list[Line]:
    """Return the events of the thread behind a seq, worded as Ana's timeline words them."""
    thread = Thread.objects.get(pk=cast.thread)
    groups = timeline(cast.people["Ana"], thread, manages=True).groups
    return [_line(group, entry, cast) for group in groups for entry in group.entries if entry.seq > seq]


def histories(cast: Cast) -> list[Line]:
    """Return, of each turn, what its model was given and what it answered; without the instructions."""
    turns = Turn.objects.filter(thread_id=cast.thread).order_by("number")
    agent = Agent.objects.get()
    return [{"turn": f"T{turn.number}", "lines": list(_spoken(_given(turn, agent)))} for turn in turns]


def _given(turn: Turn, agent: Agent) -> Sequence[ModelMessage]:
    return [*history.context(turn, agent, {}), *account(turn), *history.load(turn.history)]


def _spoken(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            match part:
                case SystemPromptPart():
                    continue
                case TextPart(content=text) if isinstance(message, ModelResponse):
                    yield f"says: {text}"
                case ToolCallPart(tool_name=tool):
                    yield f"calls: {tool} {part.args_as_json_str()}"
                case ToolReturnPart(tool_name=tool, content=content):
                    yield f"is told: {tool} {content if isinstance(content, str) else json.dumps(content)}"
                case UserPromptPart(content=content):
                    yield f"reads: {content}"
                case _:
                    yield f"{type(part).__name__}"


def _line(group: Group, entry: Entry, cast: Cast) -> Line:
    turn = group.turn
    return {
        "seq": entry.seq,
        "type": entry.type,
        "turn": f"T{turn['number']}" if turn else "",
        "for": (turn["for"]["name"] if turn["for"] else "no one") if turn else "",
        "text": f"{entry.who} {entry.says}".strip(),
        "more": _more(entry, cast),
    }


def _more(entry: Entry, cast: Cast) -> str:
    """What the timeline shortens: a whole question, a whole message."""
    if entry.type == ActionAsked.type:
        fact = load(entry.type, Event.objects.get(thread_id=cast.thread, seq=entry.seq).data)
        return PendingAction.objects.get(pk=fact.action).text if isinstance(fact, ActionAsked) else ""
    said = Message.objects.filter(thread_id=cast.thread, seq=entry.seq).values_list("content", flat=True).first()
    return said if said and len(" ".join(said.split())) > EXCERPT_CHARS else ""
