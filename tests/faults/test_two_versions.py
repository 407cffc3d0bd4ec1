"""Two versions of the code on one database and one Redis, while one replaces the other (FAILURES C10)."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.faults.watching import is_event
from tests.support.fleet import SCRIPT, Fleet, created, fleet
from tests.support.follower import Follower, Json, following, until
from tests.support.server import ROOT, Server, environment_for, manage, serving, working
from tests.support.services import database_url, redis_url
from tests.support.versions import earlier_version, next_version
from tests.support.visitor import Visitor, visiting

pytestmark = pytest.mark.timeout(600)
NEEDED = "two versions side by side need a PostgreSQL and a Redis"
NO_HISTORY = "the earlier version is not in the history here"
LONG_LEASE = "60"
"""What is handed over sooner was handed over in order."""


class Version:
    """One source tree's processes, and people at its pages."""

    def __init__(self, tree: Path, environment: dict[str, str], stack: ExitStack) -> None:
        self.tree, self.environment, self.stack = tree, environment, stack
        self.web: Server
        self.visitors: dict[str, Visitor] = {}

    def serves(self) -> Server:
        """Start a web process."""
        self.web = self.stack.enter_context(serving(self.environment, "--web-only", tree=self.tree))
        return self.web

    def works(self) -> Server:
        """Start a runner."""
        return self.stack.enter_context(working(self.environment, tree=self.tree))

    def page(self, who: str) -> Follower:
        """Have someone at a page that this version serves."""
        visitor = self.visitors[who] = self.stack.enter_context(visiting(self.web, who))
        return Follower(visitor, visitor.thread())

    def manages(self, *arguments: str) -> str:
        """Run a management command."""
        return manage(self.environment, *arguments, tree=self.tree)

    def assert_pages(self, who: str) -> None:
        """Everything that shows the thread or its log renders."""
        visitor = self.visitors[who]
        thread = visitor.thread()
        for path in ("/", f"/t/{thread}/", f"/t/{thread}/timeline/", f"/t/{thread}/items/?before=1000"):
            visitor.http.get(path).raise_for_status()

    def ready(self) -> httpx.Response:
        """Ask the web process whether it is ready."""
        return httpx.get(f"{self.web.url}/readyz", timeout=30)


@pytest.fixture
def both(demo: dict[str, str], tmp_path: Path) -> Iterator[tuple[Version, Version, Fleet]]:
    """This version and the next, without processes yet, on a database that this one migrated."""
    tree = next_version(tmp_path / "next")
    with fleet(demo, ACCORD_LEASE_SECONDS=LONG_LEASE) as found:
        this = Version(ROOT, found.environment, found.stack)
        later = Version(tree, found.environment, found.stack)
        manage(environment_for(tmp_path / "apart"), "makemigrations", "--name", "next_version", tree=tree)
        yield this, later, found


async def test_old_and_new_processes_read_each_others_log_and_hand_turns_over_while_one_replaces_the_other(
    both: tuple[Version, Version, Fleet],
) -> None:
    old, new, found = both
    old.serves()
    old_runner = old.works()
    ana = old.page("ana")
    async with following(ana):
        new.serves()
        assert "not applied" in new.ready().json()["missing"]["migrations"], "who forgot to migrate is told"
        new.manages("migrate", "--verbosity", "0")
        assert (old.ready().status_code, new.ready().status_code) == (200, 200)
        await _works(ana, "a1")  # the old code writes into the new tables
        ben, vera = new.page("ben"), new.page("vera")
        chief = new.page("ana")
        async with following(ben, vera, chief):
            await chief.asks("r1", "thread_rename", title="Launch supper")
            await ana.until(lambda frame: frame["event"] == "thread_noted")
            new_runner = new.works()
            await _parks(ben, "b1", ends=old_runner, goes_on=new_runner)
            await _parks(ana, "a2", ends=new_runner, goes_on=old.works())
            await ben.posts("b2", "talk")
            for page in (ana, vera):  # the middle: the last frame may be overtaken by the message that holds all of it
                await until(lambda live=page.live: any("bring a friend" in frame["text"] for frame in live))
            assert vera.live[-1]["turn"] == ana.live[-1]["turn"]
            await _quiet(found)
            for page in (ana, ben, vera, chief):
                await page.until(lambda frame: frame["seq"] == _head(found))
    _assert_one_log(ana, ben, vera, chief)
    for version in both[:2]:
        version.assert_pages("ana")
        assert "no violation" in version.manages("audit")
        assert "Traceback" not in version.web.output
    assert [turn[:2] for turn in found.turns()] == [
        ("completed", ""), ("failed", "parked"), ("completed", ""), ("failed", "parked"), ("completed", ""),
        ("completed", ""),
    ]  # fmt: skip
    assert {answer["type"] for page in (ana, ben, chief) for answer in page.answers.values()} == {"result"}


