"""A server's thread as someone sees it who watches, and its database as it lies there once the server is dead."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import websockets

from tests.support.visitor import Visitor

Json = dict[str, Any]
PATIENCE = 60.0
"""Seconds that anything a test waits for may take; far more than it does."""

SCRIPT = Path(__file__).with_name("script.yaml")
LEASE_SECONDS = "2"


class Watch:
    """One socket that has caught up, and every frame it brought."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self.seen: list[Json] = []
        self._socket = socket

    async def send(self, **frame: Any) -> None:
        await self._socket.send(json.dumps(frame))

    async def until(self, holds: Callable[[Json], bool]) -> Json:
        """Read on until such a frame, and return it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                frame: Json = json.loads(await self._socket.recv())
                self.seen.append(frame)
                if holds(frame):
                    return frame

    async def posts(self, id: str, text: str) -> Json:
        """Post a message and return its answer."""
        await self.send(type="command", id=id, name="message_post", args={"text": text})
        return await self.until(lambda frame: frame["type"] in {"result", "refused"} and frame["id"] == id)

    async def ends(self) -> Json:
        """Return the event that a turn was completed with, once it is there."""
        return next(filter(_completed, self.seen), None) or await self.until(_completed)


@asynccontextmanager
async def watching(visitor: Visitor, thread: UUID) -> AsyncIterator[Watch]:
    """Watch a thread from its first event on."""
    async with visitor.socket(thread) as socket:
        watch = Watch(socket)
        await watch.send(type="hello", after_seq=0)
        await watch.until(lambda frame: frame["type"] == "caught_up")
        yield watch


def _completed(frame: Json) -> bool:
    return is_event(frame, "turn_ended") and frame["data"]["status"] == "completed"


def is_event(frame: Json, type: str) -> bool:
    """Say whether a frame is an event of this type."""
    return frame["type"] == "event" and frame["event"] == type


def measured(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Print a measurement for whoever runs the tests."""
    with capsys.disabled():
        sys.stdout.write(f"\n{text}\n")


def since(moment: float) -> str:
    """Return the seconds since a moment of the monotonic clock, to be printed."""
    return f"{time.monotonic() - moment:.1f} s"
