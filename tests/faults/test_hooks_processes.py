"""Equal deliveries to two web processes, one of which is killed, and deliveries that nobody acted on (FAILURES D)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import httpx

from agents.management.commands.demo import SOURCES
from tests.faults.dying import ENTRY
from tests.faults.watching import PATIENCE
from tests.support.deliveries import headers_of
from tests.support.fleet import Fleet
from tests.support.server import Server, serving

OFFER = json.dumps({"type": "table.offered", "day": "2027-06-04", "time": "20:30", "party": 4}).encode()
"""It asks for a turn, in the demo's thread."""

DELIVERIES = "SELECT state, repeats, conflicts FROM agents_delivery"
BECAME = "SELECT content, taken_by IS NOT NULL FROM collab_message WHERE turn_id IS NULL"
SAYS = "A table for 4 is free on "


async def test_forty_equal_deliveries_to_two_processes_are_one_row_one_message_and_one_turn_though_one_is_killed(
    processes: Fleet,
) -> None:
    dies, lives = processes.starts(webs=2, runners=1)
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
    await _until_a_turn_is_over(processes)
    ((state, repeats, conflicts),) = processes.ask(DELIVERIES)
    assert (state, conflicts) == ("acted", 0)
    assert repeats >= came.count(200) + len(again)
    _assert_one_message_and_turn(processes)


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


async def test_a_delivery_whose_process_was_killed_before_it_acted_is_acted_on_once_after_a_restart(
    processes: Fleet,
) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        with serving(processes.environment, "--web-only", entry=(*ENTRY, "idle", "manage")) as dies:
            assert await _sent(http, dies) == 202
            dies.process.kill()
        assert processes.ask(DELIVERIES) == [("stored", 0, 0)]
        assert processes.ask(BECAME) == []
        (web,) = processes.starts(webs=1, runners=2)
        await _until_a_turn_is_over(processes)
        assert await _sent(http, web) == 200
    assert processes.ask(DELIVERIES) == [("acted", 1, 0)]
    _assert_one_message_and_turn(processes)


def _assert_one_message_and_turn(processes: Fleet) -> None:
    ((content, taken),) = processes.ask(BECAME)
    assert content.startswith(SAYS)
    assert taken
    assert processes.turns() == [("completed", "", 1)]
    assert processes.replies() == ["I heard of the table."]
    assert "no violation" in processes.audit()


async def _until_a_turn_is_over(processes: Fleet) -> None:
    async with asyncio.timeout(PATIENCE):
        while _statuses(processes) in ([], ["running"]):
            await asyncio.sleep(0.1)


def _statuses(processes: Fleet) -> Sequence[str]:
    return [status for status, _, _ in processes.turns()]


async def _sent(
    http: httpx.AsyncClient, server: Server, answered: asyncio.Event | None = None, id: str = "msg_1"
) -> int | None:
    """Send a delivery and return the status that came; None when none did."""
    headers = headers_of(OFFER, id=id, secret=SOURCES["restaurant"][1])
    try:
        answer = await http.post(f"{server.url}/hooks/restaurant/", content=OFFER, headers=headers)
    except httpx.TransportError:
        return None
    if answered:
        answered.set()
    return answer.status_code
