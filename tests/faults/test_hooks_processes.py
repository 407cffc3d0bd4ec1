"""Equal deliveries to two web processes, one of which is killed (FAILURES D4, D7)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from agents.sources.schemes import SCHEMES
from tests.support.deliveries import BODY, SECRET
from tests.support.fleet import Fleet, fleet, template
from tests.support.server import Server, manage
from tests.support.services import database_url, redis_url

MAKES = f"""
from agents.sources.services import source_create
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.models import User
source_create(
    actor=Person(User.objects.get(username="ana").pk), workspace=Workspace.objects.order_by("created_at").first().pk,
    name="kitchen", label="Kitchen", handler="json", secret="{SECRET}",
)
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of processes on a database to be copied, with a source in it."""
    database, redis = database_url(), redis_url()
    if database is None or redis is None:
        pytest.skip("two web processes need a PostgreSQL and a Redis")
    with template(tmp_path_factory.mktemp("fleet"), database, redis) as environment:
        manage(environment, "shell", "-c", MAKES)
        yield environment


@pytest.fixture
def processes(demo: dict[str, str]) -> Iterator[Fleet]:
    """No process yet."""
    with fleet(demo) as found:
        yield found


async def test_forty_equal_deliveries_to_two_processes_are_one_row_though_one_of_them_is_killed(
    processes: Fleet,
) -> None:
    dies, lives = processes.starts(webs=2, runners=0)
    answered = asyncio.Event()
    async with httpx.AsyncClient(timeout=30) as http:
        sends = [asyncio.create_task(_sent(http, server, answered)) for _ in range(20) for server in (dies, lives)]
        await answered.wait()
        dies.process.kill()
        statuses = await asyncio.gather(*sends)
        again = [await _sent(http, lives, answered) for status in statuses if status is None]
    came = [status for status in statuses if status is not None]
    assert set(came) <= {200, 202}
    assert came.count(202) <= 1
    assert len(came) >= 20, "the one that lives answered all of its own"
    assert set(again) <= {200}
    ((repeats, conflicts),) = processes.ask("SELECT repeats, conflicts FROM agents_delivery")
    assert repeats >= came.count(200) + len(again)
    assert conflicts == 0
    assert "no violation" in processes.audit()


async def test_what_was_acknowledged_is_stored_though_every_process_is_killed_at_once(processes: Fleet) -> None:
    (web,) = processes.starts(webs=1, runners=0)
    answered = asyncio.Event()
    ids = [f"m{number}" for number in range(40)]
    async with httpx.AsyncClient(timeout=30) as http:
        sends = {id: asyncio.create_task(_sent(http, web, answered, id)) for id in ids}
        await answered.wait()
        web.process.kill()
        await asyncio.gather(*sends.values())
    acknowledged = {id for id, sending in sends.items() if sending.result() is not None}
    stored = {id for (id,) in processes.ask("SELECT event_id FROM agents_delivery")}
    assert acknowledged
    assert acknowledged <= stored


async def _sent(http: httpx.AsyncClient, server: Server, answered: asyncio.Event, id: str = "msg_1") -> int | None:
    """Send a delivery and return the status that came; None when none did."""
    moment = datetime.fromtimestamp(time.time(), UTC)
    headers = dict(SCHEMES["standard"].sign(BODY, event_id=id, sent_at=moment, secret=SECRET))
    try:
        answer = await http.post(f"{server.url}/hooks/kitchen/", content=BODY, headers=headers)
    except httpx.TransportError:
        return None
    answered.set()
    return answer.status_code
