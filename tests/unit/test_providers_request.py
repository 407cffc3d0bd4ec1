"""One model request: when it is made again, what it is limited to, and how it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import pytest
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import (
    AgentInfo,
    BuiltinToolCallsReturns,
    DeltaThinkingPart,
    DeltaToolCall,
    FunctionModel,
)
from pydantic_ai.tools import ToolDefinition

from agents.providers.errors import ProviderFailed, ResponseTooLarge
from agents.providers.faults import fault_of
from agents.providers.meter import ResponseLimits
from agents.providers.request import RetryPolicy, stream_response

AT_ONCE = RetryPolicy(first_wait=0, longest_wait=0, longest_retry_after=0)
BUSY = ModelHTTPError(429, "m")
ASKED = [ModelRequest.user_text_prompt("Ana: hello")]

Piece = str | dict[int, DeltaToolCall] | dict[int, DeltaThinkingPart] | BuiltinToolCallsReturns
Item = Piece | Exception | float


@dataclass
class Played:
    """A model whose attempts go as planned: pieces of an answer, errors, and waits in seconds."""

    attempts: list[list[Item]]
    begun: int = 0
    closed: int = 0
    infos: list[AgentInfo] = field(default_factory=list)

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Piece]:
        items = self.attempts[self.begun]
        self.begun += 1
        self.infos.append(info)
        try:
            for item in items:
                match item:
                    case Exception():
                        raise item
                    case float():
                        await asyncio.sleep(item)
                    case _:
                        yield item
        finally:
            self.closed += 1


class Viewer:
    """What someone watching the stream has on the screen."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.resets = 0

    async def on_text(self, text: str) -> None:
        self.shown.append(text)

    async def on_reset(self) -> None:
        self.shown.clear()
        self.resets += 1


@pytest.fixture
def viewer() -> Viewer:
    return Viewer()


async def ask(
    played: Played,
    viewer: Viewer,
    *,
    retry: RetryPolicy = AT_ONCE,
    limits: ResponseLimits | None = None,
    tools: Iterable[ToolDefinition] = (),
) -> ModelResponse:
    return await stream_response(
        FunctionModel(stream_function=played),
        ASKED,
        list(tools),
        None,
        on_text=viewer.on_text,
        on_reset=viewer.on_reset,
        retry=retry,
        limits=limits or ResponseLimits(),
    )


async def test_text_is_passed_on_as_it_arrives(viewer: Viewer) -> None:
    response = await ask(Played([["Hel", "lo"]]), viewer)
    assert viewer.shown == ["Hel", "lo"]
    assert response.text == "Hello"
    assert viewer.resets == 0


async def test_tools_are_offered_and_calls_come_back_whole(viewer: Viewer) -> None:
    piece = {0: DeltaToolCall("read", '{"a"', tool_call_id="c1")}
    played = Played([[piece, {0: DeltaToolCall(None, ": 1}")}]])
    response = await ask(played, viewer, tools=[ToolDefinition(name="read")])
    (call,) = response.parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.args_as_dict()) == ("read", {"a": 1})
    assert [tool.name for tool in played.infos[0].function_tools] == ["read"]
    assert viewer.shown == []


async def test_settings_are_passed_on_and_the_providers_own_retries_are_off(viewer: Viewer) -> None:
    played = Played([["a"]])
    await stream_response(
        FunctionModel(stream_function=played),
        ASKED,
        [],
        {"temperature": 0.1, "max_retries": 5},
        on_text=viewer.on_text,
        on_reset=viewer.on_reset,
        retry=AT_ONCE,
    )
    assert played.infos[0].model_settings == {"temperature": 0.1, "max_retries": 0}


@pytest.mark.parametrize(
    "problem",
    [
        ModelHTTPError(429, "m"),
        ModelHTTPError(500, "m"),
        ModelHTTPError(503, "m"),
        ModelHTTPError(408, "m"),
        ModelHTTPError(400, "m", headers={"x-should-retry": "true"}),
        ModelConnectionError("m", "refused", phase="connect"),
        ModelTimeoutError("m", "slow"),
        ModelRateLimitError("m", "slow down"),
        ModelServerError("m", "oops"),
        ModelAPIError("m", "not JSON"),
        UnexpectedModelBehavior("odd"),
        ConnectionResetError("reset"),
    ],
)
async def test_a_passing_failure_is_tried_again(problem: Exception, viewer: Viewer) -> None:
    played = Played([[problem], ["Hello"]])
    assert (await ask(played, viewer)).text == "Hello"
    assert played.begun == 2
    assert viewer.resets == 0


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (ModelHTTPError(400, "m"), "The model service answered 400 (bad request)."),
        (ModelHTTPError(401, "m"), "The model service answered 401 (unauthorized)."),
        (ModelHTTPError(500, "m", headers={"x-should-retry": "false"}), "The model service answered 500 (internal"),
        (
            ModelHTTPError.for_category(ModelQuotaExceededError, status_code=429, model_name="m"),
            "The model service answered 429 (too many requests).",
        ),
        (ModelQuotaExceededError("m", "empty"), "The model service says that its quota is used up."),
        (ModelRequestRejectedError("m", "too\nlong."), "The model service refused the request: too long."),
    ],
)
async def test_a_lasting_failure_is_not_tried_again(problem: Exception, reason: str, viewer: Viewer) -> None:
    played = Played([[problem], ["never"]])
    with pytest.raises(ProviderFailed) as failed:
        await ask(played, viewer)
    assert played.begun == failed.value.attempts == 1
    assert failed.value.reason.startswith(reason)
    assert not failed.value.retryable


