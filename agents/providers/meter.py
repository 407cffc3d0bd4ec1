"""How large a response may be (FAILURES J4)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Never

from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import StreamedResponse

from agents.providers.errors import ResponseTooLarge


@dataclass(frozen=True)
class ResponseLimits:
    """The most one response may hold.

    Attributes:
        text_bytes: of its text, in UTF-8.
        thinking_bytes: of its thinking, in UTF-8.
        args_bytes: of the arguments of all its tool calls together.
        calls: tool calls.
    """

    text_bytes: int = 256 * 1024
    thinking_bytes: int = 1024 * 1024
    args_bytes: int = 256 * 1024
    calls: int = 128


DEFAULT_LIMITS = ResponseLimits()


class Meter:
    """Passes a response's text on and stops the response where a limit is."""

    def __init__(self, limits: ResponseLimits, on_text: Callable[[str], Awaitable[None]]) -> None:
        self._limits, self._on_text = limits, on_text
        self._pieces: list[str] = []
        self._text = self._thinking = self._args = self._calls = 0

    @property
    def passed_on(self) -> bool:
        """Whether any text was passed on."""
        return bool(self._pieces)

    async def take(self, event: ModelResponseStreamEvent, stream: StreamedResponse) -> None:
        """Count an event and pass its text on.

        Raises:
            ResponseTooLarge: the response passed a limit with this event.
        """
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                await self._take_text(text, stream)
            case (
                PartStartEvent(part=ThinkingPart(content=thought))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=thought))
            ):
                self._take_thinking(thought or "", stream)
            case PartStartEvent(part=ToolCallPart(args=args)):
                self._calls += 1
                self._take_args(args, stream)
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=args)):
                self._take_args(args, stream)

    async def _take_text(self, text: str, stream: StreamedResponse) -> None:
        fits = text.encode(errors="replace")[: self._limits.text_bytes - self._text].decode(errors="ignore")
        if fits:
            self._text += len(fits.encode())
            self._pieces.append(fits)
            await self._on_text(fits)
        if len(fits) < len(text):
            self._stop(f"The model's answer was cut off: it passed {_size(self._limits.text_bytes)} of text.", stream)

    def _take_thinking(self, thought: str, stream: StreamedResponse) -> None:
        self._thinking += len(thought.encode(errors="replace"))
        if self._thinking > self._limits.thinking_bytes:
            limit = _size(self._limits.thinking_bytes)
            self._stop(f"The model was stopped: its thinking passed {limit}.", stream)

    def _take_args(self, args: object, stream: StreamedResponse) -> None:
        text = args if isinstance(args, str) else json.dumps(args or {}, default=str)
        self._args += len(text.encode(errors="replace"))
        if self._calls > self._limits.calls:
            self._stop(f"The model was stopped: it asked for more than {self._limits.calls} calls at once.", stream)
        if self._args > self._limits.args_bytes:
            limit = _size(self._limits.args_bytes)
            self._stop(f"The model was stopped: the arguments of its calls passed {limit}.", stream)

    def _stop(self, reason: str, stream: StreamedResponse) -> Never:
        """Keep the text alone: a call whose arguments may be half there must not run."""
        text = "".join(self._pieces)
        partial = replace(stream.get(), parts=[TextPart(text)] if text else [], finish_reason="length")
        raise ResponseTooLarge(reason, partial=partial)


def _size(number: int) -> str:
    return f"{number // 1024} KiB" if number % 1024 == 0 else f"{number} bytes"
