"""The job queue: wake-ups that are part of the transaction that asked for them, and workers that hear them (DESIGN 12).

Leases decide who works a thread; a job only wakes. So jobs of one thread exclude each other only while they wait: one
that finds its thread held ends at once, and the turn that holds it asks for the next one as it ends. A job that is lost
is made up for by the sweep, and one that runs twice finds nothing to do the second time (docs/decisions/0011).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from procrastinate import App
from procrastinate.contrib.django import connector_params
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status

from agents.timers.alarm import Alarm
from agents.tools.settling import calls_to_look_up, settle_all
from agents.turns import lease, sweep
from agents.turns.engine import AWAY_SECONDS, PatientConnector
from agents.turns.runner import Runner
from collab.db import in_db

log = structlog.get_logger(__name__)

QUEUE = "turns"
WORK = "work_thread"
_asking = App(connector=DjangoConnector())
"""Adds jobs through Django's connection, and so within its transaction."""


def wake(thread_id: UUID) -> None:
    """Ask for a thread to be looked at, within the open transaction. While a job for it waits, none is added."""
    job = _asking.configure_task(WORK, queue=QUEUE, queueing_lock=thread_id.hex)
    with suppress(AlreadyEnqueued), transaction.atomic():
        job.defer(thread=thread_id.hex)


async def begin(at_once: int) -> Worker:
    """Work jobs in this process's event loop, so many at once.

    Raises:
        ConnectorException: the database does not answer.
    """
    ends = asyncio.Event()
    connector = PatientConnector(ends, connector_params())
    worker = Worker(App(connector=connector), at_once, ends)
    await worker.open()
    return worker


class Worker:
    """Works the jobs of the queue, and sees to those that nobody works."""

    def __init__(self, app: App, at_once: int, process_ends: asyncio.Event) -> None:
        self._app, self._at_once, self._ends = app, at_once, process_ends
        self._tasks: list[asyncio.Task[None]] = []
        app.task(name=WORK, queue=QUEUE)(self._work)

    async def open(self) -> None:
        """Connect, and begin."""
        await self._app.open_async()
        alarm = Alarm(longest_sleep=lease.ttl().total_seconds() / 3)
        self._tasks = [asyncio.create_task(work) for work in (self._run(), self._sweep(), alarm.run())]

    async def close(self) -> None:
        """End: every turn parks at its next boundary; one that reaches none within the grace time is cut off."""
        self._ends.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._app.close_async()

    async def _work(self, thread: str) -> None:
        await Runner(UUID(thread), self._ends).work()

    async def _run(self) -> None:
        """Work jobs. The engine gives up when it was given up itself, so it is begun again until the process ends."""
        beat = lease.ttl().total_seconds() / 3
        while not self._ends.is_set():
            try:
                await self._app.run_worker_async(
                    queues=[QUEUE], concurrency=self._at_once, delete_jobs="always", install_signal_handlers=False,
                    fetch_job_polling_interval=beat, update_heartbeat_interval=beat,
                    stalled_worker_timeout=silence(), shutdown_graceful_timeout=settings.ACCORD_GRACE_SECONDS,
                )  # fmt: skip
            except Exception:
                log.exception("worker_failed")
            await asyncio.sleep(AWAY_SECONDS)

    async def _sweep(self) -> None:
        while True:
            try:
                for thread_id in await in_db(sweep.due_threads):
                    await in_db(wake, thread_id)
                await recover(self._app)
                await settle_all(await in_db(calls_to_look_up))
            except Exception:
                log.exception("sweep_failed")
            await asyncio.sleep(lease.ttl().total_seconds() / 3)


async def recover(app: App) -> None:
    """Take away the jobs of workers that went silent, and ask for their threads anew. Several processes may do this at
    once.

    Args:
        app: an open one.
    """
    for job in await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=silence()):
        with suppress(ConnectorException):  # another process has taken it away
            await app.job_manager.finish_job(job, Status.ABORTED, delete_job=True)
        await in_db(wake, UUID(str(job.task_kwargs["thread"])))
    await app.job_manager.prune_stalled_workers(silence())


def silence() -> float:
    """Return after how many seconds without a heartbeat a worker is given up: more than it takes to end in order."""
    grace: float = settings.ACCORD_GRACE_SECONDS
    return grace + lease.ttl().total_seconds()
