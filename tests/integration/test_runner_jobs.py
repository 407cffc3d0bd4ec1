"""Jobs that wake runners: part of the transaction that asks, one for many asks, and given to others when a worker dies
(DESIGN 12)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from procrastinate import App, PsycopgConnector
from procrastinate.contrib.django import connector_params
from procrastinate.contrib.django.django_connector import DjangoConnector

from agents.turns import jobs
from collab.db import close_connections
from collab.models.threads import Message
from tests.support.cast import Studio
from tests.support.turns import posts

if connection.vendor != "postgresql":
    pytest.skip("jobs need PostgreSQL", allow_module_level=True)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queue(db: None, settings: Any) -> None:
    """An empty job queue that asks for turns go to."""
    settings.ACCORD_RUNNERS = True
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('procrastinate_jobs')")
        if cursor.fetchone() == (None,):
            App(connector=DjangoConnector()).schema_manager.apply_schema()
        cursor.execute("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")


@pytest.fixture
def among_workers() -> Iterator[Callable[[Callable[[App], Coroutine[Any, Any, None]]], None]]:
    """Do something with the queue as workers see it."""

    async def connected(doing: Callable[[App], Coroutine[Any, Any, None]]) -> None:
        app = App(connector=PsycopgConnector(kwargs=connector_params(), min_size=1))
        async with app.open_async():
            await doing(app)

    yield lambda doing: asyncio.run(connected(doing))
    close_connections()


def waiting() -> list[str]:
    """Return the threads of the jobs that wait, in hexadecimal."""
    return _threads("todo")


def taken() -> list[str]:
    """Return the threads of the jobs that workers have taken."""
    return _threads("doing")


def _threads(status: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT args->>'thread' FROM procrastinate_jobs WHERE status = %s ORDER BY id", [status])
        return [thread for (thread,) in cursor.fetchall()]


def test_a_job_commits_with_the_message_that_asked_for_it(studio: Studio):
    with transaction.atomic():
        posts(studio.ana, studio.thread, "hello")
        assert waiting() == [studio.thread.id.hex]
    assert waiting() == [studio.thread.id.hex]


def test_a_job_is_rolled_back_with_the_message_that_asked_for_it(studio: Studio):
    with transaction.atomic():
        posts(studio.ana, studio.thread, "hello")
        transaction.set_rollback(True)
    assert (waiting(), Message.objects.count()) == ([], 0)


def test_many_asks_are_one_job_and_none_of_their_messages_is_lost(studio: Studio):
    for number in range(5):
        posts(studio.ana, studio.thread, f"message {number}")
    assert waiting() == [studio.thread.id.hex]
    assert Message.objects.filter(waits=True).count() == 5


def test_an_ask_while_a_job_of_the_thread_is_worked_is_a_job_of_its_own(studio: Studio, among_workers):
    posts(studio.ana, studio.thread, "hello")

    async def takes(app: App) -> None:
        await app.job_manager.fetch_job([jobs.QUEUE], await app.job_manager.register_worker())

    among_workers(takes)
    posts(studio.ana, studio.thread, "and this")
    assert (taken(), waiting()) == ([studio.thread.id.hex], [studio.thread.id.hex])


def test_the_job_of_a_worker_that_went_silent_is_asked_for_anew_once(studio: Studio, among_workers):
    posts(studio.ana, studio.thread, "hello")

    async def dies_and_is_found_by_two(app: App) -> None:
        await app.job_manager.fetch_job([jobs.QUEUE], await app.job_manager.register_worker())
        await jobs.recover(app)
        assert await asyncio.to_thread(_seen_by_another_connection, taken) == [studio.thread.id.hex]
        await asyncio.to_thread(_seen_by_another_connection, _go_silent)
        await asyncio.gather(jobs.recover(app), jobs.recover(app))

    among_workers(dies_and_is_found_by_two)
    assert (taken(), waiting()) == ([], [studio.thread.id.hex])


def test_a_worker_that_went_silent_is_forgotten_and_its_job_is_found_all_the_same(studio: Studio, among_workers):
    posts(studio.ana, studio.thread, "hello")

    async def dies_and_is_forgotten(app: App) -> None:
        await app.job_manager.fetch_job([jobs.QUEUE], await app.job_manager.register_worker())
        await app.job_manager.prune_stalled_workers(-1)
        await jobs.recover(app)

    among_workers(dies_and_is_forgotten)
    assert (taken(), waiting()) == ([], [studio.thread.id.hex])


def _go_silent() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - make_interval(secs => %s)", [60])


def _seen_by_another_connection(doing: Callable[[], Any]) -> Any:
    try:
        return doing()
    finally:
        connection.close()


def test_metrics_say_when_a_runner_was_last_heard_of(client: Any, settings: Any):
    settings.ACCORD_METRICS_TOKEN = "a token of the tests"

    def heard() -> list[str]:
        answer = client.get("/metrics", headers={"Authorization": "Bearer a token of the tests"})
        lines = answer.content.decode().splitlines()
        return [line.split()[1] for line in lines if line.startswith("accord_runner_heartbeat_timestamp_seconds ")]

    assert heard() == []
    with connection.cursor() as cursor:
        for second in (1, 3, 2):
            cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (to_timestamp(%s))", [second])
    assert heard() == ["3.0"]
