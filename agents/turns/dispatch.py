"""The embedded dispatcher: turns as tasks of the web process, woken by commits, and a sweep for what nobody woke for
(DESIGN 6 and 12)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction

from agents.providers.choose import model_for
from agents.turns import lease, sweep
from agents.turns.runner import Runner
from collab import doorbell
from collab.db import in_db

log = structlog.get_logger(__name__)


class Embedded:
    """Runs the turns of the threads it is woken for, each thread's one after another."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._runners: dict[UUID, Runner] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._again: set[UUID] = set()
        self._sweeper = self.loop.create_task(self._sweep())

    def wake(self, thread_id: UUID) -> None:
        """See what a thread has to do; a wake-up during its turn is kept until that one is over."""
        if thread_id in self._tasks:
            self._again.add(thread_id)
            return
        runner = self._runners[thread_id] = Runner(thread_id)
        task = self._tasks[thread_id] = self.loop.create_task(runner.work())
        task.add_done_callback(partial(self._done, thread_id))

    def stop_turn(self, thread_id: UUID, turn_id: UUID) -> None:
        """Interrupt a turn that someone asked to stop, if it runs here."""
        if runner := self._runners.get(thread_id):
            runner.stop(turn_id)

    async def close(self) -> None:
        """End: every turn is cut off at once, its lease let go, so that the next process continues it."""
        self._sweeper.cancel()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(self._sweeper, *self._tasks.values(), return_exceptions=True)

    def _done(self, thread_id: UUID, task: asyncio.Task[None]) -> None:
        del self._tasks[thread_id], self._runners[thread_id]
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
            except Exception:
                log.exception("sweep_failed")
            await asyncio.sleep(lease.ttl().total_seconds() / 3)


class _State:
    embedded: Embedded | None = None


async def start() -> Callable[[], Awaitable[None]]:
    """Start the dispatcher in this process's event loop; await what it returns to stop it.

    Raises:
        ModelConfigError: the configured model cannot be set up, so no turn of this process could work.
    """
    model_for(None)
    embedded = _State.embedded = Embedded()
    answering = asyncio.create_task(doorbell.answer_snapshots())

    async def stop() -> None:
        _State.embedded = None
        answering.cancel()
        await embedded.close()
        await asyncio.gather(answering, return_exceptions=True)

    return stop


def wake_on_commit(thread_id: UUID) -> None:
    """Once the transaction commits, have the thread looked at; without a dispatcher here, the next sweep does it."""
    _on_commit(lambda embedded: embedded.wake(thread_id))


def stop_on_commit(thread_id: UUID, turn_id: UUID) -> None:
    """Once the transaction commits, interrupt the turn; where it runs elsewhere, its heartbeat sees the request."""
    _on_commit(lambda embedded: embedded.stop_turn(thread_id, turn_id))


def _on_commit(act: Callable[[Embedded], None]) -> None:
    transaction.on_commit(partial(_act, act), robust=True)


def _act(act: Callable[[Embedded], None]) -> None:
    embedded = _State.embedded
    if embedded is not None and not embedded.loop.is_closed():
        embedded.loop.call_soon_threadsafe(act, embedded)
