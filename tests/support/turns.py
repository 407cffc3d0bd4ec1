"""Driving turns in tests: a model that says what the test tells it to, and a runner beside the test."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any
from uuid import UUID, uuid4

from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from agents.models.turns import Call, Turn
from agents.turns import dispatch
from agents.turns.dispatch import Embedded
from collab.db import close_connections
from collab.models.threads import Event, Message, Thread
from collab.services.messages import message_post
from tests.support.cast import Someone

PATIENCE = 10.0
"""Seconds that anything a test waits for may take; far more than it does."""


@dataclass
class Answer:
    """One model response: pieces of text, then calls of tools with their arguments (or raw text in their place)."""

    pieces: Sequence[str] = ()
    calls: Sequence[tuple[str, Any]] = ()
    error: Exception | None = None


@dataclass
class Asked:
    """What the model was given."""

    messages: list[ModelMessage]

    @property
    def words(self) -> str:
        """Everything it read, as one text."""
        return "\n".join(self._parts())

    @property
    def returns(self) -> dict[str, Any]:
        """The newest result of each tool."""
        return {
            part.tool_name: part.content
            for message in self.messages
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        }

    def _parts(self) -> Iterator[str]:
        for message in self.messages:
            for part in message.parts:
                if isinstance(part, UserPromptPart) or hasattr(part, "content"):
                    yield str(part.content)


@dataclass
class Puppet:
    """A model whose every request waits until the test answers it."""

    asked: Queue[Asked] = field(default_factory=Queue)
    answers: Queue[Answer] = field(default_factory=Queue)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(stream_function=self._respond, model_name="puppet")

    def is_asked(self) -> Asked:
        """Wait until the model is asked, and return what it was given."""
        return self.asked.get(timeout=PATIENCE)

    def is_left_alone(self) -> bool:
        """Say whether nobody asks the model for a while."""
        try:
            self.asked.get(timeout=0.15)
        except Empty:
            return True
        return False

    def says(self, *pieces: str, calls: Sequence[tuple[str, Any]] = ()) -> None:
        """Answer the request that waits, or the next one."""
        self.answers.put(Answer(pieces, calls))

    def calls(self, tool: str, **args: Any) -> None:
        """Answer with one call."""
        self.answers.put(Answer(calls=[(tool, args)]))

    def breaks(self, error: Exception) -> None:
        """Answer with an error of the provider."""
        self.answers.put(Answer(error=error))

    async def _respond(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.asked.put(Asked(list(messages)))
        answer = await self._next()
        if answer.error is not None:
            raise answer.error
        for piece in answer.pieces:
            yield piece
        for number, (name, args) in enumerate(answer.calls):
            text = args if isinstance(args, str) else json.dumps(args)
            yield {number: DeltaToolCall(name=name, json_args=text, tool_call_id=f"call-{uuid4().hex[:8]}")}
        if not answer.pieces and not answer.calls:
            yield ""

    async def _next(self) -> Answer:
        while True:
            try:
                return self.answers.get_nowait()
            except Empty:
                await asyncio.sleep(0.002)


class Stage:
    """A runner in a thread of its own, as the web process has one, and ways to see what became of a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, embedded: Embedded) -> None:
        self.loop, self.embedded = loop, embedded

    def wake(self, thread: Thread | UUID) -> None:
        """See what a thread has to do."""
        thread_id = thread if isinstance(thread, UUID) else thread.id
        self.loop.call_soon_threadsafe(self.embedded.wake, thread_id)

    def settles(self) -> None:
        """Wait until no turn runs here and no wake-up is on its way."""
        until(self._is_idle)

    def _is_idle(self) -> bool:
        done = threading.Event()
        idle: list[bool] = []

        def look() -> None:
            idle.append(not self.embedded._tasks)
            done.set()

        self.loop.call_soon_threadsafe(look)
        assert done.wait(PATIENCE)
        return idle[0]


@contextmanager
def staged() -> Iterator[Stage]:
    """Run a dispatcher beside the test until the block ends."""
    loop = asyncio.new_event_loop()
    worker = threading.Thread(target=loop.run_forever, daemon=True)
    worker.start()
    stop = asyncio.run_coroutine_threadsafe(_start(), loop).result(PATIENCE)
    embedded, closing = stop
    try:
        yield Stage(loop, embedded)
    finally:
        asyncio.run_coroutine_threadsafe(closing(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        worker.join(PATIENCE)
        loop.close()
        close_connections()


async def _start() -> tuple[Embedded, Callable[[], Any]]:
    closing = await dispatch.start()
    embedded = dispatch._State.embedded
    assert embedded is not None
    return embedded, closing


def until(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)


def posts(someone: Someone, thread: Thread, text: str, **more: Any) -> Message:
    """Post a message as a person."""
    return message_post(actor=someone.actor, thread=thread.id, content=text, client_id=uuid4().hex, **more)


def turns(thread: Thread) -> list[Turn]:
    """Return a thread's turns in order."""
    return list(Turn.objects.filter(thread=thread).order_by("number"))


def took(turn: Turn) -> list[str]:
    """Return the texts a turn took, in order."""
    return list(Message.objects.filter(taken_by=turn.id).order_by("seq").values_list("content", flat=True))


def replies(thread: Thread) -> list[str]:
    """Return what the agent has posted in a thread."""
    return list(
        Message.objects.filter(thread=thread, turn_id__isnull=False).order_by("seq").values_list("content", flat=True)
    )


def outcomes(turn: Turn) -> list[tuple[str, str | None, str]]:
    """Return each call of a turn: its tool, outcome and reason."""
    return list(Call.objects.filter(turn=turn).order_by("number").values_list("tool", "outcome", "reason"))


def types(thread: Thread) -> list[str]:
    """Return the types of a thread's events in order."""
    return list(Event.objects.filter(thread=thread).order_by("seq").values_list("type", flat=True))
