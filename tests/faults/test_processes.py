"""Web processes and runners apart: what dies, sleeps or is wiped costs time, and nothing else (FAILURES B, C)."""

from __future__ import annotations

import asyncio
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.faults.watching import PATIENCE, Json, Watch, is_event, measured, since, watching
from tests.support.fleet import Fleet, OwnRedis, fleet
from tests.support.server import Server
from tests.support.visitor import visiting

LONG_LEASE = "60"
"""With its heartbeat every 20 seconds, it is no heartbeat that brings what arrives sooner."""


@pytest.fixture
def patient(demo: dict[str, str]) -> Iterator[Fleet]:
    """No process yet; leases so long that nothing waits for one to lapse, and no heartbeat helps."""
    with fleet(demo, ACCORD_LEASE_SECONDS=LONG_LEASE) as found:
        yield found


class Desks:
    """People at servers, each at a socket of the thread."""

    def __init__(self) -> None:
        self.stack = AsyncExitStack()

    async def watch(self, server: Server, who: str) -> Watch:
        """Sit someone down at a server."""
        visitor = self.stack.enter_context(visiting(server, who))
        return await self.stack.enter_async_context(watching(visitor, visitor.thread()))


@pytest.fixture
async def desks() -> Any:
    """Nobody there yet."""
    found = Desks()
    async with found.stack:
        yield found


def started(frame: Json) -> bool:
    return is_event(frame, "turn_started")


def continued(frame: Json) -> bool:
    return started(frame) and frame["data"]["continues"] is not None


def changed(frame: Json) -> bool:
    return is_event(frame, "document_changed")


def ended(frame: Json) -> bool:
    return is_event(frame, "turn_ended")


def speaks(frame: Json) -> bool:
    return frame["type"] == "live" and "first sentence" in frame["text"]


def seqs(watch: Watch) -> list[int]:
    return [frame["seq"] for frame in watch.seen if frame["type"] == "event"]


