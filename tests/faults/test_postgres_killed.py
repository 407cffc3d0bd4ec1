"""PostgreSQL itself is killed, with -9 and all at once: what was acknowledged is there, what was not lands once, and
every process goes on without being started again (FAILURES C9, C12, I7)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.faults.watching import is_event, measured, since
from tests.support.fleet import SCRIPT, Fleet
from tests.support.follower import Follower, following, until
from tests.support.own_postgres import OwnPostgres, missing, own_postgres
from tests.support.server import Server, environment_for, manage
from tests.support.services import redis_url
from tests.support.visitor import visiting

pytestmark = pytest.mark.timeout(600)
NEEDED = "runners need a Redis"
POSTS = 25
"""How many each of two people posts."""

NEVER = "600"
"""A lease so long that no look for jobs, no sweep and no heartbeat comes within the patience of a test."""

SOON = 1.0
"""The longest wait of a page here, so that what is measured is the servers' own time."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OwnPostgres, dict[str, str]]]:
    """A PostgreSQL of its own with the demo in it, and the environment of processes on it."""
    redis = redis_url()
    if lacks := missing() or ("" if redis else NEEDED):
        pytest.skip(lacks)
    folder: Path = tmp_path_factory.mktemp("killed")
    with own_postgres() as own:
        environment = environment_for(
            folder, DATABASE_URL=own.copy("demo", "template1"), REDIS_URL=redis or "", ACCORD_RUNNERS="1",
            ACCORD_MODEL=f"scripted:{SCRIPT}",
        )  # fmt: skip
        manage(environment, "migrate", "--verbosity", "0")
        manage(environment, "demo")
        yield own, environment


class Killed:
    """Processes on a database that is killed, and people at their pages."""

    def __init__(self, own: OwnPostgres, environment: dict[str, str], stack: ExitStack) -> None:
        self.own, self.stack = own, stack
        self.fleet = Fleet(environment, stack)
        self.web: Server
        self.people: dict[str, Follower] = {}

    def starts(self, *who: str) -> None:
        """Start a web process and a runner, and have people sign in at their pages."""
        (self.web,) = self.fleet.starts(runners=1)
        for name in who:
            visitor = self.stack.enter_context(visiting(self.web, name))
            self.people[name] = Follower(visitor, visitor.thread(), longest_wait=SOON)

    def ready(self) -> httpx.Response:
        """Ask the web process whether it is ready."""
        return httpx.get(f"{self.web.url}/readyz", timeout=30)

    async def is_ready(self) -> None:
        """Wait until it says so."""
        await until(lambda: self.ready().status_code == 200)

    def posted(self) -> list[tuple[str, str]]:
        """Return the command id and the text of every message of a person, in the log's order."""
        return self.fleet.ask("SELECT client_id, content FROM collab_message WHERE turn_id IS NULL ORDER BY seq")

    async def is_quiet(self) -> None:
        """Wait until every message was taken and no turn runs."""
        await until(lambda: self.fleet.ask(LEFT) == [(0,)])

    def assert_whole(self) -> None:
        """Every process is the one that was started, every page has the whole log, and the audit finds nothing."""
        assert [process.process.poll() for process in [self.web, *self.fleet.runners]] == [None, None]
        ((head,),) = self.fleet.ask("SELECT head_seq FROM collab_thread")
        for page in self.people.values():
            assert (page.faults, page.head, page.unanswered) == ([], head, set())
            assert set(page.closes) <= {4408}, page.closes
            assert not page.statuses
        assert "no violation" in self.fleet.audit()


LEFT = (
    "SELECT (SELECT count(*) FROM collab_message WHERE waits)"
    " + (SELECT count(*) FROM agents_turn WHERE status = 'running')"
)
_names = count(1)


@pytest.fixture
def killed(cluster: tuple[OwnPostgres, dict[str, str]]) -> Iterator[Killed]:
    """No process yet, on a database with the demo in it."""
    own, environment = cluster
    own.start()
    with ExitStack() as stack:
        url = own.copy(f"killed_{next(_names)}", "demo")
        yield Killed(own, {**environment, "DATABASE_URL": url}, stack)


async def test_a_turn_whose_database_is_killed_goes_on_by_itself_once_it_is_back(
    killed: Killed, capsys: pytest.CaptureFixture[str]
) -> None:
    killed.starts("ana", "ben")
    ana, ben = killed.people.values()
    async with following(ana, ben):
        await ana.posts("a1", "work")
        await ana.until(lambda frame: is_event(frame, "document_changed"))
        killed.own.kill()
        await ben.posts("b1", "say hello")
        assert killed.ready().status_code == 503
        assert killed.ready().json()["missing"]["database"] == "does not answer (OperationalError)"
        assert httpx.get(f"{killed.web.url}/healthz").status_code == 200
        await asyncio.to_thread(killed.own.start)
        back = time.monotonic()
        await killed.is_ready()
        measured(capsys, f"PostgreSQL killed in a turn: /readyz says 200 {since(back)} after it answers again")
        await ana.until(lambda frame: is_event(frame, "turn_ended") and frame["data"]["status"] == "completed")
        measured(capsys, f"its turn is done {since(back)} after (lease 6 s)")
        await killed.is_quiet()
        await until(lambda: not (ana.unanswered | ben.unanswered))
        measured(capsys, f"what was posted meanwhile is answered {since(back)} after")
        await _level(killed)
    assert killed.posted() == [("a1", "work"), ("b1", "say hello")]
    assert killed.fleet.ask("SELECT version FROM collab_document WHERE title = 'Launch plan'") == [(2,)]
    worked, said = killed.fleet.replies()
    assert worked.endswith("The work is done.\n\nLaunch plan is at version 2.")
    assert said == "I say hello."
    killed.assert_whole()


