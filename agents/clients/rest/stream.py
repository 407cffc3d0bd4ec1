"""``GET /api/v1/stream/<thread>``: a thread's log as server-sent events, for who cannot use sockets (DESIGN 9).

Outside of Django's middleware. A stream is bounded in time and bytes, as nothing tells how much of it its client has
read; one that ends is resumed with ``Last-Event-ID``, which is a cursor of its thread.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import parse_qs
from uuid import UUID

import structlog
from django.http import HttpResponse

from agents.clients.answers import Receive, Scope, Send
from agents.clients.http import authenticated
from agents.clients.rest.asking import require_left, spend
from agents.clients.rest.cursors import place_of
from agents.clients.rest.following import Following, Lost
from agents.clients.rest.problems import Unknown, answer_to, problem
from agents.clients.rest.quotas import STREAMS
from collab import selectors
from collab.db import AWAY, in_db
from collab.errors import Busy
from permissions.actors import Client
from permissions.errors import NotFound

log = structlog.get_logger(__name__)

STREAMS_A_CLIENT = 5
STREAMS_A_PROCESS = 200

_ADDRESS = re.compile(r"/api/v1/stream/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/?")


class Stream:
    """The ASGI application of ``/api/v1/stream/``."""

    def __init__(self) -> None:
        self._open: Counter[Client] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        asked = f"{scope['method']} {scope['path']}"
        with ExitStack() as stack:
            try:
                bearer = await in_db(authenticated, scope)
                spent = spend(bearer.actor, STREAMS)
                require_left(spent)
                stack.enter_context(self._counted(bearer.actor))
                thread, position = await in_db(_position, bearer.actor, _thread(scope), _cursor(scope))
            except Exception as error:
                await _say(send, answer_to(error, asked))
                return
            if scope["method"] != "GET":
                await _say(send, problem(405, "method", "Streams are read with GET.", headers={"Allow": "GET"}))
                return
            await send({"type": "http.response.start", "status": 200, "headers": _headers(spent.headers)})
            await _sent(Following(bearer, thread, position), receive, send)

    @contextmanager
    def _counted(self, actor: Client) -> Iterator[None]:
        """Count one stream of a client for as long as this is open.

        Raises:
            Busy: the client, or everyone, has too many.
        """
        if self._open[actor] >= STREAMS_A_CLIENT:
            raise Busy(f"A client may have {STREAMS_A_CLIENT} streams at once.", retry_after=5)
        if self._open.total() >= STREAMS_A_PROCESS:
            raise Busy("Too many streams are open here at once.", retry_after=5)
        self._open[actor] += 1
        try:
            yield
        finally:
            self._open -= Counter({actor: 1})


def _thread(scope: Scope) -> UUID:
    address = _ADDRESS.fullmatch(scope["path"])
    if address is None:
        raise NotFound
    return UUID(address[1])


def _cursor(scope: Scope) -> str | None:
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if query.keys() - {"after"}:
        raise Unknown("The query of a stream holds nothing but after.")
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"last-event-id"]
    return next(iter([*sent, *query.get("after", [])]), "") or None


def _position(actor: Client, id: UUID, cursor: str | None) -> tuple[UUID, int]:
    found = selectors.thread_for(actor, id)
    return found.id, place_of(cursor, found.id, most=found.head_seq) if cursor else found.head_seq


async def _sent(following: Following, receive: Receive, send: Send) -> None:
    """Send a stream until it is over, or its client has gone."""
    gone = asyncio.ensure_future(_gone(receive, following))
    try:
        async for text in following.texts():
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
    except Lost as lost:
        said = json.dumps({"code": lost.code, "because": lost.because}, ensure_ascii=False)
        await send({"type": "http.response.body", "body": f"event: end\ndata: {said}\n\n".encode(), "more_body": True})
    except AWAY:
        log.warning("stream_away", exc_info=True)  # its client comes back with its cursor
    finally:
        gone.cancel()
        with suppress(asyncio.CancelledError):
            await gone
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive, following: Following) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    following.end()


def _headers(more: dict[str, str]) -> list[tuple[bytes, bytes]]:
    headers = {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Accel-Buffering": "no",
        **more,
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _say(send: Send, answer: HttpResponse) -> None:
    headers = {**answer.headers, "Content-Length": str(len(answer.content)), "Cache-Control": "no-store"}
    encoded = [(name.encode(), str(value).encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": encoded})
    await send({"type": "http.response.body", "body": answer.content})


stream = Stream()
"""Mounted by ``collab/asgi.py``, which knows it by the settings alone."""
