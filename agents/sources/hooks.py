"""``POST /hooks/<source>/``: what sources deliver, admitted in a fixed order outside Django's middleware (DESIGN 8).

The address and the method, the source, its rate, the size, the signature and its moment, then the row: whatever stops
a delivery before the row writes nothing. What is answered is JSON, and a refusal says why.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from django.db import IntegrityError

from agents.sources.admission import Arrived, Stored, Writer
from agents.sources.counts import count
from agents.sources.known import Directory, Known
from agents.sources.rates import Rates
from agents.sources.schemes import SCHEMES, BadDelivery, Verified
from collab.db import AWAY
from collab.errors import Busy
from collab.web.senders import network, sender_of

log = structlog.get_logger(__name__)

LARGEST = 262_144
"""Bytes of a body, the most that is taken."""

AWAY_SECONDS = 5
"""After how many seconds a sender may try again while the database is away."""

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_ADDRESS = re.compile(r"/hooks/([-a-zA-Z0-9_]{1,50})/?")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sender is told."""

    status: int
    body: Mapping[str, object]
    result: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Gone(Exception):
    """The sender went away before its body had arrived."""


class Hooks:
    """The ASGI application of ``/hooks/``."""

    def __init__(self) -> None:
        self._desk: Desk | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        loop = asyncio.get_running_loop()
        if self._desk is None or self._desk.loop is not loop:
            self._desk = Desk(loop)
        address = _ADDRESS.fullmatch(scope["path"])
        name = address[1] if address else ""
        try:
            answer, known = await self._desk.answer(name, scope, receive)
        except Gone:
            return
        count(name if known else "", answer.result)
        await _say(send, answer)


class Desk:
    """What judges and stores deliveries, for one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._directory = Directory()
        self._writer = Writer()
        self._asked, self._signed = Rates(), Rates()

    async def answer(self, name: str, scope: Scope, receive: Receive) -> tuple[Answer, bool]:
        """Return what a sender is told, and whether there is a source of this name.

        Raises:
            Gone: nobody is there to be told.
        """
        if name and scope["method"] != "POST":
            return _refused(405, "method", "Deliveries are sent with POST.", Allow="POST"), False
        try:
            found = await self._directory.find(name) if name else None
        except AWAY:
            return _away(), False
        if found is None:
            return _refused(404, "no_such_source", "There is no source of this name."), False
        source, now = found
        refused = self._before_reading(source, scope)
        return refused or await self._admitted(source, now, scope, receive), True

    def _before_reading(self, source: Known, scope: Scope) -> Answer | None:
        if not source.enabled:
            return _refused(404, "switched_off", "This source is switched off.")
        key = (source.id, network(sender_of(scope)))
        if wait := self._asked.wait(key, per_minute=source.per_minute, now=time.monotonic()):
            return _too_many(wait)
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(value.isdigit() and (len(value) > 12 or int(value) > LARGEST) for value in lengths):
            return _too_large()
        return None

    async def _admitted(self, source: Known, now: datetime, scope: Scope, receive: Receive) -> Answer:
        body = await _read(receive)
        if body is None:
            return _too_large()
        verdict = SCHEMES[source.scheme].verify(
            scope["headers"], body, secrets=source.secrets(now), now=now, tolerance=source.tolerance_seconds
        )
        if isinstance(verdict, BadDelivery):
            return _refused(verdict.status, verdict.code, verdict.because)
        if wait := self._signed.wait(source.id, per_minute=source.per_minute, now=time.monotonic()):
            return _too_many(wait)
        return await self._stored(source, verdict, body)

    async def _stored(self, source: Known, verdict: Verified, body: bytes) -> Answer:
        try:
            stored = await self._writer.store(Arrived(source.id, verdict.event_id, verdict.sent_at, body))
        except Busy as busy:
            return _refused(429, busy.code, busy.because, **{"Retry-After": "1"})
        except AWAY:
            return _away()
        except IntegrityError:
            return _refused(404, "no_such_source", "There is no source of this name any more.")
        except Exception:
            # What is not stored must come again, so the sender is told to send it again and nothing else.
            log.exception("delivery_not_stored", source=source.name, event_id=verdict.event_id)
            return _away()
        return _acknowledged(stored)


def _acknowledged(stored: Stored) -> Answer:
    body: dict[str, object] = {"delivery": str(stored.id), "duplicate": stored.duplicate}
    if stored.conflict:
        # The first one stands. A refusal would make its sender send this one for days.
        return Answer(200, {**body, "conflict": True}, "conflict")
    return Answer(200, body, "repeated") if stored.duplicate else Answer(202, body, "stored")


def _refused(status: int, code: str, because: str, **headers: str) -> Answer:
    return Answer(status, {"error": code, "because": because}, code, headers)


def _too_many(wait: float) -> Answer:
    return _refused(429, "too_many", "Too many deliveries at once.", **{"Retry-After": str(math.ceil(wait))})


def _too_large() -> Answer:
    return _refused(413, "too_large", f"A body may take {LARGEST:,} bytes.")


def _away() -> Answer:
    because = "It could not be stored at this moment; send it again."
    return _refused(503, "away", because, **{"Retry-After": str(AWAY_SECONDS)})


async def _read(receive: Receive) -> bytes | None:
    """Read a body; None once it is larger than what is taken, and no more of it is read then.

    Raises:
        Gone: the sender went away.
    """
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


async def _say(send: Send, answer: Answer) -> None:
    body = json.dumps(answer.body).encode()
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        **answer.headers,
    }
    await send(
        {
            "type": "http.response.start",
            "status": answer.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})


hooks = Hooks()
"""Mounted by ``collab/asgi.py``, which knows it by the settings alone."""