async def test_an_earlier_release_works_on_while_its_database_is_migrated_by_this_one(tmp_path: Path) -> None:
    database, redis = database_url(), redis_url()
    if database is None or redis is None:
        pytest.skip(NEEDED)
    tree = earlier_version(tmp_path / "earlier")
    if tree is None:
        pytest.skip(NO_HISTORY)
    with created(database, f"accord_earlier_{tmp_path.name}") as url, ExitStack() as stack:
        environment = environment_for(
            tmp_path, DATABASE_URL=url, REDIS_URL=redis, ACCORD_RUNNERS="1", ACCORD_MODEL=f"scripted:{SCRIPT}"
        )
        old, this, found = (
            Version(tree, environment, stack),
            Version(ROOT, environment, stack),
            Fleet(environment, stack),
        )
        old.manages("migrate", "--verbosity", "0")
        old.manages("demo")
        old.serves()
        old.works()
        ana = old.page("ana")
        async with following(ana):
            await _works(ana, "a1")
            this.manages("migrate", "--verbosity", "0")
            assert old.ready().status_code == 200
            await _writes_everything(ana)
            await _quiet(found)
            this.serves()
            ben = this.page("ben")
            async with following(ben):
                await _works(ben, "b1")
                for page in (ana, ben):
                    await page.until(lambda frame: frame["seq"] == _head(found))
        _assert_one_log(ana, ben)
        old.assert_pages("ana")
        this.assert_pages("ben")
        assert "no violation" in this.manages("audit")


async def _works(page: Follower, id: str) -> None:
    """Have a turn that edits, and wait until it is over."""
    before = page.head
    await page.posts(id, "work")
    await page.until(lambda frame: frame["seq"] > before and _completed(frame))


async def _parks(page: Follower, id: str, *, ends: Server, goes_on: Server) -> None:
    """Have one runner work a turn, end it in the middle, and wait until the other has done the rest."""
    before = page.head
    goes_on.process.send_signal(signal.SIGSTOP)  # so that it is the other that takes the turn
    try:
        await page.posts(id, "work")
        await page.until(lambda frame: frame["seq"] > before and is_event(frame, "call_ended"))
    finally:
        goes_on.process.send_signal(signal.SIGCONT)
    ends.process.terminate()
    await page.until(lambda frame: frame["seq"] > before and _completed(frame))


async def _writes_everything(page: Follower) -> None:
    """Ask for each kind of row that a person or a turn makes."""
    await page.asks("d1", "document_create", title="Menu", kind="markdown", text="Soup.\n")
    await page.asks("m1", "thread_mode_set", mode="suggest")
    await until(lambda: not page.unanswered)
    await _works(page, "p1")
    await page.asks("m2", "thread_mode_set", mode="edit")
    await page.posts("c1", "say yes")
    await until(lambda: not page.unanswered)


async def _quiet(found: Fleet) -> None:
    """Wait until every message was taken and no turn runs."""
    await until(lambda: found.ask("SELECT 1 FROM collab_message WHERE waits") == [])
    await until(lambda: found.ask("SELECT 1 FROM agents_turn WHERE status = 'running'") == [])


def _completed(frame: Json) -> bool:
    return is_event(frame, "turn_ended") and frame["data"]["status"] == "completed"


def _head(found: Fleet) -> int:
    ((head,),) = found.ask("SELECT head_seq FROM collab_thread")
    return int(head)


def _assert_one_log(*pages: Follower) -> None:
    """Each page was sent every event once and in order, and all the same, whichever version sent it."""
    for page in pages:
        assert (page.faults, dict(page.closes), dict(page.statuses)) == ([], {}, {})
    logs = {tuple((frame["seq"], frame["event"], str(frame["data"])) for frame in page.events) for page in pages}
    assert len(logs) == 1
