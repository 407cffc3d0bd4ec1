"""What the applications outside of Django's middleware answer when they refuse: JSON with our code and sentence."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

AWAY_SECONDS = 5
"""After how many seconds a client may ask again while the database is away."""


async def say(send: Send, status: int, code: str, because: str, headers: Mapping[str, str] | None = None) -> None:
    """Answer a request with a refusal."""
    body = json.dumps({"error": code, "code": code, "because": because, "error_description": because}).encode()
    told = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        **(headers or {}),
    }
    pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def say_away(send: Send) -> None:
    """Answer a request while the database is away."""
    because = "The database is away at this moment; send it again."
    await say(send, 503, "away", because, {"Retry-After": str(AWAY_SECONDS)})


class Answering:
    """A ``send`` that remembers whether an answer has begun, and with which headers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.over = False

    async def __call__(self, message: Any) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in message["headers"]}
        elif not message.get("more_body", False):
            self.over = True
        await self._send(message)
