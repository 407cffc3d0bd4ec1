"""Two hundred sockets of one thread lose their server at once and come back together (FAILURES H10)."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.watching import is_event, measured, since
from tests.support.fleet import Fleet
from tests.support.follower import Follower, following, until
from tests.support.server import Server, manage, serving
from tests.support.visitor import visiting

pytestmark = pytest.mark.timeout(600)
PEOPLE = 8
SOCKETS_EACH = 25
"""Under the thirty that a person may have in one process."""

CROWDED = 120.0
"""Seconds that two hundred pages, which share a machine with their server here, may take to connect."""

LOG = 100
"""Posts that are in the log before anyone looks, so that there is something to catch up with."""

SOON = 1.0
"""The longest that a page waits before it tries again: all of them come within a second of the server's return."""

CROWD = """
from collab.models.threads import Thread
from collab.services.messages import message_post
from collab.services.workspaces import member_add
from permissions.actors import Person
from permissions.models import User
from permissions.roles import Role
thread = Thread.objects.get()
ana = Person(User.objects.get(username="ana").pk)
for number in range({people}):
    user = User.objects.create_user(f"crowd{{number}}", password="accord-demo", display_name=f"Crowd {{number}}")
    member_add(actor=ana, workspace=thread.workspace_id, username=user.username, role=Role.VIEWER)
for number in range({log}):
    message_post(actor=ana, thread=thread.id, content=f"Note {{number}}", client_id=f"note{{number}}", kind="comment")
"""


@pytest.fixture
def crowded(processes: Fleet) -> Fleet:
    """No process yet; eight viewers beside the demo's people, and a log of a hundred comments."""
    manage(processes.environment, "shell", "--verbosity", "0", "-c", CROWD.format(people=PEOPLE, log=LOG))
    return processes


async def test_two_hundred_sockets_that_come_back_at_once_have_every_event_once_and_in_order(
    crowded: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    crowded.starts(webs=0, runners=1)
    with ExitStack() as stack:
        dies = stack.enter_context(serving(crowded.environment, "--web-only"))
        port = int(dies.url.rpartition(":")[2])
        pages, ana = _pages(stack, dies)
        async with following(ana, *pages, patience=CROWDED):
            measured(capsys, f"{len(pages)} sockets at one thread: {_memory(dies)}")
            await ana.posts("m1", "work")
            await ana.until(lambda frame: is_event(frame, "document_changed"))
            dies.process.kill()
            dies.process.wait()
            # What happens while nobody is connected is what they catch up with.
            await until(lambda: crowded.turns() == [("completed", "", 1)])
            lives = stack.enter_context(serving(crowded.environment, "--web-only", port=port))
            listens = time.monotonic()
            await ana.posts("m2", "say hello")
            everyone = [ana, *pages]
            await until(lambda: all(page.here and page.caught_up > 1 for page in everyone), CROWDED)
            measured(capsys, f"all {len(pages)} have caught up {since(listens)} after the server listens again")
            await until(lambda: not ana.unanswered)
            await until(lambda: crowded.turns() == [("completed", "", 1)] * 2)
            await _level(crowded, everyone)
            measured(capsys, f"after the storm: {_memory(lives)}")
        _assert_clean(everyone)
    assert "no violation" in crowded.audit()


def _pages(stack: ExitStack, server: Server) -> tuple[list[Follower], Follower]:
    """Have two hundred pages of the crowd, and one of Ana's, none of them connected yet."""
    ana = stack.enter_context(visiting(server, "ana"))
    thread = ana.thread()
    people = [stack.enter_context(visiting(server, f"crowd{number}")) for number in range(PEOPLE)]
    pages = [Follower(person, thread, longest_wait=SOON) for person in people for _ in range(SOCKETS_EACH)]
    return pages, Follower(ana, thread, longest_wait=SOON)


async def _level(crowded: Fleet, pages: list[Follower]) -> None:
    """Wait until every page has the log as it lies there."""
    ((head,),) = crowded.ask("SELECT head_seq FROM collab_thread")
    await until(lambda: all(page.head >= head for page in pages))
    assert {page.head for page in pages} == {head}


def _assert_clean(pages: list[Follower]) -> None:
    assert [fault for page in pages for fault in page.faults] == []
    logs = {tuple((frame["seq"], frame["event"], frame["at"]) for frame in page.events) for page in pages}
    assert len(logs) == 1, "two pages have different logs"
    statuses = sum((page.statuses for page in pages), Counter[int]())
    codes = sum((page.closes for page in pages), Counter[int]())
    assert statuses == {}, "a socket was denied"
    assert codes == {1006: len(pages)}, "a socket ended otherwise than by the kill, once"


def _memory(server: Server) -> str:
    """Return what a process holds in memory, to be printed."""
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        return "memory not known here"
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return f"{int(lines['VmRSS'].split()[0]) // 1024} MiB, {int(lines['VmHWM'].split()[0]) // 1024} MiB at most"
