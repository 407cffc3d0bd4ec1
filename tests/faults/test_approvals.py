"""One action is approved twenty times at once, at several web processes (FAILURES B, E; promise 4)."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from agents.management.commands.demo import SOURCES
from tests.faults.watching import PATIENCE, Json, Watch, is_event, watching
from tests.support.deliveries import headers_of
from tests.support.fleet import Fleet, fleet
from tests.support.server import Server, the_world
from tests.support.visitor import visiting

SCRIPT = Path(__file__).with_name("approvals.yaml")
OFFER = json.dumps(
    {"type": "table.offered", "day": "2027-06-04", "time": "20:30", "party": 4, "reservation": "R1"}
).encode()
APPROVED = "SELECT status, reason FROM agents_turn WHERE trigger = 'approval'"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "world.jsonl"


@pytest.fixture
def beside_the_world(demo: dict[str, str], ledger: Path) -> Iterator[Fleet]:
    """No process yet but the restaurant's."""
    with (
        the_world(demo, "--ledger", str(ledger)) as world,
        fleet(demo, ACCORD_WORLD_URL=world.url, ACCORD_MODEL=f"scripted:{SCRIPT}") as found,
    ):
        yield found


async def test_of_twenty_approvals_at_three_processes_one_wins_and_what_was_asked_for_is_done_once(
    beside_the_world: Fleet, ledger: Path
) -> None:
    processes = beside_the_world
    webs = processes.starts(webs=3, runners=2)
    async with AsyncExitStack() as stack:
        watches = await _at_sockets(stack, webs, 20)
        action = await _asked_for(watches[0], webs[0], processes)
        answers = await asyncio.gather(
            *(_approves(watch, f"approve-{number}", action) for number, watch in enumerate(watches))
        )
        await _until_over(processes)
    assert Counter(answer["type"] for answer in answers) == {"result": 1, "refused": 19}
    (won,) = [answer for answer in answers if answer["type"] == "result"]
    assert won["data"] == {"action": action, "state": "approved"}
    for refused in (answer for answer in answers if answer["type"] == "refused"):
        assert refused["code"] == "already_yours"
        assert refused["because"].startswith("Ana approved A1 at ")
    assert processes.ask(APPROVED) == [("completed", "")]
    assert processes.ask("SELECT count(*) FROM collab_event WHERE type = 'action_resolved'") == [(1,)]
    deeds = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert [(deed["deed"], deed["args"].get("time")) for deed in deeds] == [
        ("reserve", "19:30"), ("reserve", "20:30"), ("text", None),
    ]  # fmt: skip
    assert "no violation" in processes.audit()


async def _at_sockets(stack: AsyncExitStack, webs: list[Server], number: int) -> list[Watch]:
    """Have Ana at so many sockets, of each process in turn."""
    anas = [stack.enter_context(visiting(web, "ana")) for web in webs]
    thread = anas[0].thread()
    return [await stack.enter_async_context(watching(anas[n % len(anas)], thread)) for n in range(number)]


async def _asked_for(watch: Watch, web: Server, processes: Fleet) -> str:
    """Have Ana's table booked, and the restaurant offer her another; return the action she is asked for."""
    await watch.send(type="command", id="m1", name="message_post", args={"text": "book a table"})
    await watch.until(lambda frame: is_event(frame, "turn_ended"))
    async with httpx.AsyncClient(base_url=web.url) as http:
        signed = headers_of(OFFER, secret=SOURCES["restaurant"][1])
        assert (await http.post("/hooks/restaurant/", content=OFFER, headers=signed)).status_code == 202
    await watch.until(lambda frame: is_event(frame, "action_asked"))
    await watch.until(lambda frame: is_event(frame, "turn_ended"))
    ((action,),) = processes.ask("SELECT id::text FROM agents_pendingaction")
    return str(action)


async def _approves(watch: Watch, id: str, action: str) -> Json:
    await watch.send(type="command", id=id, name="action_approve", args={"action": action})
    return await watch.until(lambda frame: frame["type"] in {"result", "refused"} and frame["id"] == id)


async def _until_over(processes: Fleet) -> None:
    async with asyncio.timeout(PATIENCE):
        while [status for status, _ in processes.ask(APPROVED)] in ([], ["running"]):
            await asyncio.sleep(0.1)
