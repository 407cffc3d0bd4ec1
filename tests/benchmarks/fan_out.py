"""How fast streamed text reaches many viewers, beside raw sockets and beside one group membership a viewer.

Accord is measured from the model's socket to the viewers' sockets: the reply passes the gate, is coalesced, rendered
and fanned out. The other two fan out only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import websockets

from tests.benchmarks import people
from tests.benchmarks.peers import processes
from tests.benchmarks.peers.deltas import A_SECOND, stamps
from tests.benchmarks.people import Seat
from tests.benchmarks.results import Result, at_most, p50, p95, ratio_at_least
from tests.benchmarks.run import Run
from tests.benchmarks.watching import now, watching

SILENCE = 3.0
"""Seconds without a frame after which nothing more is expected."""

RAW, GROUPS = "raw websockets", "one group membership a viewer"
AT_ONCE = 10
"""Sockets opened at the same time."""


@dataclass(slots=True)
class Arrivals:
    """What one viewer got: how late each delta was, in ms, when the first was sent and when the last came."""

    late: list[float] = field(default_factory=list)
    first: float = float("inf")
    last: float = 0.0

    def note(self, text: str) -> None:
        """A text came now."""
        came = now()
        for sent in stamps(text):
            self.late.append(came - sent)
            self.first, self.last = min(self.first, sent), came


@dataclass(frozen=True, slots=True)
class Spread:
    """What all viewers of one run got."""

    viewers: int
    lost: int
    p50: float
    p95: float
    a_second: float


def measure(run: Run) -> list[Result]:
    """Measure each number of viewers on each of the three."""
    count = A_SECOND * run.size(5, 2)
    sizes = [10, 100] if run.quick else [1, 10, 50, 100]
    raw = {size: _plain("raw_sockets", size, count) for size in sizes}
    groups = {size: _plain("group_sockets", size, count) for size in sizes}
    ours = _accord(run, sizes, count)
    return [
        result for size in sizes for result in _results(ours[size], raw[size], groups[size], last=size == sizes[-1])
    ]


def _results(ours: Spread, raw: Spread, groups: Spread, *, last: bool) -> list[Result]:
    """What is held to a target is so at the most viewers."""
    at = f"{ours.viewers} viewer{'s' if ours.viewers > 1 else ''}"
    lost = f"{groups.lost} lost with groups, {raw.lost} with raw sockets"
    late, many = (at_most(100), ratio_at_least(8)) if last else (None, None)
    return [
        Result(f"{at}: deltas lost", ours.lost, "", None, "", at_most(0), lost),
        Result(f"{at}: delta → viewer, p50", ours.p50, "ms", raw.p50, RAW),
        Result(f"{at}: delta → viewer, p95", ours.p95, "ms", raw.p95, RAW, late),
        Result(f"{at}: delta → viewer, p95", ours.p95, "ms", groups.p95, GROUPS),
        Result(f"{at}: deltas delivered a second", ours.a_second, "/s", groups.a_second, GROUPS, many),
    ]


def _plain(server: str, viewers: int, count: int) -> Spread:
    with processes.module(server, viewers, count) as peer:
        return asyncio.run(_plain_viewers(f"ws://127.0.0.1:{peer.port}/", viewers, count))


async def _plain_viewers(url: str, viewers: int, count: int) -> Spread:
    async with AsyncExitStack() as stack:
        gate = asyncio.Semaphore(AT_ONCE)

        async def opened() -> Any:
            async with gate:
                return await stack.enter_async_context(
                    websockets.connect(url, compression=None, ping_interval=None, max_queue=None, close_timeout=1)
                )

        sockets = await asyncio.gather(*(opened() for _ in range(viewers)))
        arrived = [Arrivals() for _ in sockets]
        await asyncio.gather(*(_listen(socket, one, count) for socket, one in zip(sockets, arrived, strict=True)))
    return _spread(arrived, count)


async def _listen(socket: Any, arrivals: Arrivals, count: int) -> None:
    while len(arrivals.late) < count:
        try:
            arrivals.note(await asyncio.wait_for(socket.recv(), SILENCE))
        except TimeoutError:
            return


def _accord(run: Run, sizes: Sequence[int], count: int) -> dict[int, Spread]:
    made = people.studio()
    viewers = people.crowd(made, sizes[-1])
    found = {}
    with processes.module("delta_model", count) as model:
        address = f"openai-compatible:deltas@http://127.0.0.1:{model.port}/v1"
        with run.accord(ACCORD_MODEL=address) as server:
            for size in sizes:
                thread = people.another_thread(made, f"For {size}")
                seats = [people.seat(someone, thread) for someone in viewers[:size]]
                asks = people.seat(made.ana, thread)
                found[size] = asyncio.run(_accord_viewers(server.url, asks, seats, count))
    return found


async def _accord_viewers(url: str, asks: Seat, seats: Sequence[Seat], count: int) -> Spread:
    async with AsyncExitStack() as stack:
        gate = asyncio.Semaphore(AT_ONCE)

        async def opened(seat: Seat) -> Any:
            async with gate:
                return await stack.enter_async_context(watching(url, seat))

        watchers = await asyncio.gather(*(opened(seat) for seat in seats))
        arrived = [Arrivals() for _ in watchers]
        listening = [
            asyncio.create_task(_watch(watcher, one, count)) for watcher, one in zip(watchers, arrived, strict=True)
        ]
        asking = await stack.enter_async_context(watching(url, asks))
        await asking.post("Begin.")
        await asyncio.gather(*listening)
    return _spread(arrived, count)


async def _watch(watcher: Any, arrivals: Arrivals, count: int) -> None:
    """Read live text until all has come, as it is told to be read: cut at the offset, then append."""
    length = 0
    while len(arrivals.late) < count:
        try:
            frame = await asyncio.wait_for(watcher.read(), SILENCE)
        except TimeoutError:
            return
        if frame["type"] == "live":
            new = frame["text"][max(0, length - frame["offset"]) :]
            length = max(length, frame["offset"] + len(frame["text"]))
            arrivals.note(new)


def _spread(arrived: Sequence[Arrivals], count: int) -> Spread:
    late = [one for arrivals in arrived for one in arrivals.late]
    took = max(arrivals.last for arrivals in arrived) - min(arrivals.first for arrivals in arrived)
    lost = count * len(arrived) - len(late)
    return Spread(len(arrived), lost, p50(late), p95(late), len(late) / took * 1e3)
