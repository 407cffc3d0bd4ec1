"""One socket as the hub sees it: whose it is, how far it was sent, and how it is sent to and closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from collab.protocol import Close
from collab.web.access import Admission, SignIn, Viewer
from collab.web.frames import dumps
from collab.web.unread import Unread

ACK_SECONDS = 30.0
"""How long a socket that catches up waits for its client to read."""

Send = Callable[[str], Awaitable[None]]
End = Callable[[int], Awaitable[None]]


class Connection:
    """A socket of one person that was accepted. Its client acknowledges what it has read: one that does not is closed
    and told to resume."""

    def __init__(self, *, sign_in: SignIn, send: Send, end: End) -> None:
        self.sign_in = sign_in
        self.open = True
        self._send = send
        self._end = end
        self._unread = Unread()
        self._read = asyncio.Event()

    @property
    def person(self) -> UUID:
        """Whose socket it is."""
        return self.sign_in.person

    async def frame(self, frame: dict[str, Any]) -> None:
        """Send a frame of this socket alone."""
        await self.text(dumps(frame))

    async def text(self, text: str, seq: int | None = None) -> None:
        """Send a serialised frame; ``seq`` is the event's. A reader that is too slow is closed and told to resume."""
        if not self.open:
            return
        self._unread.sent(len(text.encode()), seq)
        if self._unread.closes:
            await self.close(Close.RESUME)
        else:
            await self._hand_over(text)

    def acked(self, seq: int, frames: int) -> None:
        """Note what the client has read."""
        self._unread.acked(seq, frames)
        if not self._unread.paces:
            self._read.set()

    async def _hand_over(self, text: str) -> None:
        """One that went away before its end was heard is let go: the others who are told the same are sent the rest."""
        try:
            await self._send(text)
        except RuntimeError:
            self.open = False
            self._read.set()

    async def close(self, code: int) -> None:
        """Close the connection; nothing is sent after."""
        if self.open:
            self.open = False
            self._read.set()
            await self._end(code)


class Socket(Connection):
    """A connection of one person to one thread.

    ``position`` is the seq of the last event it was sent. Before it has ``caught_up`` it reads the log by itself;
    afterwards the hub sends it what everyone gets.
    """

    def __init__(self, *, thread_id: UUID, sign_in: SignIn, admission: Admission, send: Send, end: End) -> None:
        super().__init__(sign_in=sign_in, send=send, end=end)
        self.thread_id = thread_id
        self.admission = admission
        self.position = 0
        self.caught_up = False
        self.live_turn: str | None = None
        self.live_length = 0

    @property
    def viewer(self) -> Viewer:
        return self.admission.viewer

    async def text(self, text: str, seq: int | None = None) -> None:
        """Send a serialised frame, and go on from its event, where it is one."""
        if self.open and seq is not None:
            self.position = seq
        await super().text(text, seq)

    async def live(self, frame: dict[str, Any], text: str) -> bool:
        """Send live text, unless its reader is slow; return whether it lacks what comes before: it needs a snapshot."""
        if self._unread.paces:
            return False
        if frame["offset"] > (self.live_length if frame["turn"] == self.live_turn else 0):
            return True
        self.live_turn, self.live_length = frame["turn"], frame["offset"] + len(frame["text"])
        await self.text(text)
        return False

    async def room(self) -> None:
        """Wait until the client has read enough to be sent more; one that does not is closed and told to resume."""
        while self._unread.paces and self.open:
            self._read.clear()
            try:
                await asyncio.wait_for(self._read.wait(), ACK_SECONDS)
            except TimeoutError:
                await self.close(Close.RESUME)