async def test_posts_while_the_database_is_killed_again_and_again_each_land_once(
    killed: Killed, capsys: pytest.CaptureFixture[str]
) -> None:
    killed.starts("ana", "ben")
    ana, ben = killed.people.values()
    wanted = {f"{who}{number}" for who in "ab" for number in range(POSTS)}
    async with following(ana, ben):
        keys = asyncio.gather(_types(ana, "a"), _types(ben, "b"))
        for _ in range(3):
            await _more(8, ana, ben)
            killed.own.kill()
            await asyncio.to_thread(killed.own.start)
            back = time.monotonic()
            await _more(1, ana, ben)
            measured(capsys, f"PostgreSQL killed under posts: one is acknowledged {since(back)} after it answers again")
        await keys
        await until(lambda: not (ana.unanswered | ben.unanswered))
        await killed.is_quiet()
        await _level(killed)
    answers = {**ana.answers, **ben.answers}
    assert {id for id, _ in killed.posted()} == wanted == set(answers)
    assert len(killed.posted()) == len(wanted), "a post landed twice"
    seqs = dict(killed.fleet.ask("SELECT client_id, seq FROM collab_message WHERE turn_id IS NULL"))
    assert {id: answer["data"]["seq"] for id, answer in answers.items()} == seqs
    taken = killed.fleet.ask(TAKEN)
    assert [id for (id,) in taken] == [id for id, _ in killed.posted()], "taken twice, or out of order"
    killed.assert_whole()


TAKEN = (
    "SELECT message.client_id FROM collab_event CROSS JOIN LATERAL"
    " json_array_elements_text(coalesce(data::json->'took', data::json->'messages')) WITH ORDINALITY taking (id, n)"
    " JOIN collab_message message ON message.id::text = taking.id"
    " WHERE type IN ('turn_started', 'message_taken') ORDER BY collab_event.seq, n"
)


async def test_a_runner_hears_of_jobs_again_after_its_database_was_killed_and_ends_in_order_while_it_is_away(
    killed: Killed, capsys: pytest.CaptureFixture[str]
) -> None:
    killed.fleet.environment["ACCORD_LEASE_SECONDS"] = NEVER
    killed.starts("ana")
    (ana,) = killed.people.values()
    async with following(ana):
        await _says(ana, "before")
        killed.own.kill()
        await asyncio.to_thread(killed.own.start)
        for number in range(5):
            asked = time.monotonic()
            await _says(ana, f"after{number}")
            measured(capsys, f"PostgreSQL was killed and is back: a post is answered in {since(asked)}")
        assert "worker_failed" not in killed.fleet.runners[0].output
        killed.own.kill()
        runner = killed.fleet.runners[0].process
        runner.terminate()
        assert await asyncio.to_thread(runner.wait, 20) == 0


async def test_pages_say_that_the_database_is_away_and_work_again_when_it_is_back(killed: Killed) -> None:
    killed.starts("ana")
    (ana,) = killed.people.values()
    visitor = killed.stack.enter_context(visiting(killed.web, "ana"))
    thread = visitor.thread()
    with httpx.Client(base_url=killed.web.url, cookies=visitor.http.cookies, timeout=30) as http:
        async with following(ana):
            killed.own.kill()
            for page in ("/", f"/t/{thread}/", "/admin/"):
                away = await asyncio.to_thread(http.get, page)
                assert (away.status_code, away.headers["retry-after"]) == (503, "5")
                assert "cannot reach its database" in away.text
            late = Follower(visitor, thread, longest_wait=SOON)
            task = asyncio.create_task(late.follow())
            await until(lambda: bool(late.closes + late.statuses))
            await asyncio.to_thread(killed.own.start)
            await until(lambda: late.here)
            task.cancel()
            assert (set(late.closes), set(late.statuses)) == ({4408}, set()), "a socket that meets it is told to resume"
            assert (await asyncio.to_thread(http.get, f"/t/{thread}/")).status_code == 200
            await _level(killed)
    killed.assert_whole()


async def _more(many: int, *pages: Follower) -> None:
    """Wait until so many more posts are acknowledged."""
    known = sum(len(page.answers) for page in pages)
    await until(lambda: sum(len(page.answers) for page in pages) >= known + many)


async def _says(page: Follower, word: str) -> None:
    """Post a message, and wait until its turn is over."""
    before = page.head
    await page.posts(word, f"say {word}")
    await page.until(lambda frame: frame["seq"] > before and is_event(frame, "turn_ended"))


async def _types(page: Follower, letter: str) -> None:
    """Post messages, each once the one before was acknowledged."""
    for number in range(POSTS):
        id = f"{letter}{number}"
        await page.posts(id, f"say {id}")
        await until(lambda id=id: id in page.answers)


async def _level(killed: Killed) -> None:
    """Wait until every page has the log as it lies there."""
    ((head,),) = killed.fleet.ask("SELECT head_seq FROM collab_thread")
    await until(lambda: all(page.here and page.head >= head for page in killed.people.values()))
