"""Asking a turn's model what a message means for the turn: one request with a closed answer (DESIGN 6, In flight).

The message is data to it. Whatever it answers, the message goes on being its author's, and what comes of the answer is
decided by :mod:`agents.turns.inflight`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_ai import framing
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.tools import ToolDefinition

from agents.providers.lineage import CLASSIFY
from agents.providers.request import RetryPolicy, stream_response
from agents.providers.script import ANSWER
from agents.turns.history import NOTE
from agents.turns.inflight import Meaning
from agents.turns.response import calls_of
from collab.models.threads import Message

log = structlog.get_logger(__name__)

MOST_CHARS = 8_000
"""Characters of what the turn was asked for and of the message, each, that the model is given."""

_ASKS = (
    "You are in the middle of a piece of work. While you worked, the person you work for wrote another message. "
    "Say what it means for this work, by one call of message_means and without any words. "
    "adds: it asks for something more of the same work. independent: it is about something else. "
    "revises: it changes or takes back something that was asked for. unclear: you cannot tell."
)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    meaning: Literal["adds", "independent", "revises", "unclear"]


_TOOL = ToolDefinition(
    name=ANSWER,
    description="Say what the message means for the work.",
    parameters_json_schema=_Answer.model_json_schema(),
)


async def meaning_of(
    message: Message, work: Sequence[ModelMessage], model: Model[Any], retry: RetryPolicy
) -> tuple[Meaning, ModelResponse | None]:
    """Ask what a message means for a turn, and return that with the response, for its tokens to be counted. Where the
    model fails or answers anything but one of the meanings, it is unclear.

    Args:
        work: the turn's own history so far.
    """
    asked = ModelRequest(
        parts=[
            SystemPromptPart(_ASKS),
            UserPromptPart(framing.wrap(NOTE, "\n".join(_asked_for(work))[-MOST_CHARS:], about="your work")),
            UserPromptPart(framing.wrap(NOTE, message.content[:MOST_CHARS], about="the new message")),
        ],
        metadata={CLASSIFY: message.content},
    )
    try:
        response = await stream_response(
            model, [asked], [_TOOL], None, on_text=_unheard, on_reset=_nothing, retry=retry
        )
    except Exception:
        log.exception("message_not_classified", message=str(message.id))
        return "unclear", None
    return _read(response), response


def _asked_for(work: Sequence[ModelMessage]) -> Iterator[str]:
    """What the turn was asked for, and the names of what it called."""
    for message in work:
        if isinstance(message, ModelRequest) and (message.metadata or {}).get("input"):
            yield from (str(part.content) for part in message.parts if isinstance(part, UserPromptPart))
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                yield f"(you called {part.tool_name})"


def _read(response: ModelResponse) -> Meaning:
    match calls_of(response):
        case [ToolCallPart(tool_name=name) as call] if name == ANSWER:
            try:
                return _Answer.model_validate_json(call.args_as_json_str()).meaning
            except (ValidationError, ValueError):
                return "unclear"
        case _:
            return "unclear"


async def _unheard(text: str) -> None:
    """Nobody hears what it says beside its answer."""


async def _nothing() -> None:
    """There is nothing to take back."""
