"""Whole turns with a real provider over HTTP: a local service that streams, calls tools, and fails (issue: Models)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agents.models.agents import Agent
from agents.providers.request import RetryPolicy
from agents.turns import runner
from collab import doorbell
from collab.models.documents import Document
from tests.support.cast import Studio
from tests.support.openai_server import OpenAIServer, breaks_off, calls, falls_silent, refuses, says
from tests.support.turns import PATIENCE, Stage, outcomes, posts, replies, staged, turns, until

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = RetryPolicy(first_wait=0.01, longest_wait=0.01, longest_retry_after=0.01, first_byte_timeout=1, idle_timeout=1)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A runner whose models are real; it only waits less."""
    monkeypatch.setattr(runner, "RETRY", QUICK)
    with staged() as running:
        yield running


@pytest.fixture
def service(stage: Stage, studio: Studio) -> Iterator[OpenAIServer]:
    """The service that Robin's model is asked at."""
    running = OpenAIServer()
    asyncio.run_coroutine_threadsafe(running.__aenter__(), stage.loop).result(PATIENCE)
    Agent.objects.filter(pk=studio.robin.id).update(model=f"openai-compatible:test-model@{running.url}")
    yield running
    asyncio.run_coroutine_threadsafe(running.__aexit__(), stage.loop).result(PATIENCE)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The live frames that the viewers are sent."""
    frames: list[dict[str, Any]] = []
    monkeypatch.setattr(doorbell, "live", lambda thread_id, frame: frames.append(frame))
    return frames


def shown(frames: list[dict[str, Any]]) -> str:
    """What a viewer's page holds after these frames, by the rule of docs/protocol.md."""
    text = ""
    for frame in frames:
        assert frame["offset"] <= len(text)
        text = text[: frame["offset"]] + frame["text"]
    return text


def ended(studio: Studio) -> bool:
    found = turns(studio.thread)
    return bool(found) and found[-1].status not in {"running", "paused"}


def test_a_provider_streams_calls_a_tool_and_answers(
    studio: Studio, service: OpenAIServer, screen: list[dict[str, Any]]
):
    edit = '{"document": "Launch plan", "edits": [{"find": "900", '
    service.will(calls("edit_document", edit, '"replace": "950"}]}'), says("The budget ", "is 950. ", "Good?"))
    posts(studio.ana, studio.thread, "raise the budget")
    until(lambda: ended(studio))
    said = "The budget is 950. Good?\n\nLaunch plan is at version 2."
    assert replies(studio.thread) == [said]
    until(lambda: shown(screen) == said)
    assert outcomes(turns(studio.thread)[0]) == [("edit_document", "done", "")]
    assert "950" in Document.objects.get(pk=studio.document.id).data["text"]
    sent = service.requests[0]
    assert {tool["function"]["name"] for tool in sent["tools"]} >= {"edit_document", "ask_person"}
    assert "Ana: raise the budget" in str(sent["messages"])


def test_too_many_requests_and_errors_of_the_service_are_waited_out(studio: Studio, service: OpenAIServer):
    service.will(refuses(429, retry_after="0"), refuses(500), says("At last."))
    posts(studio.ana, studio.thread, "hello")
    until(lambda: ended(studio))
    assert replies(studio.thread) == ["At last."]


def test_text_of_a_cut_stream_is_taken_back_and_nothing_is_said_twice(
    studio: Studio, service: OpenAIServer, screen: list[dict[str, Any]]
):
    service.will(breaks_off("First sentence. ", "Second "), says("First sentence. ", "The end."))
    posts(studio.ana, studio.thread, "hello")
    until(lambda: ended(studio))
    assert replies(studio.thread) == ["First sentence. The end."]
    until(lambda: shown(screen) == "First sentence. The end.")


@pytest.mark.parametrize(
    ("reply", "words"), [(refuses(500), "500"), (refuses(429), "429"), (falls_silent(), "did not begin to answer")]
)
def test_a_service_that_does_not_recover_ends_the_turn_failed_with_a_reason_people_can_read(
    studio: Studio, service: OpenAIServer, reply, words
):
    service.will(*[reply] * QUICK.attempts)
    posts(studio.ana, studio.thread, "hello")
    until(lambda: ended(studio))
    (turn,) = turns(studio.thread)
    assert (turn.status, turn.reason) == ("failed", "provider_failed")
    assert words in turn.because
    assert replies(studio.thread) == []


def test_a_model_that_cannot_be_set_up_ends_the_turn_with_what_to_change(studio: Studio, stage: Stage):
    Agent.objects.filter(pk=studio.robin.id).update(model="nosuch:model")
    posts(studio.ana, studio.thread, "hello")
    until(lambda: ended(studio))
    (turn,) = turns(studio.thread)
    assert (turn.status, turn.reason) == ("failed", "model_config")
    assert "nosuch" in turn.because
