"""What fires timers in time: a process sleeps until the next is due, and hears of those set in it (DESIGN 8)."""

from __future__ import annotations

import asyncio

import structlog

from agents.timers import firing, services
from collab.db import in_db

log = structlog.get_logger(__name__)


class Alarm:
    """Fires the timers that are due, for as long as :meth:`run` does. Several processes may each have one."""

    def __init__(self, *, longest_sleep: float) -> None:
        """Make one.

        Args:
            longest_sleep: seconds after which it looks again, whatever it knows: timers are set in other processes too.
        """
        self._loop = asyncio.get_running_loop()
        self._set = asyncio.Event()
        self._longest = longest_sleep

    async def run(self) -> None:
        """Fire timers as they become due, until it is cancelled."""
        services.wakes.append(self._wake)
        try:
            while True:
                await self._once()
        finally:
            services.wakes.remove(self._wake)

    async def _once(self) -> None:
        self._set.clear()
        wait = self._longest
        try:
            wait = min(wait, await in_db(firing.timers_fire))
        except Exception:
            log.exception("timers_failed")
        try:
            async with asyncio.timeout(wait):
                await self._set.wait()
        except TimeoutError:
            return

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set.set)
