"""The database's clock, which decides what has expired; tests can move it (DESIGN 7).

``accord_now()`` is a function of the database itself, so every process that shares a database shares its time. On
PostgreSQL a migration creates it; on SQLite each new connection registers it, and answers in the text form in which
Django stores moments there, so the two compare.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, Func

NOW_SQL = "accord_now()"
"""The moment, in raw SQL."""


class AccordNow(Func):
    """The moment by the database's clock, as an expression of the ORM; usable as ``db_default``."""

    function = "accord_now"
    template = "%(function)s()"
    arity = 0
    allowed_default = True
    output_field = DateTimeField()


class _Offset:
    """How far tests have moved the clock of this process, or where it stands, and the connections that must know."""

    seconds = 0.0
    stands_at: datetime | None = None
    connections: WeakSet[BaseDatabaseWrapper] = WeakSet()


def move_clock(seconds: float) -> None:
    """Move the clock of every connection of this process to ``seconds`` from the true time; 0 puts it right.

    For tests. It reaches open connections of all threads and every later one; on PostgreSQL a transaction that rolls
    back takes the move with it, so move the clock outside the block under test.
    """
    _Offset.seconds = seconds
    for connection in list(_Offset.connections):
        if connection.connection is not None:
            _tell(connection)


def stop_clock(moment: datetime | None) -> None:
    """Let the clock of this process stand at a moment with its time zone; None lets it go again.

    For scenarios, which use SQLite: the clock of a PostgreSQL, which other processes share, is not stopped.
    """
    _Offset.stands_at = moment


def prepare_connection(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Give a new connection the clock (a receiver of ``connection_created``)."""
    _Offset.connections.add(connection)
    if connection.vendor == "sqlite":
        connection.connection.create_function("accord_now", 0, _sqlite_now)
    elif _Offset.seconds:
        _tell(connection)


def _tell(connection: BaseDatabaseWrapper) -> None:
    if connection.vendor == "postgresql":
        connection.connection.execute(
            "SELECT set_config('accord.clock_offset', %s, false)", [f"{_Offset.seconds} seconds"]
        )


def _sqlite_now() -> str:
    moment = _Offset.stands_at or datetime.now(UTC) + timedelta(seconds=_Offset.seconds)
    return str(moment.astimezone(UTC).replace(tzinfo=None))
