"""One person's open chat with each product, spoken in the product's own protocol, timed the same way for all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import websockets

from tests.benchmarks.people import Seat
from tests.benchmarks.watching import Watcher, now, watching

REPLY = "It is done"
"""How the reply of every model begins that a chat is measured with."""


@dataclass(slots=True)
class Exchange:
    """What happened to one post, in milliseconds since it was sent; None has not happened."""

    acknowledged: float | None = None
    first_text: float | None = None
    done: float | None = None
    _sent: float = field(default_factory=now)

    def note(self, name: str) -> None:
        """Something happened now; only the first time counts."""
        if getattr(self, name) is None:
            setattr(self, name, now() - self._sent)


class Chat(Protocol):
    """A chat that is open."""

    async def send(self, text: str) -> None:
        """Post a message."""

    async def read(self) -> set[str]:
        """Read one frame and return what it tells: names of :class:`Exchange`."""


async def exchange(chat: Chat, text: str, until: tuple[str, ...]) -> Exchange:
    """Post a message and read until all of these have happened."""
    timed = Exchange()
    await chat.send(text)
    while any(getattr(timed, name) is None for name in until):
        for name in await chat.read():
            timed.note(name)
    return timed


@dataclass(slots=True)
class AccordChat:
    """A thread of Accord."""

    watcher: Watcher
    command: str = ""

    async def send(self, text: str) -> None:
        self.command = await self.watcher.post(text)

    async def read(self) -> set[str]:
        frame = await self.watcher.read()
        match frame["type"]:
            case "result" if frame["id"] == self.command:
                return {"acknowledged"}
            case "refused" | "busy":
                raise RuntimeError(f"not posted: {frame}")
            case "live":
                return {"first_text"}
            case "event" if frame["event"] == "message_posted" and frame["turn"]:
                return {"first_text"}
            case "event" if frame["event"] == "turn_ended":
                return {"done"}
        return set()


@dataclass(slots=True)
class ArtifactrChat:
    """A thread of artifactr-ai."""

    socket: Any

    async def send(self, text: str) -> None:
        command = {"type": "post_message", "thread_id": "bench", "content": text}
        await self.socket.send(json.dumps({"type": "command", "command_id": uuid4().hex, "command": command}))

    async def read(self) -> set[str]:
        frame = json.loads(await self.socket.recv())
        match frame["type"]:
            case "command_result" if frame["ok"]:
                return {"acknowledged"}
            case "command_result" | "error":
                raise RuntimeError(f"not posted: {frame}")
            case "live" if frame["event"]["type"] == "text_delta":
                return {"first_text"}
            case "event" if frame["event"]["type"] == "run_ended":
                return {"done"}
        return set()


@dataclass(slots=True)
class ChainlitChat:
    """A session of Chainlit, over its Socket.IO connection."""

    socket: Any

    async def send(self, text: str) -> None:
        step = {
            "id": str(uuid4()),
            "name": "Ana",
            "type": "user_message",
            "output": text,
            "createdAt": "2026-01-01T00:00:00Z",
        }
        await self.socket.send("42" + json.dumps(["client_message", {"message": step, "fileReferences": []}]))

    async def read(self) -> set[str]:
        text = await self.socket.recv()
        if text == "2":
            await self.socket.send("3")
        if not text.startswith("42"):
            return set()
        name, *data = json.loads(text[2:])
        if name in {"stream_start", "stream_token", "update_message"} and REPLY in json.dumps(data):
            return {"first_text"}
        return {"done"} if name == "task_end" else set()


@asynccontextmanager
async def accord_chat(url: str, seat: Seat) -> AsyncIterator[AccordChat]:
    """Open a chat with Accord."""
    async with watching(url, seat) as watcher:
        yield AccordChat(watcher)


@asynccontextmanager
async def artifactr_chat(port: int, user: str) -> AsyncIterator[ArtifactrChat]:
    """Open a chat with artifactr-ai."""
    async with websockets.connect(
        f"ws://127.0.0.1:{port}/v1/workspaces/main/stream",
        additional_headers={"x-user": user},
        subprotocols=[websockets.Subprotocol("artifactr.v1")],
        compression=None,
        max_queue=None,
        close_timeout=1,
    ) as socket:
        await socket.send(json.dumps({"type": "hello", "protocol": "artifactr.v1", "from_head": True}))
        while json.loads(await socket.recv())["type"] != "replay_complete":
            pass
        yield ArtifactrChat(socket)


@asynccontextmanager
async def chainlit_chat(port: int) -> AsyncIterator[ChainlitChat]:
    """Open a chat with Chainlit."""
    url = f"ws://127.0.0.1:{port}/ws/socket.io/?EIO=4&transport=websocket"
    async with websockets.connect(
        url, origin=websockets.Origin(f"http://127.0.0.1:{port}"), compression=None, max_queue=None, close_timeout=1
    ) as socket:
        await socket.recv()
        session = {
            "clientType": "webapp",
            "sessionId": str(uuid4()),
            "userEnv": "{}",
            "chatProfile": "",
            "threadId": "",
        }
        await socket.send("40" + json.dumps(session))
        await socket.recv()
        await socket.send('42["connection_successful"]')
        chat = ChainlitChat(socket)
        while "done" not in await chat.read():
            pass
        # What else it says on connecting comes right behind; the first exchange is not counted.
        yield chat
