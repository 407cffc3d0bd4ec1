"""A process that stands by to work one turn of a scenario, and to be killed while it does."""

from __future__ import annotations

import asyncio
import multiprocessing
from datetime import datetime
from multiprocessing.connection import Connection
from uuid import UUID

from agents.turns.runner import Runner
from permissions.clock import stop_clock


class Spare:
    """It is begun before the scenario's own process has threads or connections, none of which it could share."""

    def __init__(self) -> None:
        here, there = multiprocessing.Pipe()
        self._tells = here
        self._process = multiprocessing.get_context("fork").Process(target=_stands_by, args=(there,), daemon=True)
        self._process.start()

    def works(self, thread: UUID, now: datetime) -> None:
        """Have it work the next turn of a thread, at a moment where its clock stands too."""
        self._tells.send((thread, now))

    def kill(self) -> None:
        """Kill it, as nothing that it could catch."""
        self._process.kill()
        self._process.join()


def _stands_by(told: Connection) -> None:
    thread, now = told.recv()
    stop_clock(now)
    asyncio.run(Runner(thread).work())
