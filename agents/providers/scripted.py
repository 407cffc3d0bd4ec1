"""A model that plays a script: offline, and really driving the tools (DESIGN 12)."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import structlog
from pydantic_ai.exceptions import ModelHTTPError, ModelRequestRejectedError
from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from agents.providers.errors import ScriptError
from agents.providers.lineage import Cue, next_cue, words_in
from agents.providers.script import Failure, Line, Script, load_script
from agents.providers.streaming import Streaming
from agents.providers.template import render, render_text

log = structlog.get_logger(__name__)


class ScriptFile:
    """A script on disk, read again whenever the file changes.

    A file that became bad, or went away, leaves the last good script in place and is logged once.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            ScriptError: it cannot be read or is no script.
        """
        self.path = path
        self._seen = self._signature()
        self._script = load_script(path)

    def current(self) -> Script:
        """Return the script as the file has it now, or the last good one."""
        signature = self._signature()
        if signature != self._seen:
            self._seen = signature
            try:
                self._script = load_script(self.path)
            except ScriptError as problem:
                log.error("script_not_reloaded", reason=str(problem))
        return self._script

    def _signature(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size


class ScriptedModel(Streaming):
    """Answers each request with the next step of its script; keeps nothing between requests."""

    def __init__(self, source: ScriptFile) -> None:
        super().__init__()
        self._source = source

    @property
    def model_name(self) -> str:
        """The script's file name."""
        return self._source.path.name

    @property
    def system(self) -> str:
        """The provider's name."""
        return "scripted"

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Stream the next response, word by word."""
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        cue = next_cue(self._source.current(), messages)
        for line in cue.lines:
            if line.step.fail is not None:
                raise _provider_error(line.step.fail, self.model_name)
        yield ScriptedStream(parameters, self.model_name, cue, RequestUsage(input_tokens=words_in(messages)))


@dataclass
class ScriptedStream(StreamedResponse):
    """One step of a script as a stream; a word counts as a token."""

    script_name: str
    cue: Cue
    counted: RequestUsage
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self._usage = self.counted

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        called = False
        for place, line in enumerate(self.cue.lines):
            if line.step.hang is not None:
                await _wait(line.step.hang)
            async for word in self._words(line, follows=place > 0):
                for event in self._parts_manager.handle_text_delta(vendor_part_id="say", content=word):
                    yield event
            for tool, args in self._calls(line):
                called = True
                self._usage.output_tokens += len(args.split())
                yield self._parts_manager.handle_tool_call_part(
                    vendor_part_id=None, tool_name=tool, args=args, tool_call_id=f"call_{uuid4().hex}"
                )
        self.finish_reason = "tool_call" if called else "stop"

    async def _words(self, line: Line, *, follows: bool) -> AsyncIterator[str]:
        text = render_text(line.step.say or "", self.cue.values(line))
        if text and follows:
            yield "\n\n"
        for position, word in enumerate(re.findall(r"\S+\s*|\s+", text)):
            if position:
                await asyncio.sleep(line.pace_ms / 1000)
            self._usage.output_tokens += 1
            yield word

    def _calls(self, line: Line) -> Iterator[tuple[str, str]]:
        step, values = line.step, self.cue.values(line)
        for call in step.calls or ():
            yield call.tool, json.dumps(render(call.args, values), ensure_ascii=False)
        if step.raw is not None:
            yield step.raw.tool, step.raw.args

    async def close_stream(self) -> None:
        """Do nothing: there is no connection."""

    @property
    def model_name(self) -> str:
        """The script's file name."""
        return self.script_name

    @property
    def provider_name(self) -> str:
        """The provider's name."""
        return "scripted"

    @property
    def provider_url(self) -> None:
        """None: there is no service."""

    @property
    def timestamp(self) -> datetime:
        """When the response began."""
        return self.started


async def _wait(seconds: float) -> None:
    await (asyncio.Event().wait() if math.isinf(seconds) else asyncio.sleep(seconds))


def _provider_error(failure: Failure, name: str) -> Exception:
    if failure.status is None:
        return ModelRequestRejectedError(name, failure.message)
    return ModelHTTPError(failure.status, name, {"message": failure.message})
