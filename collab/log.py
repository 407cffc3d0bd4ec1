"""The log: a thread's lock, appending, reading, verifying. The only writer of Event (DESIGN 4).

The thread's row is the thread's lock. Whoever appends holds it from before they read what they decide on until they
commit, so seq order is commit order, a reader never skips an event, and no window lies between two of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from collab import doorbell, events, inbox
from collab.canonical import event_hash
from collab.models.threads import Event, Thread
from permissions.actors import Actor, dumps
from permissions.errors import NotFound
from permissions.ids import new_id

_held = threading.local()
"""The locks this thread of the process holds (as its database connection is), so that a service called inside another
shares its lock."""


@dataclass(slots=True)
class Locked:
    """A thread whose row this transaction holds: the row, the database's time, and the events to write."""

    row: Thread
    now: datetime
    pending: list[Event] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)

    @property
    def next_seq(self) -> int:
        """The seq that the next event appended will get."""
        return self.row.head_seq + 1

    def change(self, **values: Any) -> None:
        """Change columns of the thread's row; they are written with the events, in one statement."""
        for name, value in values.items():
            setattr(self.row, name, value)
        self.changed |= values.keys()


@contextmanager
def thread_locked(thread_id: UUID) -> Iterator[Locked]:
    """Open a transaction that holds a thread's row; on leaving, write the events appended and ring once committed.

    Inside one that already holds it, this is a savepoint of it: if it fails, what it appended is dropped.

    Raises:
        NotFound: there is no such thread.
    """
    held = _locks()
    if (outer := held.get(thread_id)) is not None:
        with _savepoint(outer):
            yield outer
        return
    with transaction.atomic():
        locked = _lock(thread_id)
        held[thread_id] = locked
        try:
            yield locked
            _write(locked)
        finally:
            del held[thread_id]


def append(locked: Locked, event: events.Fact, *, actor: Actor, turn: UUID | None = None, grants_epoch: int = 0) -> int:
    """Append an event to a locked thread and return its seq.

    Args:
        turn: the turn it belongs to; the event then carries the lease's epoch.
        grants_epoch: the workspace's epoch that the write was decided at, where one was.
    """
    row = locked.row
    seq, data = row.head_seq + 1, events.dump(event)
    epoch = row.lease_epoch if turn else 0
    record = Event(
        id=new_id(), thread_id=row.id, seq=seq, type=event.type, actor=actor, turn_id=turn, lease_epoch=epoch,
        grants_epoch=grants_epoch, data=data, at=locked.now, prev_hash=row.head_hash,
    )  # fmt: skip
    record.hash = hash_of(record)
    locked.pending.append(record)
    locked.change(head_seq=seq, head_hash=record.hash)
    return seq


def hash_of(event: Event) -> str:
    """Return the hash an event must carry: over its stored texts and the hash before it."""
    return event_hash(
        event.prev_hash,
        str(event.thread_id),
        str(event.seq),
        event.type,
        dumps(event.actor),
        str(event.turn_id or ""),
        str(event.lease_epoch),
        str(event.grants_epoch),
        event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        event.data,
    )


def read(thread_id: UUID, *, after: int, upto: int | None = None, limit: int = 500) -> list[Event]:
    """Return the events after a seq, oldest first, at most ``limit`` of them."""
    found = Event.objects.filter(thread_id=thread_id, seq__gt=after)
    if upto is not None:
        found = found.filter(seq__lte=upto)
    return list(found.order_by("seq")[:limit])


def verify(thread_id: UUID) -> str | None:
    """Check a thread's chain from its first event to its head.

    Returns:
        None when it holds, else a sentence that names the first seq where it does not.
    """
    seq, last = 0, "0" * 64
    head_seq, head_hash = _head(thread_id)
    at_head = last
    for event in Event.objects.filter(thread_id=thread_id).order_by("seq").iterator():
        seq += 1
        if event.seq != seq:
            return f"event {seq} is missing (found {event.seq})"
        if event.prev_hash != last or event.hash != hash_of(event):
            return f"event {seq} does not match its hash"
        last = event.hash
        at_head = last if seq <= head_seq else at_head
    # The log may have grown meanwhile: it reaches the head read before its events, and goes no further than the newest.
    if seq < head_seq or at_head != head_hash or seq > _head(thread_id)[0]:
        return f"the thread's head is {head_seq}, its log ends at {seq}"
    return None


def _head(thread_id: UUID) -> tuple[int, str]:
    return Thread.objects.values_list("head_seq", "head_hash").get(pk=thread_id)


def _locks() -> dict[UUID, Locked]:
    if not hasattr(_held, "locks"):
        _held.locks = {}
    locks: dict[UUID, Locked] = _held.locks
    return locks


@contextmanager
def _savepoint(outer: Locked) -> Iterator[None]:
    mark, before = len(outer.pending), {name: getattr(outer.row, name) for name in _restorable(outer)}
    try:
        with transaction.atomic():
            yield
    except BaseException:
        del outer.pending[mark:]
        for name, value in before.items():
            setattr(outer.row, name, value)
        raise


def _restorable(locked: Locked) -> list[str]:
    return [column.attname for column in locked.row._meta.concrete_fields]


def _lock(thread_id: UUID) -> Locked:
    # SQLite's immediate transaction already excludes every other writer, and it knows no row locks.
    suffix = " FOR NO KEY UPDATE" if connection.vendor == "postgresql" else ""
    table, key = Thread._meta.db_table, Thread._meta.pk.get_db_prep_value(thread_id, connection)
    # Named, not *: a statement that is prepared must return the same columns after a migration adds one.
    columns = ", ".join(f'"{column.column}"' for column in Thread._meta.concrete_fields)
    sql = f'SELECT {columns}, accord_now() AS now FROM "{table}" WHERE id = %s{suffix}'
    rows = list(Thread.objects.raw(sql, [key]))
    if not rows:
        raise NotFound()
    now: Any = vars(rows[0])["now"]
    return Locked(rows[0], now if isinstance(now, datetime) else datetime.fromisoformat(now).replace(tzinfo=UTC))


def _write(locked: Locked) -> None:
    if locked.changed:
        locked.row.save(update_fields=locked.changed)
    if locked.pending:
        Event.objects.bulk_create(locked.pending)
        doorbell.ring_on_commit(locked.row.id, locked.row.head_seq)
        if inbox.changed_by(event.type for event in locked.pending):
            doorbell.inbox_changed_on_commit(locked.row.workspace_id)
