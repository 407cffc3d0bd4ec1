"""An open page of a thread without its browser: it follows the log, and after any break resumes as the page does.

It keeps its cursor and its unanswered commands, waits longer after each try that failed (`socket.js`), and writes down
everything that should not have been.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import websockets

from tests.support.visitor import Visitor

Json = dict[str, Any]
PATIENCE = 60.0
"""Seconds that anything waited for may take; far more than it does."""

ACK_EVERY = 20
LONGEST_WAIT = 20.0
"""Seconds between two tries to connect at most, as in the page."""


class Follower:
    """One page: what it has of the log, what it asked for, and how its connections ended."""

    def __init__(self, visitor: Visitor, thread: UUID, *, longest_wait: float = LONGEST_WAIT) -> None:
        self.events: list[Json] = []
        self.live: list[Json] = []
        self.answers: dict[str, Json] = {}
        self.busy = 0
        self.closes: Counter[int] = Counter()
        """By code: how often a connection that stood was closed."""
        self.statuses: Counter[int] = Counter()
        """By HTTP status: how often a connection was denied."""
        self.faults: list[str] = []
        self.here = False
        self.caught_up = 0
        """How often it has caught up."""
        self._visitor, self._thread, self._longest_wait = visitor, thread, longest_wait
        self._asked: dict[str, Json] = {}
        self._socket: websockets.ClientConnection | None = None
        self._frames = self._attempts = 0

    @property
    def head(self) -> int:
        """The seq of the last event it has."""
        return len(self.events)

    @property
    def unanswered(self) -> set[str]:
        """The ids of the commands that it waits for."""
        return set(self._asked)

    async def posts(self, id: str, text: str) -> None:
        """Post a message, now or once connected."""
        await self.asks(id, "message_post", text=text)

    async def asks(self, id: str, name: str, **args: Any) -> None:
        """Send a command, now or once connected."""
        frame = {"type": "command", "id": id, "name": name, "args": args}
        self._asked[id] = frame
        if self.here:
            await self._send(frame)

    async def until(self, holds: Callable[[Json], bool]) -> Json:
        """Return the first event of which something holds, once it is there."""
        async with asyncio.timeout(PATIENCE):
            while (found := next(filter(holds, self.events), None)) is None:
                await asyncio.sleep(0.02)
        return found

    async def follow(self) -> None:
        """Connect, follow, and connect again whenever that ends, until cancelled."""
        while True:
            try:
                async with self._visitor.socket(self._thread, open_timeout=PATIENCE) as socket:
                    self._socket, self._frames = socket, 0
                    await self._send({"type": "hello", "after_seq": self.head})
                    async for text in socket:
                        await self._take(json.loads(text))
                self.closes[socket.close_code or 1006] += 1
            except websockets.ConnectionClosed as closed:
                self.closes[closed.rcvd.code if closed.rcvd else 1006] += 1
            except websockets.InvalidStatus as denied:
                self.statuses[denied.response.status_code] += 1
            except (OSError, websockets.InvalidMessage, TimeoutError):
                pass  # nobody listens there at the moment
            self.here, self._socket = False, None
            wait = min(self._longest_wait, 2.0**self._attempts) * (0.5 + random.random() / 2)
            self._attempts += 1
            await asyncio.sleep(wait)

    async def _take(self, frame: Json) -> None:
        self._frames += 1
        match frame["type"]:
            case "event" if frame["seq"] == self.head + 1:
                self.events.append(frame)
            case "event":
                self.faults.append(f"event {frame['seq']} after {self.head}")
            case "live":
                self.live.append(frame)
            case "caught_up":
                await self._caught_up()
            case "result":
                self._answered(frame)
            case "busy":
                self.busy += 1
                asyncio.get_running_loop().call_later(frame["retry_after"], self._again, frame["id"])
            case "refused":
                self.faults.append(f"{frame['code']}: {frame['because']}")
        if self._frames % ACK_EVERY == 0:
            await self._send({"type": "ack", "seq": self.head, "frames": self._frames})

    async def _caught_up(self) -> None:
        self.here, self._attempts = True, 0
        self.caught_up += 1
        for asked in list(self._asked.values()):
            await self._send(asked)

    def _answered(self, frame: Json) -> None:
        if self.answers.setdefault(frame["id"], frame) != frame:
            self.faults.append(f"{frame['id']} was answered in two ways")
        self._asked.pop(frame["id"], None)

    def _again(self, id: str) -> None:
        if self.here and id in self._asked:
            self._sending = asyncio.ensure_future(self._send(self._asked[id]))

    async def _send(self, frame: Json) -> None:
        if self._socket is not None:
            try:
                await self._socket.send(json.dumps(frame))
            except websockets.ConnectionClosed:
                self.here = False  # the reader sees the end, and connects again


@asynccontextmanager
async def following(*followers: Follower, patience: float = PATIENCE) -> AsyncIterator[None]:
    """Have pages follow until this closes; all of them have caught up when it begins."""
    tasks = [asyncio.create_task(follower.follow()) for follower in followers]
    try:
        await until(lambda: all(follower.here for follower in followers), patience)
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [error for error in ended if isinstance(error, Exception)]
    assert not failed, failed


async def until(true: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(patience):
        while not true():
            await asyncio.sleep(0.05)
