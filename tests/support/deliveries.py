"""Sources of the cast, and what they deliver, sent to the ASGI application of this process."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from django.utils import timezone

from agents.models.sources import Delivery, Source
from agents.sources.hooks import Hooks
from agents.sources.schemes import SCHEMES
from agents.sources.services import source_create
from collab.db import in_db
from tests.support.cast import Studio

SECRET = "whsec_" + base64.b64encode(b"restaurant-secret-of-32-bytes!!!").decode()
OTHER = "whsec_" + base64.b64encode(b"what-a-forger-would-sign-with!!!").decode()
BODY = b'{"type": "reservation.gone", "subject": "R1", "text": "The kitchen is closed."}'


def source(studio: Studio, name: str = "restaurant", **settings: Any) -> Source:
    """Register a source in the studio's workspace."""
    given = {"label": name.title(), "handler": "json", "secret": SECRET, **settings}
    return source_create(actor=studio.ana.actor, workspace=studio.workspace.id, name=name, **given)


def delivered(of: Source, id: str = "msg_1", state: str = "unroutable", **fields: Any) -> Delivery:
    """Make a delivery of a source as if it had been admitted, which found no place yet."""
    return Delivery.objects.create(
        source=of, event_id=id, body=BODY, body_hash=hashlib.sha256(BODY).hexdigest(), sent_at=timezone.now(),
        state=state, **fields,
    )  # fmt: skip


def headers_of(
    body: bytes = BODY, *, id: str = "msg_1", secret: str = SECRET, scheme: str = "standard", off: float = 0
) -> dict[str, str]:
    """Sign a body as a source does, ``off`` seconds from the true time."""
    moment = datetime.fromtimestamp(time.time(), UTC) + timedelta(seconds=off)
    return dict(SCHEMES[scheme].sign(body, event_id=id, sent_at=moment, secret=secret))


class Sender:
    """Sends deliveries to a desk of its own."""

    def __init__(self, address: str = "192.0.2.1") -> None:
        self.hooks: Any = Hooks()
        self._http = self._from(address)

    def _from(self, address: str) -> httpx.AsyncClient:
        way = httpx.ASGITransport(app=self.hooks, client=(address, 40_000), raise_app_exceptions=True)
        return httpx.AsyncClient(transport=way, base_url="http://accord")

    async def sends(
        self, body: bytes = BODY, *, to: str = "restaurant", headers: Mapping[str, str] | None = None, **signing: Any
    ) -> httpx.Response:
        """Send a body; signed by the restaurant, unless other headers are given."""
        sent = headers_of(body, **signing) if headers is None else headers
        return await self._http.post(f"/hooks/{to}/", content=body, headers=sent)

    async def asks(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send any request."""
        return await self._http.request(method, path, **request)

    def at(self, address: str) -> Sender:
        """Return a sender to the same desk from another address."""
        other = Sender(address)
        other.hooks = self.hooks
        other._http = other._from(address)
        return other


async def in_rows(model: Any, *fields: str, **filters: Any) -> list[Any]:
    """Read fields of rows, in the database pool."""
    return await in_db(lambda: list(model.objects.filter(**filters).order_by("pk").values_list(*fields)))
