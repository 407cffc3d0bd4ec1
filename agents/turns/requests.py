"""A person's turn read without a model, for agents whose reader is on (REPLIES, Composers and unread turns)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from agents.models.agents import Agent
from agents.models.turns import Turn
from agents.providers.choose import model_for
from agents.providers.streaming import Streaming
from agents.replies.requests import UNREAD, Askable, Asked, question, read_request
from agents.replies.slots import slots_of
from agents.tools.registry import SETTING, TOOLS
from agents.turns.boundary import Work
from agents.turns.start import Started
from collab.models.threads import Message
from collab.selectors import documents_of
from permissions.actors import Agent as AgentActor
from permissions.actors import Person

MOST_TITLES = 500
"""Documents whose titles are read, at most."""


class Reader(Streaming):
    """Stands in the place of a model in a turn that was read: it makes the call that was asked for, tells what came of
    it by its phrasing, and hands over to the model where anything else joins.

    Args:
        work: whose records the call comes to.
        asked: the call; None where nothing was read.
        question: what the person is asked then.
        model: the name of the model it hands over to.
    """

    def __init__(self, work: Work, asked: Asked | None, question: str, model: str) -> None:
        super().__init__()
        self.question = question
        self._work, self._asked, self._model = work, asked, model

    @property
    def model_name(self) -> str:
        """What responses are recorded as."""
        return "reader"

    @property
    def system(self) -> str:
        """What provides it."""
        return "accord"

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Stream the next response."""
        step = self._step(messages)
        if step is None:
            model = model_for(self._model or None)
            async with model.request_stream(messages, model_settings, model_request_parameters, run_context) as stream:
                yield stream
            return
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        yield ReadStream(parameters, *step)

    def _step(self, messages: Sequence[ModelMessage]) -> tuple[str, Asked | None] | None:
        """Return what is said next and called next; None where the model goes on."""
        last = messages[-1]
        parts = last.parts if isinstance(last, ModelRequest) else ()
        if any(isinstance(part, ToolReturnPart) for part in parts):
            is_alone = not any(isinstance(part, UserPromptPart) for part in parts)
            return (self._told(), None) if is_alone else None
        began = not any(isinstance(message, ModelResponse) for message in self._work.messages)
        return (self.question, self._asked) if began else None

    def _told(self) -> str:
        setting = self._work.wording.setting
        return "\n\n".join(setting.say(record) for record in self._work.records)


@dataclass
class ReadStream(StreamedResponse):
    """One step of a turn that was read, as a stream. It costs no tokens."""

    says: str
    asked: Asked | None
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self._usage = RequestUsage()

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        if self.says:
            for event in self._parts_manager.handle_text_delta(vendor_part_id="say", content=self.says):
                yield event
        if self.asked is not None:
            args = json.dumps(self.asked.args, ensure_ascii=False)
            yield self._parts_manager.handle_tool_call_part(
                vendor_part_id=None, tool_name=self.asked.tool, args=args, tool_call_id="read"
            )
        self.finish_reason = "tool_call" if self.asked else "stop"

    async def close_stream(self) -> None:
        """Do nothing: there is no connection."""

    @property
    def model_name(self) -> str:
        """What responses are recorded as."""
        return "reader"

    @property
    def provider_name(self) -> str:
        """What provides it."""
        return "accord"

    @property
    def provider_url(self) -> None:
        """None: there is no service."""

    @property
    def timestamp(self) -> datetime:
        """When the response began."""
        return self.started


def read_turn(started: Started, work: Work) -> Reader | None:
    """Return what works a person's turn in the place of the model; None where the model does: the agent's reader is
    off, no person began the turn or it goes on from another, or its words go to the model unread."""
    turn, agent = started.turn, started.agent
    is_first = turn.trigger == Turn.Trigger.MESSAGE and turn.root_id == turn.id and turn.steps == 0
    if agent.reader != Agent.Reader.ON or not is_first or not isinstance(turn.origin, Person):
        return None
    tools = _askable(started, work)
    said = _texts(work.messages)
    asked = read_request(said[0], tools, turn.started_at) if len(said) == 1 else None
    if asked is not None:
        return Reader(work, asked, "", agent.model)
    if agent.on_unread == Agent.OnUnread.MODEL and _was_asked(turn):
        return None
    enabled = [tool for tool in tools if tool.words.name in work.usable] or tools
    return Reader(work, None, question([tool.words.in_words for tool in enabled]), agent.model)


def _askable(started: Started, work: Work) -> list[Askable]:
    turn = started.turn
    acting = AgentActor(turn.agent_id, turn.thread_id, turn.principal)
    titles = [line.document.title for line in documents_of(acting, started.workspace)][:MOST_TITLES]
    found = [
        (name, slots_of(tool.args.model_json_schema(), {"document": titles}))
        for name, tool in TOOLS.items()
        if not tool.asks and (not tool.permission or name in work.usable)
    ]
    return [Askable(SETTING.words.tools[name], slots) for name, slots in found if slots is not None]


def _texts(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the bare texts that the turn took as its input."""
    inputs = [
        message for message in messages if isinstance(message, ModelRequest) and (message.metadata or {}).get("input")
    ]
    return [text for message in inputs for text in (message.metadata or {})["texts"]]


def _was_asked(turn: Turn) -> bool:
    """Say whether someone in the thread was asked before to say it again."""
    said = Message.objects.filter(thread_id=turn.thread_id, turn_id__isnull=False, content__startswith=UNREAD)
    return said.exclude(turn_id=turn.id).exists()