async def test_the_same_failure_each_time_is_counted_in_the_reason(viewer: Viewer) -> None:
    played = Played([[BUSY]] * 4)
    with pytest.raises(ProviderFailed) as failed:
        await ask(played, viewer)
    assert str(failed.value) == "The model service answered 429 (too many requests) 4 times."
    assert (failed.value.attempts, failed.value.status, failed.value.retryable) == (4, 429, True)
    assert played.begun == 4


async def test_different_failures_are_told_by_the_last(viewer: Viewer) -> None:
    played = Played([[BUSY], [ModelConnectionError("m", "x", phase="connect")], [ModelHTTPError(529, "m")]])
    with pytest.raises(ProviderFailed, match=r"^The model service failed 3 times; the last time it answered 529\.$"):
        await ask(played, viewer, retry=RetryPolicy(attempts=3, first_wait=0, longest_wait=0))


async def test_the_reason_for_people_names_no_body(viewer: Viewer) -> None:
    body = {"error": {"message": "Incorrect API key provided: sk-secret"}}
    with pytest.raises(ProviderFailed) as failed:
        await ask(Played([[ModelHTTPError(401, "m", body)]]), viewer)
    assert "secret" not in str(failed.value)


async def test_text_of_a_broken_attempt_is_taken_back_before_the_next(viewer: Viewer) -> None:
    played = Played([["Hel", ConnectionResetError("cut")], ["Hello"]])
    assert (await ask(played, viewer)).text == "Hello"
    assert (viewer.shown, viewer.resets) == (["Hello"], 1)


async def test_text_of_the_last_attempt_is_left_to_whoever_asked(viewer: Viewer) -> None:
    with pytest.raises(ProviderFailed):
        await ask(Played([["Hel", ConnectionResetError("cut")]]), viewer, retry=RetryPolicy(attempts=1))
    assert (viewer.shown, viewer.resets) == (["Hel"], 0)


async def test_an_answer_that_does_not_begin_is_tried_again(viewer: Viewer) -> None:
    played = Played([[30.0, "late"], ["Hello"]])
    retry = RetryPolicy(first_wait=0, longest_wait=0, first_byte_timeout=0.5)
    assert (await ask(played, viewer, retry=retry)).text == "Hello"
    assert played.closed == 2


async def test_an_answer_that_falls_silent_is_tried_again(viewer: Viewer) -> None:
    played = Played([["Hel", 30.0, "lo"], ["Hello"]])
    retry = RetryPolicy(first_wait=0, longest_wait=0, idle_timeout=0.5)
    assert (await ask(played, viewer, retry=retry)).text == "Hello"
    assert viewer.resets == 1


async def test_a_timeout_says_how_long_was_waited(viewer: Viewer) -> None:
    retry = RetryPolicy(attempts=1, first_byte_timeout=0.05)
    with pytest.raises(ProviderFailed, match=r"did not begin to answer within 0\.05 seconds"):
        await ask(Played([[30.0]]), viewer, retry=retry)


async def test_a_slow_viewer_is_no_silent_service() -> None:
    class Slow(Viewer):
        async def on_text(self, text: str) -> None:
            await asyncio.sleep(0.6)
            await super().on_text(text)

    viewer = Slow()
    retry = RetryPolicy(attempts=1, idle_timeout=0.5)
    assert (await ask(Played([["Hel", "lo"]]), viewer, retry=retry)).text == "Hello"


@pytest.mark.parametrize("problem", [ConnectionResetError("the viewer's"), TimeoutError("the viewer's"), ValueError()])
async def test_an_error_of_the_viewer_is_not_the_services(problem: Exception) -> None:
    class Broken(Viewer):
        async def on_text(self, text: str) -> None:
            raise problem

    played = Played([["Hello"], ["never"]])
    with pytest.raises(type(problem)) as raised:
        await ask(played, Broken())
    assert raised.value is problem
    assert (played.begun, played.closed) == (1, 1)


