"""Sockets of the cast, opened on the ASGI application of this process."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections
from django.test import Client

from collab.db import close_connections, in_db
from collab.protocol import SERVER_FRAME, SUBPROTOCOL
from collab.web.routing import sockets as routes
from permissions.models import User
from tests.support.cast import Someone

PATIENCE = 30.0
"""Seconds that anything a test waits for may take; far more than it does."""

Json = dict[str, Any]


def session_of(user: User) -> str:
    """Sign a person in and return the key of their session."""
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@dataclass
class Connection:
    """One socket: every frame it brings is held against the protocol, and kept in ``seen``."""

    socket: WebsocketCommunicator
    session: str
    seen: list[Json] = field(default_factory=list)
    _ids: Any = field(default_factory=lambda: count(1))

    async def send(self, **frame: Any) -> None:
        await self.socket.send_json_to(frame)

    async def next(self) -> Json:
        """Return the next frame; fail if the socket closes instead."""
        text = await self.socket.receive_from(timeout=PATIENCE)
        frame: Json = json.loads(text)
        SERVER_FRAME.validate_python(frame)
        self.seen.append(frame)
        return frame

    async def until(self, type: str, **fields: Any) -> Json:
        """Read on until a frame of this type with these fields, and return it."""
        while True:
            frame = await self.next()
            if frame["type"] == type and all(frame[name] == value for name, value in fields.items()):
                return frame

    async def closed(self) -> int:
        """Read on until the socket is closed, and return the code."""
        while True:
            message = await self.socket.receive_output(timeout=PATIENCE)
            if message["type"] == "websocket.close":
                code: int = message["code"]
                return code
            self.seen.append(json.loads(message["text"]))

    async def hello(self, after_seq: int = 0) -> Json:
        """Say hello, and return the frame that ends catching up."""
        await self.send(type="hello", after_seq=after_seq)
        return await self.until("caught_up")

    async def command(self, name: str, id: str = "", **args: Any) -> Json:
        """Send a command and return its answer."""
        id = id or f"c{next(self._ids)}"
        await self.send(type="command", id=id, name=name, args=args)
        while True:
            frame = await self.next()
            if frame["type"] in {"result", "refused", "busy"} and frame["id"] == id:
                return frame

    async def settled(self) -> list[Json]:
        """Return everything seen up to the answer to a ping sent at this moment."""
        await self.send(type="ping")
        await self.until("pong")
        return self.seen

    def events(self) -> list[Json]:
        return [frame for frame in self.seen if frame["type"] == "event"]

    def seqs(self) -> list[int]:
        return [frame["seq"] for frame in self.events()]

    async def leave(self) -> None:
        await self.socket.disconnect(timeout=PATIENCE)


class Sockets:
    """Opens sockets, and closes those still open at the end."""

    def __init__(self) -> None:
        self._open: list[WebsocketCommunicator] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for socket in self._open:
            with suppress(asyncio.CancelledError):  # of one whose frames were waited for in vain
                await socket.disconnect(timeout=PATIENCE)
        close_connections()
        # Sessions are read on the one thread that `sync_to_async` shares, which keeps its connection otherwise.
        await sync_to_async(connections.close_all)()

    async def connect(
        self,
        someone: Someone | None,
        thread: UUID | str,
        *,
        subprotocols: tuple[str, ...] = (SUBPROTOCOL,),
        origin: str | None = "http://localhost",
        session: str = "",
    ) -> Connection:
        """Open a socket to a thread, signed in as someone; it is accepted (or the test fails) and says nothing yet."""
        connection = await self.attempt(
            someone, f"/ws/threads/{thread}/", subprotocols=subprotocols, origin=origin, session=session
        )
        assert connection is not None, "the connection was denied"
        return connection

    async def attempt(
        self,
        someone: Someone | None,
        path: str,
        *,
        subprotocols: tuple[str, ...] = (SUBPROTOCOL,),
        origin: str | None = "http://localhost",
        session: str = "",
    ) -> Connection | None:
        """Open a socket; None when it was denied before it was accepted."""
        key = session or (await in_db(session_of, someone.user) if someone else "")
        headers = [(b"cookie", f"{settings.SESSION_COOKIE_NAME}={key}".encode())] if key else []
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        socket = WebsocketCommunicator(routes, path, headers, list(subprotocols))
        accepted, _ = await socket.connect(timeout=PATIENCE)
        if not accepted:
            return None
        self._open.append(socket)
        return Connection(socket, key)
