"""What clients are answered by outside of Django's middleware, loaded when it is first needed: the MCP SDK takes
seconds to load, and most commands and most tests need none of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from django.utils.module_loading import import_string

from agents.clients.answers import Receive, Scope, Send


class Mount:
    """An ASGI application that is loaded in a thread, so that nobody's live text waits for it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.app: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await (await self.loaded())(scope, receive, send)

    async def loaded(self) -> Any:
        """Return the application."""
        if self.app is None:
            self.app = await asyncio.to_thread(import_string, self._path)
        return self.app


mcp = Mount("agents.clients.mcp.asgi.mcp")
oauth = Mount("agents.clients.oauth.asgi.oauth")


async def start() -> Callable[[], Awaitable[None]]:
    """Return what ends the sessions of whatever was asked for meanwhile (ACCORD_SERVE_STARTS)."""

    async def stop() -> None:
        if mcp.app is not None:
            await mcp.app.end()

    return stop