async def test_an_error_of_ours_is_not_the_services(viewer: Viewer) -> None:
    played = Played([[KeyError("bug")], ["never"]])
    with pytest.raises(KeyError):
        await ask(played, viewer)
    assert played.begun == 1


async def test_cancelling_closes_the_stream_at_once_and_asks_no_more(viewer: Viewer) -> None:
    played = Played([["Hel", 30.0, "lo"], ["never"]])
    asked = asyncio.create_task(ask(played, viewer))
    while not viewer.shown:
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert (played.begun, played.closed, viewer.resets) == (1, 1, 0)


async def test_cancelling_between_attempts_asks_no_more(viewer: Viewer) -> None:
    played = Played([[BUSY], ["never"]])
    asked = asyncio.create_task(ask(played, viewer, retry=RetryPolicy(first_wait=30)))
    while not played.closed:
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert played.begun == 1


async def test_text_past_the_limit_is_cut_there(viewer: Viewer) -> None:
    played = Played([["12345", "67890", "never"]])
    with pytest.raises(ResponseTooLarge, match="passed 8 bytes of text") as cut:
        await ask(played, viewer, limits=ResponseLimits(text_bytes=8))
    assert viewer.shown == ["12345", "678"]
    assert cut.value.partial.parts == [TextPart("12345678")]
    assert cut.value.partial.finish_reason == "length"
    assert (played.begun, played.closed) == (1, 1)


async def test_text_up_to_the_limit_is_whole(viewer: Viewer) -> None:
    assert (await ask(Played([["1234", "5678"]]), viewer, limits=ResponseLimits(text_bytes=8))).text == "12345678"


async def test_text_is_never_cut_inside_a_character(viewer: Viewer) -> None:
    with pytest.raises(ResponseTooLarge):
        await ask(Played([["aé€"]]), viewer, limits=ResponseLimits(text_bytes=5))
    assert viewer.shown == ["aé"]


async def test_arguments_past_the_limit_end_the_response_without_a_call(viewer: Viewer) -> None:
    played = Played(
        [[{0: DeltaToolCall("t", "12345", tool_call_id="a")}, {1: DeltaToolCall("t", "6789", tool_call_id="b")}]]
    )
    with pytest.raises(ResponseTooLarge, match="arguments of its calls passed 8 bytes") as stopped:
        await ask(played, viewer, limits=ResponseLimits(args_bytes=8))
    assert stopped.value.partial.parts == []


async def test_too_many_calls_end_the_response_without_a_call(viewer: Viewer) -> None:
    played = Played([[{n: DeltaToolCall("t", "{}", tool_call_id=f"c{n}")} for n in range(10)]])
    with pytest.raises(ResponseTooLarge, match="more than 3 calls at once") as stopped:
        await ask(played, viewer, limits=ResponseLimits(calls=3))
    assert stopped.value.partial.parts == []


async def test_thinking_past_the_limit_ends_the_response(viewer: Viewer) -> None:
    played = Played([[{0: DeltaThinkingPart(content="hmm ")}] * 100])
    with pytest.raises(ResponseTooLarge, match="thinking passed 1 KiB"):
        await ask(Played([played.attempts[0] * 10]), viewer, limits=ResponseLimits(thinking_bytes=1024))
    assert viewer.shown == []


@pytest.mark.parametrize(
    ("attempt", "retry_after", "dice", "seconds"),
    [
        (2, None, 1, 1.0),
        (2, None, 0, 0.5),
        (3, None, 1, 2.0),
        (4, None, 1, 4.0),
        (5, None, 1, 6.0),
        (5000, None, 1, 6.0),
        (2, 5.0, 1, 5.0),
        (2, 0.1, 0, 0.5),
        (4, 1.0, 1, 4.0),
        (2, 3600.0, 0, 10.0),
    ],
)
def test_waits_double_up_to_a_limit_and_honour_the_service_up_to_another(
    attempt: int, retry_after: float | None, dice: float, seconds: float
) -> None:
    policy = RetryPolicy(first_wait=1, longest_wait=6, longest_retry_after=10)
    assert policy.wait_before(attempt, retry_after=retry_after, dice=dice) == seconds


async def test_the_wait_before_each_attempt_is_the_policys(monkeypatch: pytest.MonkeyPatch, viewer: Viewer) -> None:
    waits: list[float] = []

    async def waited(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("agents.providers.request.asyncio.sleep", waited)
    busy = ModelHTTPError(429, "m", headers={"Retry-After": "7"})
    await ask(Played([[busy], [busy], ["Hello"]]), viewer, retry=RetryPolicy(longest_retry_after=30))
    assert waits == [7.0, 7.0]


def test_a_stream_that_broke_while_it_was_read_is_told_as_such() -> None:
    assert fault_of(ModelConnectionError("m", "x", phase="read")).what == "broke off its answer"
    assert fault_of(ModelConnectionError("m", "x", phase="connect")).what == "could not be reached"
