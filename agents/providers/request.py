"""One model request: streamed, limited, and made again when the service fails (FAILURES J4, J5).

Only the request is made again, never a tool: whoever owns the loop runs the calls of a finished response.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent, repair_messages
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from agents.providers.errors import ProviderFailed
from agents.providers.faults import CUT_OFF, DECLINED, AttemptError, Fault, faults
from agents.providers.meter import DEFAULT_LIMITS, Meter, ResponseLimits
from agents.providers.scripted import ScriptedModel

log = structlog.get_logger(__name__)

OnText = Callable[[str], Awaitable[None]]
OnReset = Callable[[], Awaitable[None]]

_DICE = random.SystemRandom()


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently a request is made. All times are seconds.

    Attributes:
        attempts: how often at most, the first included.
        first_wait: the wait before the second attempt; it doubles each time.
        longest_wait: where the doubling stops.
        longest_retry_after: where a service's Retry-After is cut.
        first_byte_timeout: how long an answer may take to begin.
        idle_timeout: how long an answer that has begun may be silent.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 20.0
    longest_retry_after: float = 60.0
    first_byte_timeout: float = 60.0
    idle_timeout: float = 60.0

    def wait_before(self, attempt: int, *, retry_after: float | None, dice: float) -> float:
        """Return the seconds to wait before an attempt.

        Args:
            attempt: the number of the attempt to come; the first that waits is 2.
            retry_after: what the service asked for, if it did; it is never undercut, but for the cut.
            dice: from 0 to 1; it spreads the wait over the upper half of its range.
        """
        doubled = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 2, 30))
        spread = doubled * (0.5 + dice / 2)
        return max(spread, min(retry_after or 0.0, self.longest_retry_after))


async def stream_response(
    model: Model[Any],
    messages: Sequence[ModelMessage],
    tools: Sequence[ToolDefinition],
    settings: ModelSettings | None,
    *,
    on_text: OnText,
    on_reset: OnReset,
    retry: RetryPolicy,
    limits: ResponseLimits = DEFAULT_LIMITS,
) -> ModelResponse:
    """Ask a model once and return its whole response.

    Args:
        model: who is asked.
        messages: the conversation; not changed.
        tools: what the model may call.
        settings: passed on to the model.
        on_text: awaited with each piece of text as it arrives.
        on_reset: awaited before an attempt that follows one whose text was passed on: what came so far is void.
        retry: how often and how patiently.
        limits: how large the response may be.

    Raises:
        ProviderFailed: every attempt failed, or one failed in a way that asking again does not help. Text that the
            last attempt passed on is not reset.
        ResponseTooLarge: the response passed a limit; the text up to the limit was passed on.
    """
    # A script reads where it stands from metadata, which the repair drops where it merges two requests.
    whole = messages if isinstance(model, ScriptedModel) else repair_messages(messages)
    asked = _Asked(
        model, whole, ModelRequestParameters(function_tools=list(tools)), _without_sdk_retries(model, settings)
    )
    met: list[Fault] = []
    while True:
        meter = Meter(limits, on_text)
        try:
            return await _attempt(asked, meter, retry)
        except AttemptError as faulted:
            met.append(faulted.fault)
            log.warning("model_request_failed", attempt=len(met), what=faulted.fault.what, cause=str(faulted.__cause__))
            if not faulted.fault.retryable or len(met) >= retry.attempts:
                raise _failed(met) from faulted
        await asyncio.sleep(retry.wait_before(len(met) + 1, retry_after=met[-1].retry_after, dice=_DICE.random()))
        if meter.passed_on:
            await on_reset()


@dataclass(frozen=True)
class _Asked:
    model: Model[Any]
    messages: Sequence[ModelMessage]
    parameters: ModelRequestParameters
    settings: ModelSettings


async def _attempt(asked: _Asked, meter: Meter, retry: RetryPolicy) -> ModelResponse:
    async with AsyncExitStack() as stack:
        stream, events, event = await _opened(asked, stack, retry.first_byte_timeout)
        while event is not None:
            await meter.take(event, stream)
            event = await _next(events, retry.idle_timeout)
        response = stream.get()
        if response.state == "incomplete":
            raise AttemptError(CUT_OFF)
        if response.finish_reason == "content_filter" and not response.parts:
            raise AttemptError(DECLINED)
        return response


async def _opened(
    asked: _Asked, stack: AsyncExitStack, seconds: float
) -> tuple[StreamedResponse, AsyncIterator[ModelResponseStreamEvent], ModelResponseStreamEvent | None]:
    """Return a stream that the stack closes, its events, and the first of them."""
    opening = model_request_stream(
        asked.model, asked.messages, model_settings=asked.settings, model_request_parameters=asked.parameters
    )
    async with _patience(seconds, f"did not begin to answer within {seconds:g} seconds"):
        stream = await stack.enter_async_context(opening)
        events = aiter(stream)
        return stream, events, await anext(events, None)


async def _next(events: AsyncIterator[ModelResponseStreamEvent], seconds: float) -> ModelResponseStreamEvent | None:
    async with _patience(seconds, f"fell silent for {seconds:g} seconds"):
        return await anext(events, None)


@asynccontextmanager
async def _patience(seconds: float, what: str) -> AsyncIterator[None]:
    """Wait on the provider, and on nothing else, for so long; its errors and its delay become AttemptError."""
    try:
        async with asyncio.timeout(seconds) as clock:
            with faults():
                yield
    except TimeoutError as problem:
        if not clock.expired():
            raise
        raise AttemptError(Fault(what, retryable=True)) from problem


def _without_sdk_retries(model: Model[Any], settings: ModelSettings | None) -> ModelSettings:
    """Attempts are counted here, so the provider's own client makes one."""
    if "max_retries" in model.unsupported_settings:
        return settings or ModelSettings()
    return {**(settings or {}), "max_retries": 0}


def _failed(met: Sequence[Fault]) -> ProviderFailed:
    last, times = met[-1], len(met)
    if times == 1:
        happened = last.what
    elif all(fault.what == last.what for fault in met):
        happened = f"{last.what} {times} times"
    else:
        happened = f"failed {times} times; the last time it {last.what}"
    return ProviderFailed(
        f"The model service {happened.rstrip('.')}.", retryable=last.retryable, attempts=times, status=last.status
    )
