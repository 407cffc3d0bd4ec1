"""Streams of the API, opened on the ASGI application of this process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from asgiref.testing import ApplicationCommunicator

from collab.asgi import application
from collab.db import close_connections
from tests.support.clients import Connected

PATIENCE = 30.0
"""Seconds that anything a test waits for may take; far more than it does."""


@dataclass(frozen=True, slots=True)
class Said:
    """One event of a stream."""

    name: str
    id: str
    data: Any


@dataclass
class Streamed:
    """One stream: how it was answered, and what it said so far."""

    communicator: ApplicationCommunicator
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    seen: list[Said] = field(default_factory=list)
    _text: str = ""
    over: bool = False

    async def begin(self) -> None:
        start = await self.communicator.receive_output(timeout=PATIENCE)
        self.status = start["status"]
        self.headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}

    async def body(self) -> Any:
        """Return what a refusal says."""
        message = await self.communicator.receive_output(timeout=PATIENCE)
        return json.loads(message["body"])

    async def next(self) -> Said:
        """Return the next event; fail where the stream ends instead."""
        while (said := self._read()) is None:
            assert not self.over, "the stream ended"
            await self._more()
        return said

    async def until(self, name: str) -> Said:
        """Read on until an event of this name, and return it."""
        while (said := await self.next()).name != name:
            pass
        return said

    async def ended(self) -> None:
        """Read on until the stream ends."""
        while not self.over:
            await self._more()
        while self._read():
            pass

    async def _more(self) -> None:
        message = await self.communicator.receive_output(timeout=PATIENCE)
        self._text += message["body"].decode()
        self.over = not message.get("more_body", False)

    def _read(self) -> Said | None:
        """Return the next event of what has arrived; None where there is none yet."""
        while "\n\n" in self._text:
            block, _, self._text = self._text.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if "event" in fields:
                said = Said(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
                self.seen.append(said)
                return said
        return None

    async def leave(self) -> None:
        """Go away, as a client that closes its connection does."""
        await self.communicator.send_input({"type": "http.disconnect"})
        await self.communicator.wait(timeout=PATIENCE)

    def seqs(self) -> list[int]:
        return [said.data["seq"] for said in self.seen if said.name == "event"]


class Streams:
    """Opens streams, and closes those still open at the end."""

    def __init__(self) -> None:
        self._open: list[Streamed] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._open:
            if not one.communicator.future.done():
                await one.leave()
        close_connections()

    async def open(
        self, client: Connected | None, thread: UUID | str, *, last: str = "", query: str = "", method: str = "GET"
    ) -> Streamed:
        """Follow a thread as a client; the answer has begun."""
        headers = [(b"last-event-id", last.encode())] if last else []
        headers += [(b"authorization", f"Bearer {client.secret}".encode())] if client else []
        scope = {
            "type": "http", "method": method, "path": f"/api/v1/stream/{thread}", "query_string": query.encode(),
            "headers": headers, "client": ("127.0.0.1", 4000),
        }  # fmt: skip
        communicator = ApplicationCommunicator(application, scope)
        await communicator.send_input({"type": "http.request", "body": b"", "more_body": False})
        found = Streamed(communicator)
        await found.begin()
        if found.status == 200:
            self._open.append(found)
        return found
