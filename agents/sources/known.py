"""The sources as a process knows them: read together every few seconds, so that a delivery costs no query to judge.

A name that is not among them costs none either, and a source that was switched off or got a new secret is known as
such within ``FRESH_SECONDS``. With them comes the database's moment, which goes on by this process's own clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from agents.models.sources import Source
from collab.db import AWAY, in_db
from permissions.clock import AccordNow

FRESH_SECONDS = 2.0
"""How old what is known may be; also how often the database is asked at most, whatever arrives."""


@dataclass(frozen=True, slots=True)
class Known:
    """What judging a delivery needs of its source."""

    id: UUID
    name: str
    scheme: str
    secret: str
    old_secret: str
    old_secret_until: datetime | None
    tolerance_seconds: int
    per_minute: int
    enabled: bool

    def secrets(self, now: datetime) -> tuple[str, ...]:
        """Return the secrets that are valid at a moment: two while one takes over from the other."""
        old = self.old_secret and self.old_secret_until is not None and self.old_secret_until > now
        return (self.secret, self.old_secret) if old else (self.secret,)


_FIELDS = tuple(Known.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    sources: Mapping[str, Known]
    now: datetime | None
    read_at: float


class Directory:
    """The sources, for one event loop."""

    def __init__(self) -> None:
        self._snapshot: _Snapshot | None = None
        self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    async def find(self, name: str) -> tuple[Known, datetime] | None:
        """Return a source and the moment by the database's clock; None where there is none of that name.

        Raises:
            OperationalError, InterfaceError: the database is away, and was when it was last asked.
        """
        snapshot = self._snapshot
        if snapshot is None or time.monotonic() - snapshot.read_at > FRESH_SECONDS:
            snapshot = await self._fresh()
        known = snapshot.sources.get(name)
        if known is None or snapshot.now is None:
            return None
        return known, snapshot.now + timedelta(seconds=time.monotonic() - snapshot.read_at)

    async def _fresh(self) -> _Snapshot:
        async with self._reading:
            now = time.monotonic()
            if self._snapshot is not None and now - self._snapshot.read_at <= FRESH_SECONDS:
                return self._snapshot
            if now - self._tried_at <= FRESH_SECONDS / 2:
                raise AWAY[0]("the database was away a moment ago")
            try:
                self._snapshot = await in_db(_read)
            except AWAY:
                self._tried_at = time.monotonic()
                raise
            return self._snapshot


def _read() -> _Snapshot:
    read_at = time.monotonic()
    rows = list(Source.objects.annotate(now=AccordNow()).values(*_FIELDS, "now"))
    now = rows[0]["now"] if rows else None
    known = (Known(**{field: row[field] for field in _FIELDS}) for row in rows)
    return _Snapshot({source.name: source for source in known}, now, read_at)