async def test_twelve_messages_to_two_web_processes_at_once_are_each_taken_once_and_in_order(
    processes: Fleet, desks: Desks
) -> None:
    one, two = processes.starts(webs=2, runners=2)
    ana, ben = await desks.watch(one, "ana"), await desks.watch(two, "ben")
    await asyncio.gather(
        *(asks(watch, f"{id}{n}", "say yes") for n in range(6) for watch, id in ((ana, "a"), (ben, "b")))
    )
    await until(lambda: len(processes.ask("SELECT 1 FROM collab_message WHERE taken_by IS NOT NULL")) == 12)
    await until(lambda: not processes.ask("SELECT 1 FROM agents_turn WHERE status = 'running'"))
    posted = processes.ask("SELECT id::text FROM collab_message WHERE turn_id IS NULL ORDER BY seq")
    taken = processes.ask(
        "SELECT taking.id FROM collab_event CROSS JOIN LATERAL"
        " json_array_elements_text(coalesce(data::json->'took', data::json->'messages')) WITH ORDINALITY taking (id, n)"
        " WHERE type IN ('turn_started', 'message_taken') ORDER BY seq, n"
    )
    assert (taken, len(posted)) == (posted, 12)
    edges = processes.ask("SELECT type FROM collab_event WHERE type IN ('turn_started', 'turn_ended') ORDER BY seq")
    assert [type for (type,) in edges] == ["turn_started", "turn_ended"] * (len(edges) // 2), "two turns ran at once"
    assert "no violation" in processes.audit()


async def test_a_message_posted_in_one_process_is_answered_from_another_without_waiting_for_a_sweep(
    patient: Fleet, desks: Desks, capsys: pytest.CaptureFixture[str]
) -> None:
    (web,) = patient.starts(runners=1)
    ana = await desks.watch(web, "ana")
    for number in range(5):
        asked = time.monotonic()
        await asks(ana, f"m{number}", "say hello")
        await ana.until(started)
        measured(
            capsys,
            f"posted in a web process: its turn started in a runner {ms(asked)} later",
        )
        await ana.until(ended)


async def test_what_is_posted_during_a_turn_is_answered_as_soon_as_that_turn_ends(
    patient: Fleet, desks: Desks, capsys: pytest.CaptureFixture[str]
) -> None:
    (web,) = patient.starts(runners=2)
    ana, ben = await desks.watch(web, "ana"), await desks.watch(web, "ben")
    await asks(ana, "m1", "work")
    await ana.until(changed)
    await asks(ben, "m2", "say hello")
    await ana.until(ended)
    over = time.monotonic()
    await ana.until(started)
    measured(capsys, f"handed over from one author's turn to the next: {ms(over)}")
    await ana.until(ended)
    assert patient.turns() == [("completed", "", 1), ("completed", "", 1)]


async def test_a_turn_whose_runner_is_killed_goes_on_in_another(
    processes: Fleet, desks: Desks, capsys: pytest.CaptureFixture[str]
) -> None:
    (web,) = processes.starts(runners=2)
    ana = await desks.watch(web, "ana")
    await asks(ana, "m1", "work")
    await ana.until(changed)
    processes.holder().process.kill()
    killed = time.monotonic()
    await ana.until(continued)
    measured(capsys, f"a runner was killed: its turn went on in another {since(killed)} later (lease 6 s)")
    await ana.ends()
    assert processes.turns() == [("failed", "abandoned", 1), ("completed", "", 2)]
    assert processes.ask("SELECT version FROM collab_document WHERE title = 'Launch plan'") == [(2,)]
    assert "no violation" in processes.audit()


async def test_a_stop_in_one_process_reaches_the_turn_in_another_at_once(
    patient: Fleet, desks: Desks, capsys: pytest.CaptureFixture[str]
) -> None:
    (web,) = patient.starts(runners=1)
    ana = await desks.watch(web, "ana")
    await asks(ana, "m1", "talk")
    turn = (await ana.until(started))["turn"]
    await ana.until(speaks)
    asked = time.monotonic()
    await ana.send(type="command", id="s1", name="turn_stop", args={"turn": turn})
    await ana.until(ended)
    measured(capsys, f"stopped from another process: {ms(asked)}")
    assert patient.turns() == [("stopped", "stopped", 1)]


async def test_text_of_a_turn_in_one_process_reaches_viewers_of_another_and_who_joins_gets_all_of_it(
    patient: Fleet, desks: Desks
) -> None:
    one, two = patient.starts(webs=2, runners=1)
    ana, vera = await desks.watch(one, "ana"), await desks.watch(two, "vera")
    await ana.posts("m1", "talk")
    first = await vera.until(lambda frame: frame["type"] == "live")
    assert first["offset"] == 0
    await vera.until(lambda frame: frame["type"] == "live" and "The table is long" in frame["text"])
    ben = await desks.watch(one, "ben")
    whole = await ben.until(lambda frame: frame["type"] == "live" and frame["offset"] == 0)
    assert whole["text"].startswith("The first sentence stands here.")
    assert "The table is long" in whole["text"]


async def test_a_runner_asked_to_end_parks_its_turn_and_another_goes_on_with_it(
    patient: Fleet, desks: Desks, capsys: pytest.CaptureFixture[str]
) -> None:
    (web,) = patient.starts(runners=2)
    ana = await desks.watch(web, "ana")
    await asks(ana, "m1", "work")
    await ana.until(changed)
    ends = patient.holder().process
    ends.terminate()
    asked = time.monotonic()
    await ana.until(continued)
    measured(capsys, f"a runner was asked to end: its turn went on in another {since(asked)} later")
    assert await asyncio.to_thread(ends.wait, 20) == 0
    await ana.ends()
    assert patient.turns() == [("failed", "parked", 1), ("completed", "", 1)]
    assert patient.ask("SELECT version FROM collab_document WHERE title = 'Launch plan'") == [(2,)]
    assert patient.ask("SELECT 1 FROM procrastinate_jobs") == []
    assert "no violation" in patient.audit()


async def test_a_turn_that_reaches_no_boundary_within_the_grace_time_is_cut_off_and_goes_on_in_another(
    demo: dict[str, str], desks: Desks, capsys: pytest.CaptureFixture[str]
) -> None:
    with fleet(demo, ACCORD_LEASE_SECONDS=LONG_LEASE, ACCORD_GRACE_SECONDS="1") as processes:
        (web,) = processes.starts(runners=2)
        async with desks.stack:
            ana = await desks.watch(web, "ana")
            await asks(ana, "m1", "talk")
            await ana.until(speaks)
            ends = processes.holder().process
            ends.terminate()
            asked = time.monotonic()
            await ana.until(continued)
            measured(capsys, f"cut off after a grace time of 1 s: went on in another {since(asked)} later")
            assert await asyncio.to_thread(ends.wait, 20) == 0
        assert processes.turns()[0] == ("failed", "abandoned", 1)


async def test_a_runner_that_slept_past_its_lease_writes_nothing_when_it_wakes(processes: Fleet, desks: Desks) -> None:
    (web,) = processes.starts(runners=2)
    ana = await desks.watch(web, "ana")
    await asks(ana, "m1", "work")
    await ana.until(changed)
    sleeper = processes.holder()
    sleeper.process.send_signal(signal.SIGSTOP)
    try:
        over = await ana.ends()
    finally:
        sleeper.process.send_signal(signal.SIGCONT)
    await until(lambda: "lease_lost" in sleeper.output)
    after = await ana.posts("m2", "say hello")
    assert after["data"]["seq"] == over["seq"] + 1, "the one that slept wrote into the log"
    await sees(ana, lambda frame: ended(frame) and frame["seq"] > over["seq"])
    assert [status for status, _, _ in processes.turns()] == ["failed", "completed", "completed"]
    assert "no violation" in processes.audit()


async def test_a_redis_that_is_wiped_or_restarted_loses_nothing(
    demo: dict[str, str], desks: Desks, tmp_path: Path
) -> None:
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip("there is no redis-server to start")
    own = OwnRedis(executable, tmp_path)
    own.start()
    try:
        with fleet(demo, REDIS_URL=own.url) as processes:
            (web,) = processes.starts(runners=1)
            async with desks.stack:
                ana = await desks.watch(web, "ana")
                await asks(ana, "m1", "work")
                await ana.until(changed)
                own.wipe()
                await ana.until(ended)
                own.kill()
                await asks(ana, "m2", "say away")
                await ana.until(ended)
                own.start()
                await asks(ana, "m3", "talk")
                await ana.until(lambda frame: frame["type"] == "live")
                assert seqs(ana) == list(range(1, len(seqs(ana)) + 1))
            assert processes.replies()[-1] == "I say away."
            assert "no violation" in processes.audit()
    finally:
        own.kill()


async def test_a_client_whose_web_process_is_killed_resumes_at_another_and_its_turn_never_noticed(
    patient: Fleet, desks: Desks
) -> None:
    dies, lives = patient.starts(webs=2, runners=1)
    ana = await desks.watch(dies, "ana")
    first = await ana.posts("m1", "work")
    await sees(ana, changed)
    dies.process.kill()
    again = await desks.watch(lives, "ana")
    assert (await again.posts("m1", "work"))["data"] == first["data"]
    await again.ends()
    assert seqs(again)[: len(seqs(ana))] == seqs(ana)
    assert patient.turns() == [("completed", "", 1)]
    assert patient.ask("SELECT count(*) FROM collab_message WHERE turn_id IS NULL") == [(1,)]


async def test_a_runner_whose_database_went_away_goes_on_when_it_is_back(processes: Fleet, desks: Desks) -> None:
    (web,) = processes.starts(runners=1)
    ana = await desks.watch(web, "ana")
    await asks(ana, "m1", "say one")
    await ana.until(ended)
    processes.ask(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await asks(ana, "m2", "say two")
    await ana.until(ended)
    assert processes.replies() == ["I say one.", "I say two."]


async def test_a_runner_that_was_silent_until_it_was_given_up_works_again(processes: Fleet, desks: Desks) -> None:
    (web,) = processes.starts(runners=1)
    ana = await desks.watch(web, "ana")
    processes.ask("WITH gone AS (DELETE FROM procrastinate_workers RETURNING 1) SELECT count(*) FROM gone")
    await asks(ana, "m1", "say one")
    await ana.until(ended)
    assert processes.replies() == ["I say one."]


async def until(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.05)


async def asks(watch: Watch, id: str, text: str) -> None:
    """Post a message without waiting for its answer, which may come after what it brings about."""
    await watch.send(type="command", id=id, name="message_post", args={"text": text})


async def sees(watch: Watch, holds: Callable[[Json], bool]) -> Json:
    """Return such a frame, once it is there."""
    return next(filter(holds, watch.seen), None) or await watch.until(holds)


def ms(moment: float) -> str:
    """Return the milliseconds since a moment of the monotonic clock, to be printed."""
    return f"{1000 * (time.monotonic() - moment):.0f} ms"
