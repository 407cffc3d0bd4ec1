"""Storing what arrived, several deliveries in one transaction, and acknowledging each after it (DESIGN 8; D4 to D8).

A process has one writer. While it commits, deliveries queue; the next transaction takes what is there, so nothing
waits for company that may not come.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F, Q

from agents.models.sources import Delivery
from agents.sources import acting
from collab.db import AWAY, in_db
from collab.errors import Busy
from permissions.ids import new_id

log = structlog.get_logger(__name__)

AT_ONCE = 64
"""Deliveries of one transaction."""

MOST_QUEUED = 256
"""Deliveries that may wait for the writer: with the largest bodies, 64 MiB."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A delivery whose signature holds."""

    source_id: UUID
    event_id: str
    sent_at: datetime
    body: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a delivery is kept; ``duplicate`` if it came before, ``conflict`` if it then had another body."""

    id: UUID
    duplicate: bool
    conflict: bool


@transaction.atomic
def deliveries_store(*, arrived: Sequence[Arrived]) -> list[Stored]:
    """Store deliveries, each once: what has the id of one that is there changes nothing of it and is counted on it.

    The keys are taken in one order, so that two processes with the same deliveries wait for, and never lock out, each
    other.

    Returns:
        What became of each, in the order given.

    Raises:
        IntegrityError: a source is gone; nothing is stored.
    """
    rows: dict[tuple[UUID, str], Delivery] = {}
    for one in arrived:
        rows.setdefault((one.source_id, one.event_id), _row(one))
    ordered = sorted(rows.values(), key=lambda row: (row.source_id, row.event_id))
    Delivery.objects.bulk_create(ordered, ignore_conflicts=True)
    kept = _kept(rows)
    found, first = [], {row.id for row in ordered}
    for one in arrived:
        id, body_hash = kept[one.source_id, one.event_id]
        new = id in first
        first.discard(id)
        found.append(Stored(id, not new, body_hash != _hash(one.body)))
    _count_again(found)
    return found


class Writer:
    """Stores what is handed to it, for one event loop."""

    def __init__(self) -> None:
        self._queue: list[tuple[Arrived, asyncio.Future[Stored]]] = []
        self._task: asyncio.Task[None] | None = None
        self._new: list[UUID] = []
        self._acting: asyncio.Task[None] | None = None

    async def store(self, one: Arrived) -> Stored:
        """Store a delivery and return what became of it once that is committed; act on it afterwards.

        Raises:
            Busy: too many wait.
            OperationalError, InterfaceError: the database is away; nobody knows whether it was stored.
            DatabaseError: it cannot be stored; nothing is.
        """
        if len(self._queue) >= MOST_QUEUED:
            raise Busy("Too many deliveries wait to be stored; send it again shortly.")
        future: asyncio.Future[Stored] = asyncio.get_running_loop().create_future()
        self._queue.append((one, future))
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        try:
            while self._queue:
                batch, self._queue = self._queue[:AT_ONCE], self._queue[AT_ONCE:]
                await self._write(batch)
        finally:
            self._task = None

    async def _write(self, batch: Sequence[tuple[Arrived, asyncio.Future[Stored]]]) -> None:
        try:
            stored = await in_db(deliveries_store, arrived=[one for one, _ in batch])
        except DatabaseError as error:
            if len(batch) > 1 and not isinstance(error, AWAY):
                for one in batch:  # one of them cannot be stored, and the others need not wait for it to be fixed
                    await self._write([one])
                return
            _fail(batch, error)
        except BaseException as error:
            _fail(batch, error if isinstance(error, Exception) else ConnectionAbortedError())
            if not isinstance(error, Exception):
                raise
        else:
            for (_, future), result in zip(batch, stored, strict=True):
                if not future.done():
                    future.set_result(result)
            self._new += [one.id for one in stored if not one.duplicate]
            if self._new and self._acting is None:
                self._acting = asyncio.create_task(self._act())

    async def _act(self) -> None:
        """Have what was stored acted on, on one connection: however many arrive, the others store and serve people."""
        try:
            while self._new:
                new, self._new = self._new[:AT_ONCE], self._new[AT_ONCE:]
                await _handed_over(new)
        finally:
            self._acting = None


async def _handed_over(new: list[UUID]) -> None:
    try:
        await in_db(acting.delivered, new)
    except Exception:  # they are stored, and the sweep acts on what nobody acted on
        log.exception("deliveries_not_handed_over", number=len(new))


def _fail(batch: Sequence[tuple[Arrived, asyncio.Future[Stored]]], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)


def _row(one: Arrived) -> Delivery:
    return Delivery(
        id=new_id(), source_id=one.source_id, event_id=one.event_id, body=one.body, body_hash=_hash(one.body),
        sent_at=one.sent_at,
    )  # fmt: skip


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _kept(rows: dict[tuple[UUID, str], Delivery]) -> dict[tuple[UUID, str], tuple[UUID, str]]:
    of_sources: dict[UUID, list[str]] = defaultdict(list)
    for source_id, event_id in rows:
        of_sources[source_id].append(event_id)
    wanted = Q()
    for source_id, event_ids in of_sources.items():
        wanted |= Q(source_id=source_id, event_id__in=event_ids)
    found = Delivery.objects.filter(wanted).values_list("source_id", "event_id", "id", "body_hash")
    return {(source_id, event_id): (id, body_hash) for source_id, event_id, id, body_hash in found}


def _count_again(found: Sequence[Stored]) -> None:
    repeats = Counter(one.id for one in found if one.duplicate)
    conflicts = Counter(one.id for one in found if one.conflict)
    for id in sorted(repeats):
        Delivery.objects.filter(pk=id).update(
            repeats=F("repeats") + repeats[id], conflicts=F("conflicts") + conflicts[id]
        )
        if conflicts[id]:
            log.warning("delivery_conflict", delivery=str(id), because="Its id came again with another body.")
