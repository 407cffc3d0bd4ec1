"""The job engine's connections, for a database that goes away and comes back (FAILURES I7).

The engine lets a task of its own die of its first error: the one that hears of jobs, and the one that says that its
worker lives. The worker then goes on deaf, and finds jobs only when it looks for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, LiteralString, TypeVar

import psycopg
import structlog
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from psycopg import sql

log = structlog.get_logger(__name__)
T = TypeVar("T")

CONNECTIONS = 4

LOOK = '{"type": "job_inserted", "job_id": 0}'
"""What the engine's triggers notify of when there may be something to do."""

QUIET_SECONDS = 30.0
"""After how long without a notification the connection is tried."""

POOL_SECONDS = 5.0
"""How long a statement waits for a connection: not longer, since it is asked again, and a process that ends is not."""

AWAY_SECONDS = 1.0
"""How long to wait before a database that is away is asked again."""


class PatientConnector(PsycopgConnector):
    """Asks a database that is away again and again, until the process ends.

    What was asked may have been done before the answer was lost. All that a worker asks may be done twice: a job that
    was taken and is not worked on is made up for by the sweep (docs/decisions/0011).
    """

    def __init__(self, process_ends: asyncio.Event, connecting: dict[str, Any]) -> None:
        """Prepare to connect.

        Args:
            process_ends: once it is set, a database that is away is an error.
            connecting: what each connection is made with.
        """
        super().__init__(kwargs=connecting, min_size=1, max_size=CONNECTIONS, timeout=POOL_SECONDS)
        self._process_ends, self._connecting = process_ends, connecting

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Carry out a statement."""
        await self._patiently(partial(super().execute_query_async, query, **arguments))

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """Return the row of a statement."""
        return await self._patiently(partial(super().execute_query_one_async, query, **arguments))

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement."""
        return await self._patiently(partial(super().execute_query_all_async, query, **arguments))

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Hear what is notified, until cancelled; whenever it begins to listen, jobs are looked for: those that came
        while nobody listened rang in vain."""
        listening = [sql.SQL("LISTEN {}").format(sql.Identifier(channel)) for channel in channels]
        await self._patiently(partial(self._listen, on_notification, listening))

    async def _listen(self, on_notification: Notify, listening: list[sql.Composed]) -> None:
        try:
            async with await psycopg.AsyncConnection.connect(**self._connecting, autocommit=True) as connection:
                for statement in listening:
                    await connection.execute(statement)
                await on_notification(channel="", payload=LOOK)
                while True:
                    async for heard in connection.notifies(timeout=QUIET_SECONDS):
                        await on_notification(channel=heard.channel, payload=heard.payload)
                    await connection.execute("SELECT 1")  # a connection that died quietly fails here
        except psycopg.Error as error:
            raise ConnectorException from error

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await ask()
            except ConnectorException as error:
                if self._process_ends.is_set() or not isinstance(error.__cause__, psycopg.OperationalError):
                    raise
                log.warning("queue_away", because=str(error.__cause__).partition("\n")[0])
            await asyncio.sleep(AWAY_SECONDS)
