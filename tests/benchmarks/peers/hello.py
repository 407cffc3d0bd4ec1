"""The least that an ASGI application does: it answers every request with a word."""

from __future__ import annotations

from typing import Any

WORD = b"hello"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """Answer one request."""
    headers = [(b"Content-Type", b"text/plain"), (b"Content-Length", str(len(WORD)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": WORD})
