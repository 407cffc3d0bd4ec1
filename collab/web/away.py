"""What pages and sockets answer while the database is away (FAILURES C9 and C12): come back soon, never "it failed"."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views.defaults import server_error

from collab.db import AWAY
from collab.protocol import SUBPROTOCOL, Close

logger = logging.getLogger(__name__)

AWAY_SENTENCE = "The database is away; connect again and resume."

RETRY_AFTER = 5
"""Seconds after which a page may be asked for again."""

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that an exception ended: 503 and when to try again if the database is away, else 500."""
    if isinstance(sys.exc_info()[1], AWAY):
        page = loader.get_template("503.html").render()
        return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_AFTER)})
    return server_error(request)


class ResumingSockets:
    """Closes a socket that met a database that is away with the code that brings its client back. One that was not
    accepted yet is accepted first: a browser sees no code before."""

    def __init__(self, inner: App) -> None:
        self._inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve a connection."""
        sent: set[str] = set()

        async def noting(message: dict[str, Any]) -> None:
            sent.add(message["type"])
            await send(message)

        try:
            await self._inner(scope, receive, noting)
        except AWAY:
            logger.exception("A socket met a database that is away")
            if "websocket.accept" not in sent:
                known = SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
                await send({"type": "websocket.accept", "subprotocol": known})
            if "websocket.close" not in sent:
                await send({"type": "websocket.close", "code": Close.RESUME, "reason": AWAY_SENTENCE})
