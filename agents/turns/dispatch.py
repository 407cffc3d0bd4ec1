"""The dispatcher: threads are woken and turns are stopped through it (DESIGN 6 and 12).

Turns run as tasks of the web process, woken by commits, or in runners apart from it, woken by jobs (`jobs.py`). A sweep
finds what nobody woke for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import Any, Protocol
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction

from agents.providers.choose import model_for
from agents.timers.alarm import Alarm
from agents.tools.settling import calls_to_look_up, settle_all
from agents.turns import lease, sweep
from agents.turns.runner import Runner, stop_here
from collab import doorbell
from collab.db import in_db

log = structlog.get_logger(__name__)

AT_ONCE = 10
"""Turns that a runner works at once, unless it is told otherwise."""


class Works(Protocol):
    """What works turns in this process."""

    async def close(self) -> None:
        """Let every turn park at its next boundary; cut off what reaches none within the grace time."""


class Embedded:
    """Runs the turns of the threads it is woken for, each thread's one after another."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ends = asyncio.Event()
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._again: set[UUID] = set()
        self._sweeper = self.loop.create_task(self._sweep())
        self._alarm = self.loop.create_task(Alarm(longest_sleep=lease.ttl().total_seconds() / 3).run())

    def wake(self, thread_id: UUID) -> None:
        """See what a thread has to do; a wake-up during its turn is kept until that one is over."""
        if self._ends.is_set():
            return
        if thread_id in self._tasks:
            self._again.add(thread_id)
            return
        task = self._tasks[thread_id] = self.loop.create_task(Runner(thread_id, self._ends).work())
        task.add_done_callback(partial(self._done, thread_id))

    async def close(self) -> None:
        """End: every turn parks at its next boundary; one that reaches none within the grace time is cut off."""
        self._ends.set()
        self._sweeper.cancel()
        self._alarm.cancel()
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=settings.ACCORD_GRACE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(self._sweeper, self._alarm, *tasks, return_exceptions=True)

    def _done(self, thread_id: UUID, task: asyncio.Task[None]) -> None:
        del self._tasks[thread_id]
        if not task.cancelled() and (error := task.exception()):
            log.error("runner_failed", thread=str(thread_id), exc_info=error)
        if thread_id in self._again and not task.cancelled():
            self._again.discard(thread_id)
            self.wake(thread_id)

    async def _sweep(self) -> None:
        while True:
            try:
                for thread_id in await in_db(sweep.due_threads):
                    self.wake(thread_id)
                await settle_all(await in_db(calls_to_look_up))
            except Exception:
                log.exception("sweep_failed")
            await asyncio.sleep(lease.ttl().total_seconds() / 3)


class _State:
    embedded: Embedded | None = None


async def start(*, at_once: int = AT_ONCE) -> Callable[[], Awaitable[None]]:
    """Work turns in this process's event loop; await what it returns to stop.

    Args:
        at_once: how many turns at most, where jobs wake them; the embedded dispatcher knows no such limit.

    Raises:
        ModelConfigError: the configured model cannot be set up, so no turn of this process could work.
    """
    model_for(None)
    works: Works
    if settings.ACCORD_RUNNERS:
        works = await _jobs().begin(at_once)
    else:
        works = _State.embedded = Embedded()
    listening = asyncio.create_task(doorbell.hear_for_turns(stop_here))

    async def stop() -> None:
        _State.embedded = None
        await works.close()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    return stop


def wake_on_commit(thread_id: UUID) -> None:
    """Have the thread looked at once the transaction commits. A job is part of the transaction; without runners, and
    without a dispatcher here, the next sweep does it."""
    if settings.ACCORD_RUNNERS:
        _jobs().wake(thread_id)
        return

    def wake() -> None:
        embedded = _State.embedded
        if embedded is not None and not embedded.loop.is_closed():
            embedded.loop.call_soon_threadsafe(embedded.wake, thread_id)

    transaction.on_commit(wake, robust=True)


def stop_on_commit(turn_id: UUID) -> None:
    """Once the transaction commits, interrupt the turn in whichever process works it; the net is its heartbeat, which
    sees the stored request."""

    def stop() -> None:
        if not stop_here(turn_id):
            doorbell.stop_turn(turn_id)

    transaction.on_commit(stop, robust=True)


def _jobs() -> Any:
    # The job engine is slow to import, so a process without runners does without it.
    return import_module("agents.turns.jobs")
