"""A real provider over HTTP: a small OpenAI-compatible service on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.tools import ToolDefinition

from agents.providers.choose import model_for
from agents.providers.errors import ProviderFailed, ResponseTooLarge
from agents.providers.meter import ResponseLimits
from agents.providers.request import RetryPolicy, stream_response
from tests.support.openai_server import (
    DONE,
    OpenAIServer,
    Reply,
    breaks_off,
    calls,
    chunk,
    falls_silent,
    refuses,
    says,
    stops_short,
)

QUICK = RetryPolicy(first_wait=0.001, longest_wait=0.001, longest_retry_after=0.01)
IMPATIENT = RetryPolicy(first_wait=0.001, longest_wait=0.001, first_byte_timeout=1, idle_timeout=1)
READ = ToolDefinition(name="read_document", parameters_json_schema={"type": "object", "properties": {}})


@pytest.fixture
async def service() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


@pytest.fixture
async def model(service: OpenAIServer) -> AsyncIterator[Model[Any]]:
    async with model_for(f"openai-compatible:test-model@{service.url}") as opened:
        yield opened


class Screen:
    def __init__(self, model: Model[Any]) -> None:
        self.model = model
        self.shown: list[str] = []
        self.resets = 0

    async def on_text(self, text: str) -> None:
        self.shown.append(text)

    async def on_reset(self) -> None:
        self.shown.clear()
        self.resets += 1

    async def ask(self, retry: RetryPolicy = QUICK, limits: ResponseLimits | None = None) -> ModelResponse:
        return await stream_response(
            self.model,
            [ModelRequest.user_text_prompt("Ana: hello", instructions="Be brief.")],
            [READ],
            None,
            on_text=self.on_text,
            on_reset=self.on_reset,
            retry=retry,
            limits=limits or ResponseLimits(),
        )


@pytest.fixture
def screen(model: Model[Any]) -> Screen:
    return Screen(model)


async def test_an_answer_is_streamed_with_its_usage(service: OpenAIServer, screen: Screen) -> None:
    service.will(says("Hel", "lo ", "Ana"))
    response = await screen.ask()
    assert screen.shown == ["Hel", "lo ", "Ana"]
    assert (response.text, response.finish_reason) == ("Hello Ana", "stop")
    assert (response.usage.input_tokens, response.usage.output_tokens) == (7, 3)
    (request,) = service.requests
    assert request["model"] == "test-model"
    assert [message["content"] for message in request["messages"]] == ["Be brief.", "Ana: hello"]
    assert [tool["function"]["name"] for tool in request["tools"]] == ["read_document"]


async def test_a_call_is_put_together_from_its_pieces(service: OpenAIServer, screen: Screen) -> None:
    service.will(calls("read_document", '{"document": ', '"Launch plan"}'))
    response = await screen.ask()
    (call,) = response.parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.args_as_dict()) == ("read_document", {"document": "Launch plan"})
    assert (call.tool_call_id, response.finish_reason) == ("call_1", "tool_call")


async def test_arguments_that_are_no_json_arrive_as_they_are(service: OpenAIServer, screen: Screen) -> None:
    service.will(calls("read_document", '{"document": '))
    (call,) = (await screen.ask()).parts
    assert isinstance(call, ToolCallPart)
    assert call.args == '{"document": '


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_busy_or_broken_service_is_asked_again(status: int, service: OpenAIServer, screen: Screen) -> None:
    service.will(refuses(status, Retry_After="1"), says("Hello"))
    assert (await screen.ask()).text == "Hello"
    assert len(service.requests) == 2


async def test_each_attempt_is_one_request(service: OpenAIServer, screen: Screen) -> None:
    service.will(*[refuses(429)] * 4)
    with pytest.raises(ProviderFailed, match=r"answered 429 \(too many requests\) 4 times\."):
        await screen.ask()
    assert len(service.requests) == 4


async def test_retry_after_is_what_the_service_said(
    service: OpenAIServer, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []

    def noted(self: RetryPolicy, attempt: int, *, retry_after: float | None, dice: float) -> float:
        asked.append(retry_after)
        return 0

    monkeypatch.setattr(RetryPolicy, "wait_before", noted)
    service.will(refuses(429, Retry_After="17"), refuses(500), says("Hello"))
    await screen.ask()
    assert asked == [17.0, None]


async def test_a_refused_key_is_not_tried_again(service: OpenAIServer, screen: Screen) -> None:
    service.will(refuses(401))
    with pytest.raises(ProviderFailed, match=r"answered 401 \(unauthorized\)\."):
        await screen.ask()
    assert len(service.requests) == 1


async def test_half_an_answer_is_taken_back_and_asked_again(service: OpenAIServer, screen: Screen) -> None:
    service.will(breaks_off("Hel"), says("Hello"))
    assert (await screen.ask()).text == "Hello"
    assert (screen.shown, screen.resets) == (["Hello"], 1)


async def test_an_answer_that_never_says_it_is_whole_counts_as_half(service: OpenAIServer, screen: Screen) -> None:
    service.will(stops_short("Hel"), says("Hello"))
    assert (await screen.ask()).text == "Hello"
    assert (screen.shown, screen.resets) == (["Hello"], 1)


async def test_a_service_that_declines_is_not_asked_again(service: OpenAIServer, screen: Screen) -> None:
    service.will(Reply(chunks=[chunk(refusal="I cannot help."), chunk(finish="stop"), DONE]))
    with pytest.raises(ProviderFailed, match=r"The model service declined to answer\."):
        await screen.ask()


async def test_a_half_sent_call_is_never_returned(service: OpenAIServer, screen: Screen) -> None:
    cut = Reply(chunks=calls("read_document", '{"document": ').chunks[:-2], cut=True)
    service.will(*[cut] * 4)
    with pytest.raises(ProviderFailed, match=r"broke off its answer 4 times\."):
        await screen.ask()


async def test_an_unreadable_answer_is_asked_again(service: OpenAIServer, screen: Screen) -> None:
    service.will(Reply(chunks=["{not json", DONE]), says("Hello"))
    assert (await screen.ask()).text == "Hello"


async def test_an_error_inside_a_stream_is_asked_again(service: OpenAIServer, screen: Screen) -> None:
    failing = {"error": {"message": "overloaded", "type": "server_error", "code": 503}}
    service.will(Reply(chunks=[chunk(content="Hel"), failing]), says("Hello"))
    assert (await screen.ask()).text == "Hello"
    assert screen.resets == 1


async def test_a_service_that_does_not_begin_is_asked_again(service: OpenAIServer, screen: Screen) -> None:
    service.will(falls_silent(), says("Hello"))
    assert (await screen.ask(IMPATIENT)).text == "Hello"


async def test_a_service_that_falls_silent_is_asked_again(service: OpenAIServer, screen: Screen) -> None:
    service.will(falls_silent("Hel"), says("Hello"))
    assert (await screen.ask(IMPATIENT)).text == "Hello"
    assert (screen.shown, screen.resets) == (["Hello"], 1)


async def test_cancelling_hangs_up(service: OpenAIServer, screen: Screen) -> None:
    service.will(falls_silent("Hel"))
    asked = asyncio.create_task(screen.ask())
    while not screen.shown:
        await asyncio.sleep(0.001)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await asyncio.wait_for(service.hung_up.wait(), 5)
    assert len(service.requests) == 1


async def test_an_answer_without_end_is_cut_and_hung_up_on(service: OpenAIServer, screen: Screen) -> None:
    service.will(falls_silent(*["spam "] * 100))
    with pytest.raises(ResponseTooLarge) as cut:
        await screen.ask(limits=ResponseLimits(text_bytes=50))
    assert cut.value.partial.text == "spam " * 10
    await asyncio.wait_for(service.hung_up.wait(), 5)


async def test_a_service_that_is_not_there_could_not_be_reached() -> None:
    async with OpenAIServer() as gone:
        url = gone.url
    async with model_for(f"openai-compatible:test-model@{url}") as model:
        with pytest.raises(ProviderFailed, match=r"could not be reached 4 times\."):
            await Screen(model).ask()
