"""The socket that tells one person how much waits for them, on whatever page they are (DESIGN 9, docs/protocol.md)."""

from __future__ import annotations

import asyncio
from typing import Any

from collab.protocol import FRAME_BYTES, SUBPROTOCOL, Ack, Close, Ping
from collab.web.access import SignIn
from collab.web.consumers import FRAMES, BadFrame, SocketConsumer, read_frame, refused
from collab.web.frames import dumps
from collab.web.hub import Hub, hub
from collab.web.inbox_socket import InboxSocket
from collab.web.rates import Window
from permissions.models import User


class InboxConsumer(SocketConsumer):
    """The socket of a person's inbox, at ``/ws/inbox/``. It only tells: a client acknowledges, and may ping."""

    def __init__(self) -> None:
        super().__init__()
        self._socket: InboxSocket | None = None
        self._hub: Hub = hub()
        self._frames = Window(FRAMES, 10.0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the connection; however it ends, the hub forgets it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._socket is not None:
                await self._hub.closed(self._socket)

    async def connect(self) -> None:
        """Accept the connection, and close it again if it may not be."""
        if SUBPROTOCOL not in self.scope["subprotocols"]:
            await self.accept()
            await self.end(Close.BAD_SUBPROTOCOL)
            return
        await self.accept(SUBPROTOCOL)
        user = self.scope["user"]
        if not (isinstance(user, User) and user.is_active):
            await self.end(Close.NOT_SIGNED_IN)
            return
        sign_in = SignIn(self.scope["session"].session_key, user.pk, user.get_session_auth_hash())
        self._socket = InboxSocket(sign_in=sign_in, send=self.send, end=self.end)
        if await self._hub.opened(self._socket):
            await self._hub.inboxes.joined(self._socket)
        else:
            await self._socket.close(Close.TOO_MANY)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one frame of the client. Nothing a client sends ends the socket but too much of it."""
        socket = self._socket
        if socket is None or not socket.open:
            return
        if len(bytes_data or b"" if text_data is None else text_data.encode()) > FRAME_BYTES:
            await socket.close(Close.TOO_LONG)
        elif self._frames.wait(asyncio.get_running_loop().time()):
            await socket.close(Close.TOO_MANY)
        else:
            await self._answer(socket, text_data)

    async def _answer(self, socket: InboxSocket, text: str | None) -> None:
        try:
            frame = read_frame(text)
        except BadFrame as bad:
            await socket.text(dumps(refused(bad.id, bad.code, bad.because)))
            return
        match frame:
            case Ack():
                socket.acked(frame.frames or 0)
            case Ping():
                await socket.text(dumps({"type": "pong"}))
            case _:
                because = "This socket only tells how much waits; a thread's socket takes commands."
                await socket.text(dumps(refused(getattr(frame, "id", None), "no_commands", because)))
