"""The socket that tells one person how much waits for them, on whatever page they are (DESIGN 9, docs/protocol.md)."""

from __future__ import annotations

from typing import Any

from collab.protocol import Ack, Close, Ping
from collab.web.accepting import SocketConsumer, refused
from collab.web.hub import Hub, hub
from collab.web.inbox_socket import InboxSocket


class InboxConsumer(SocketConsumer):
    """The socket of a person's inbox, at ``/ws/inbox/``. It only tells: a client acknowledges, and may ping."""

    def __init__(self) -> None:
        super().__init__()
        self._socket: InboxSocket | None = None
        self._hub: Hub = hub()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the connection; however it ends, the hub forgets it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._socket is not None:
                await self._hub.closed(self._socket)

    async def connect(self) -> None:
        """Accept the connection, and close it again if it may not be."""
        sign_in = await self.signed_in()
        if sign_in is None:
            return
        self._socket = InboxSocket(sign_in=sign_in, send=self.send, end=self.end)
        if await self._hub.opened(self._socket):
            await self._hub.inboxes.joined(self._socket)
        else:
            await self._socket.close(Close.TOO_MANY)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one frame of the client."""
        socket = self._socket
        if socket is None or not socket.open:
            return
        match await self.read(socket, text_data, bytes_data):
            case None:
                return
            case Ack(seq=seq, frames=frames):
                socket.acked(seq, frames or 0)
            case Ping():
                await socket.frame({"type": "pong"})
            case frame:
                because = "This socket only tells how much waits; a thread's socket takes commands."
                await socket.frame(refused(getattr(frame, "id", None), "no_commands", because))
