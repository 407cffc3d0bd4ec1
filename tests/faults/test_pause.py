"""Two processes on one PostgreSQL and one Redis: one is stopped past its lease, and wakes up late (FAILURES B2)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.faults.watching import LEASE_SECONDS, PATIENCE, SCRIPT, is_event, measured, since, watching
from tests.support.server import environment_for, manage, serving
from tests.support.services import database_url, redis_url
from tests.support.visitor import visiting

UNFINISHED = (
    "SELECT (SELECT count(*) FROM collab_message WHERE taken_by IS NOT NULL),"
    " (SELECT count(*) FROM agents_turn WHERE status = 'running')"
)
"""How many posts were taken, and how many turns run."""

NEEDED = "two processes need a PostgreSQL and a Redis"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of two servers: the demo in a PostgreSQL database of its own, and a Redis."""
    database, redis = database_url(), redis_url()
    if database is None or redis is None:
        pytest.skip(NEEDED)
    name = f"accord_faults_{os.getpid()}"
    base = database.rpartition("/")[0]
    with psycopg.connect(f"{base}/postgres", autocommit=True) as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{name}"')
        environment = environment_for(
            tmp_path, DATABASE_URL=f"{base}/{name}", REDIS_URL=redis, ACCORD_MODEL=f"scripted:{SCRIPT}",
            ACCORD_LEASE_SECONDS=LEASE_SECONDS,
        )  # fmt: skip
        manage(environment, "migrate", "--verbosity", "0")
        manage(environment, "demo")
        yield environment
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


async def test_a_process_that_slept_past_its_lease_writes_nothing_when_it_wakes(
    shared: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(shared) as sleeper, serving(shared) as other:
        with visiting(sleeper, "ana") as ana, visiting(other, "ben") as ben:
            thread = ana.thread()
            async with watching(ben, thread) as seen, watching(ana, thread) as asks:
                await asks.posts("m1", "raise the budget")
                await asks.until(lambda frame: is_event(frame, "document_changed"))
                sleeper.process.send_signal(signal.SIGSTOP)
                slept = time.monotonic()
                try:
                    ended = await seen.ends()
                    measured(capsys, f"stopped past its lease: the other process answered after {since(slept)}")
                finally:
                    sleeper.process.send_signal(signal.SIGCONT)
                # The one that woke answers again, and has had the time of a heartbeat to notice what it lost.
                after = await asks.posts("m2", "and now?")
                await seen.until(lambda frame: is_event(frame, "turn_ended"))
                await asyncio.sleep(float(LEASE_SECONDS) / 2)
        assert after["data"]["seq"] == ended["seq"] + 1, "the one that slept wrote into the log"
        assert "no violation" in other.manage("audit")
    assert _ask(shared, "SELECT version FROM collab_document WHERE title = 'Launch plan'") == [(2,)]
    replies = _ask(shared, "SELECT content FROM collab_message WHERE turn_id IS NOT NULL ORDER BY seq")
    assert ["950" in replies[0][0], *(text for (text,) in replies[1:])] == [True, "I heard you."]


async def test_fifty_posts_to_two_processes_at_once_are_each_taken_once_and_in_order(shared: dict[str, str]) -> None:
    with serving(shared) as one, serving(shared) as two:
        with visiting(one, "ana") as ana, visiting(two, "ben") as ben:
            thread = ana.thread()
            async with watching(ana, thread) as here, watching(ben, thread) as there:
                both = {"a": here, "b": there}
                posts = [watch.send(**_post(f"{who}{n}")) for n in range(25) for who, watch in both.items()]
                await asyncio.gather(*posts)
                async with asyncio.timeout(PATIENCE):
                    while _ask(shared, UNFINISHED) != [(50, 0)]:
                        await asyncio.sleep(0.2)
        assert "no violation" in one.manage("audit")
    posted = _ask(shared, "SELECT id::text FROM collab_message WHERE turn_id IS NULL ORDER BY seq")
    steps = _ask(shared, "SELECT data FROM collab_event WHERE type IN ('turn_started', 'message_taken') ORDER BY seq")
    taken = [id for (data,) in steps for id in json.loads(data).get("took", json.loads(data).get("messages"))]
    assert taken == [id for (id,) in posted]
    assert len(taken) == 50
    turns = _ask(shared, "SELECT type FROM collab_event WHERE type IN ('turn_started', 'turn_ended') ORDER BY seq")
    assert [type for (type,) in turns] == ["turn_started", "turn_ended"] * (len(turns) // 2), "two turns ran at once"


def _post(id: str) -> dict[str, Any]:
    return {"type": "command", "id": id, "name": "message_post", "args": {"text": f"post {id}"}}


def _ask(environment: dict[str, str], sql: str) -> list[Any]:
    with psycopg.connect(environment["DATABASE_URL"]) as database:
        return database.execute(sql).fetchall()
