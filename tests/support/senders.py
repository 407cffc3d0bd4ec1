"""Deliveries that are stored, routes, and timers, made for tests of what becomes of them."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.models.sources import Delivery, Route, Source
from agents.models.timers import Timer
from agents.models.turns import Call
from agents.timers.services import timer_set
from collab.models.threads import Thread
from tests.support.cast import Someone


def stored(source: Source, event_id: str = "msg_1", *, raw: bytes | None = None, **body: Any) -> Delivery:
    """Store a delivery as admission does: a JSON object of the handler ``json``, or raw bytes."""
    given = {"type": "table.offered", "text": "A table for 4 is free.", **body}
    sent = json.dumps(given).encode() if raw is None else raw
    return Delivery.objects.create(
        source=source,
        event_id=event_id,
        body=sent,
        body_hash=hashlib.sha256(sent).hexdigest(),
        sent_at=datetime.now(UTC),
    )


def routed(
    source: Source, subject: str, thread: Thread, owner: Someone | None = None, call: Call | None = None
) -> Route:
    """Have a subject of a source be known in a thread."""
    return Route.objects.create(
        source=source, subject=subject, thread=thread, owner=owner.actor if owner else None, call=call
    )


def in_minutes(minutes: int) -> str:
    """Return the local time, in UTC, so many whole minutes from now."""
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M")


def sets(someone: Someone, thread: Thread, text: str = "Call the hall.", *, minutes: int = 10, **more: Any) -> Timer:
    """Set a timer as a person, so many minutes from now."""
    return timer_set(actor=someone.actor, thread=thread.id, text=text, at=in_minutes(minutes), **more)
