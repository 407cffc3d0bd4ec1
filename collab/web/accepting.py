"""Accepting a socket and reading what its client sends, whichever socket it is (DESIGN 9, docs/protocol.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import ValidationError

from collab.canonical import BadJson, parse_json
from collab.errors import first_fault
from collab.protocol import CLIENT_FRAME, FRAME_BYTES, SUBPROTOCOL, Ack, Close, CommandFrame, Hello, Ping, Writing
from collab.web.access import SignIn
from collab.web.rates import Window
from collab.web.socket import Connection
from permissions.models import User

FRAMES = 600
"""Frames of any kind that a client may send in ten seconds."""

DEEPEST = 16
"""How many lists and objects of a frame may lie in each other."""

Incoming = Hello | Ack | CommandFrame | Writing | Ping


class SocketConsumer(AsyncWebsocketConsumer):
    """A socket that is accepted, and closed with a code when it may not be: a browser sees no code before."""

    # Each process has one channel, the hub's; a socket has none.
    channel_layer_alias = "none"

    def __init__(self) -> None:
        super().__init__()
        self._frames = Window(FRAMES, 10.0)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle a message. Database work looks after its connections itself (:mod:`collab.db`)."""
        handler: Callable[[dict[str, Any]], Awaitable[None]] = getattr(self, get_handler_name(message))
        await handler(message)

    async def signed_in(self) -> SignIn | None:
        """Accept the connection and return the session it was opened in; None where it was closed again."""
        if SUBPROTOCOL not in self.scope["subprotocols"]:
            await self.accept()
            await self.end(Close.BAD_SUBPROTOCOL)
            return None
        await self.accept(SUBPROTOCOL)
        user = self.scope["user"]
        if not (isinstance(user, User) and user.is_active):
            await self.end(Close.NOT_SIGNED_IN)
            return None
        return SignIn(self.scope["session"].session_key, user.pk, user.get_session_auth_hash())

    async def read(self, socket: Connection, text: str | None, data: bytes | None) -> Incoming | None:
        """Return the frame a client sent; None where it is none and was refused, or where it was too much and the
        socket was closed: nothing else that a client sends ends it."""
        if len(data or b"" if text is None else text.encode()) > FRAME_BYTES:
            await socket.close(Close.TOO_LONG)
        elif self._frames.wait(asyncio.get_running_loop().time()):
            await socket.close(Close.TOO_MANY)
        else:
            try:
                return _read(text)
            except _BadFrame as bad:
                await socket.frame(refused(bad.id, bad.code, bad.because))
        return None

    async def end(self, code: int) -> None:
        """Close with a code and the sentence that goes with it."""
        await self.close(code, Close.SENTENCES.get(code))


def refused(id: str | None, code: str, because: str) -> dict[str, Any]:
    """Return the frame that refuses a command, or a frame that is none."""
    return {"type": "refused", "id": id, "code": code, "because": because}


class _BadFrame(Exception):
    """What a client sent is no frame; ``id`` is the command's, if it was to be one."""

    def __init__(self, code: str, because: str, id: str | None = None) -> None:
        super().__init__(because)
        self.code = code
        self.because = because
        self.id = id


def _read(text: str | None) -> Incoming:
    if text is None:
        raise _BadFrame("not_text", "A frame is JSON in a text frame.")
    try:
        body = parse_json(text, max_bytes=FRAME_BYTES, max_depth=DEEPEST)
    except BadJson as error:
        raise _BadFrame(error.code, error.because) from error
    try:
        return CLIENT_FRAME.validate_python(body)
    except ValidationError as error:
        raise _BadFrame("bad_frame", first_fault(error), _id_of(body)) from error


def _id_of(body: object) -> str | None:
    id = body.get("id") if isinstance(body, dict) else None
    return id[:100] if isinstance(id, str) else None
