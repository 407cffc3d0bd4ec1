"""A socket of the protocol ``accord.v1`` as the load generator holds it: it reads, acknowledges and posts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import websockets

from tests.benchmarks.people import Seat

ACK_EVERY = 20
"""Frames between two acknowledgements (docs/protocol.md, ack)."""

EVENT = re.compile(r'\{"type":"event","seq":(\d+)')
BEYOND = 2**40
BIG = 16 * 1024 * 1024

Json = dict[str, Any]


class Watcher:
    """One open socket. ``seq`` is the last event it knows; ``frames`` counts what came."""

    def __init__(self, socket: Any, seat: Seat) -> None:
        self.socket = socket
        self.seat = seat
        self.seq = 0
        self.frames = 0

    async def hello(self) -> None:
        """Say hello from the end of the log, and read until everything is current."""
        # Where the log ends is told in answer to a cursor, so the first one names too much and is refused.
        await self.socket.send(json.dumps({"type": "hello", "after_seq": BEYOND}))
        while (frame := await self.read())["type"] != "refused":
            self.seq = frame.get("head_seq", self.seq)
        await self.socket.send(json.dumps({"type": "hello", "after_seq": self.seq}))
        while (await self.read())["type"] != "caught_up":
            pass

    async def read(self) -> Json:
        """Return the next frame, acknowledging what came now and then."""
        frame: Json = json.loads(await self.read_text())
        return frame

    async def read_text(self) -> str:
        """Return the next frame as it came; the same."""
        text: str = await self.socket.recv()
        self.frames += 1
        if event := EVENT.match(text):
            self.seq = int(event[1])
        if self.frames % ACK_EVERY == 0:
            await self.ack()
        return text

    async def ack(self) -> None:
        """Acknowledge everything that came."""
        await self.socket.send(json.dumps({"type": "ack", "seq": self.seq, "frames": self.frames}))

    async def post(self, text: str) -> str:
        """Send a message and return the id of its command."""
        return await self.command("message_post", text=text)

    async def command(self, name: str, **args: Any) -> str:
        """Send a command and return its id."""
        command = uuid4().hex
        await self.socket.send(json.dumps({"type": "command", "id": command, "name": name, "args": args}))
        return command


@asynccontextmanager
async def watching(url: str, seat: Seat, *, says_hello: bool = True) -> AsyncIterator[Watcher]:
    """Open a socket on a server, and close it at the end."""
    async with websockets.connect(
        f"{url.replace('http', 'ws', 1)}/ws/threads/{seat.thread}/",
        subprotocols=[websockets.Subprotocol("accord.v1")],
        origin=websockets.Origin(url),
        additional_headers={"Cookie": f"sessionid={seat.session}"},
        compression=None,
        ping_interval=None,
        max_size=BIG,
        max_queue=None,
        close_timeout=1,
        open_timeout=60,
    ) as socket:
        watcher = Watcher(socket, seat)
        if says_hello:
            await watcher.hello()
        yield watcher


def now() -> float:
    """Return milliseconds of the clock that all processes of the machine share."""
    return time.monotonic_ns() / 1e6
