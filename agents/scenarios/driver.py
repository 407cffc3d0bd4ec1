"""Works the turns of a scenario in this process, with no clock but the scenario's: after each act until nothing is
left to do, or until what is done waits for the world. So a run is the same each time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from agents.models.sources import Delivery
from agents.scenarios.acts import ScenarioError
from agents.scenarios.outside import Outside
from agents.scenarios.spare import Spare
from agents.timers.firing import timers_fire
from agents.tools.settling import calls_to_look_up, settle_all
from agents.turns import sweep
from agents.turns.runner import Runner
from collab.db import in_db
from permissions.clock import stop_clock

LOOKS_EVERY = 0.01
PATIENCE = 60.0
"""Seconds that anything may take, by the wall clock; far more than it does."""


class Driver:
    """What a dispatcher is to a server: finds what is due, and has a Runner work it.

    Attributes:
        now: where the scenario's clock stands.
        dies: whether the next turn is worked by the spare process, which then dies.
    """

    def __init__(self, world: Outside, spare: Spare | None, now: datetime) -> None:
        self.now, self.dies = now, False
        stop_clock(now)
        self._world, self._spare = world, spare
        self._task: asyncio.Task[None] | None = None

    async def settles(self) -> None:
        """Work what is due, until nothing is or a call waits for the world's answer.

        Raises:
            TimeoutError: it comes to no end.
        """
        async with asyncio.timeout(PATIENCE):
            while await self._goes_on():
                thread = await self._due()
                if thread is None:
                    return
                if self.dies:
                    await self._lost(thread)
                else:
                    self._task = asyncio.create_task(Runner(thread).work())

    def passes(self, time: timedelta) -> None:
        """Let time pass."""
        self.now += time
        stop_clock(self.now)

    def ends(self) -> None:
        """Check that nothing is left half done.

        Raises:
            ScenarioError: a turn waits for the world's answer.
        """
        if self._task is not None:
            raise ScenarioError("At its end a turn still waits for the world: let it go on with `hold: false`.")

    async def _goes_on(self) -> bool:
        """Wait for the turn that runs; say whether it is over, so that another may begin."""
        while self._task is not None:
            if self._task.done():
                self._task.result()
                self._task = None
            elif not self._world.holds:
                await asyncio.wait({self._task})
            elif await asyncio.to_thread(self._world.held):
                return False
            else:
                await asyncio.sleep(LOOKS_EVERY)
        return True

    async def _due(self) -> UUID | None:
        """Do what a server does every few seconds: timers, the sweep, lookups; return a thread with a turn to work."""
        await in_db(timers_fire)
        due = await in_db(sweep.due_threads)
        await settle_all(await in_db(calls_to_look_up))
        return due[0] if due else None

    async def _lost(self, thread: UUID) -> None:
        """Have another process work a turn, and kill it once the world has done what it asked for."""
        if self._spare is None:
            raise RuntimeError("no process stands by")
        self.dies = False
        await asyncio.to_thread(self._world.switch, {"hold": True})
        self._spare.works(thread, self.now)
        await _until(partial(asyncio.to_thread, self._world.held))
        await asyncio.to_thread(self._spare.kill)
        await asyncio.to_thread(self._world.switch, {"hold": False})


async def delivered() -> None:
    """Wait until what was stored is acted on: that is done after the answer.

    Raises:
        TimeoutError: it is not.
    """
    async with asyncio.timeout(PATIENCE):
        await _until(partial(in_db, _all_acted_on))


async def _until(true: Callable[[], Awaitable[object]]) -> None:
    while True:
        if await true():
            return
        await asyncio.sleep(LOOKS_EVERY)


def _all_acted_on() -> bool:
    return not Delivery.objects.filter(state=Delivery.State.STORED).exists()
