"""How long it takes from a person's approval on their socket to the first step's arrival at the other side."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from agents.models.actions import PendingAction
from agents.tools.registry import TOOLS
from agents.world.ledger import Ledger
from agents.world.places import Answer
from agents.world.server import World
from tests.benchmarks import people
from tests.benchmarks.people import Seat
from tests.benchmarks.results import Result, at_most, p50
from tests.benchmarks.run import Run
from tests.benchmarks.watching import Watcher, now, watching
from tests.support.cast import Studio
from tests.support.other_side import Counter
from tests.support.tools import registered
from tests.support.turns import posts
from tests.support.worked import Worker

UNCOUNTED = 2
"""Approvals at the start that warm the server up."""


@dataclass(slots=True)
class Approved:
    """When an approval was sent and when it was acknowledged, in ms."""

    at: float
    acknowledged: float = 0.0


class Timed(Ledger):
    """A ledger that knows when each deed was asked for."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked: list[float] = []

    def do(self, key: str, deed: str, args: Mapping[str, Any]) -> Answer:
        """See :meth:`Ledger.do`."""
        self.asked.append(now())
        return super().do(key, deed, args)


def measure(run: Run) -> list[Result]:
    """Ask for refunds, each an action of its own, and approve one after another."""
    made = people.studio()
    actions = _asked(made, run.size(20, 6))
    seat = people.seat(made.ana, made.thread)
    with _world() as (world, sent), run.accord(ACCORD_WORLD_URL=world) as server:
        approved = asyncio.run(_approved(server.url, seat, actions))
    assert len(sent) == len(actions), f"{len(sent)} of {len(actions)} refunds were asked for"
    took = [then - one.at for one, then in zip(approved, sent, strict=True)][UNCOUNTED:]
    answered = [one.acknowledged - one.at for one in approved][UNCOUNTED:]
    return [
        Result("approve → first step sent, p50", p50(took), "ms", None, "", at_most(150)),
        Result("approve → acknowledged, p50", p50(answered), "ms"),
    ]


def _asked(made: Studio, count: int) -> list[UUID]:
    """Have Robin ask Ana for so many refunds."""
    refund = replace(TOOLS["refund_card"], per_day=None)
    with registered(refund):
        Counter(made, refund)
        for number in range(count):
            posts(made.ana, made.thread, "refund a little")
            robin = Worker.begins(made)
            robin.calls(refund.name, order="4412", amount=f"0.{number + 1:02}")
            robin.ends("It waits for you.")
    return list(PendingAction.objects.filter(state="open").order_by("number").values_list("pk", flat=True))


async def _approved(url: str, seat: Seat, actions: Sequence[UUID]) -> list[Approved]:
    """Approve each once the turn of the one before has ended."""
    async with watching(url, seat) as watcher:
        return [await _approve(watcher, action) for action in actions]


async def _approve(watcher: Watcher, action: UUID) -> Approved:
    approved = Approved(now())
    command, ended = await watcher.command("action_approve", action=str(action)), False
    while not (ended and approved.acknowledged):
        match await watcher.read():
            case {"type": "result", "id": id} if id == command:
                approved.acknowledged = now()
            case {"type": "refused" | "busy"} as refused:
                raise RuntimeError(f"not approved: {refused}")
            case {"type": "event", "event": "turn_ended"}:
                ended = True
    return approved


@contextmanager
def _world() -> Iterator[tuple[str, list[float]]]:
    """Serve a world from this process until the block ends; yield its address, and when each deed was asked for."""
    with TemporaryDirectory() as folder:
        kept = Timed(Path(folder) / "world.jsonl")
        world = World(kept, 0)
        thread = threading.Thread(target=world.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield world.url, kept.asked
        finally:
            world.shutdown()
            world.server_close()
            thread.join()
            kept.close()
