"""What sockets cost that do nothing, and what one costs whose client never reads."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

import websockets

from tests.benchmarks import history, people
from tests.benchmarks.machine import Usage, usage
from tests.benchmarks.people import Seat
from tests.benchmarks.results import Result, at_most
from tests.benchmarks.run import Run
from tests.benchmarks.watching import watching

A_PERSON = 20
"""Sockets of one person; a process takes 30."""

MIB = 1024 * 1024
AT_ONCE = 10
EVENTS = 4_000
"""What one that never reads asks for: several times what it may be sent unread."""

DEAF_SECONDS = 6.0


def measure(run: Run) -> list[Result]:
    """Measure the server's process before and with the sockets."""
    made = people.studio()
    sockets, deaf, seconds = run.size(500, 60), run.size(20, 5), run.size(30, 5)
    viewers = people.crowd(made, sockets // A_PERSON)
    seats = [people.seat(viewer, made.thread) for viewer in viewers]
    long = people.another_thread(made, "Long")
    history.fill(made, long, EVENTS)
    deaf_seat = people.seat(made.ana, long)
    with run.accord() as server:
        pid = server.process.pid
        alone, before, together, after = asyncio.run(_idle(server.url, pid, seats * A_PERSON, seconds))
        grown = asyncio.run(_deaf(server.url, pid, deaf_seat, deaf))
    memory, idle = (after.resident - before.resident) / MIB, f"{sockets} idle sockets"
    return [
        Result(f"{idle}: memory they add", memory, "MB", None, "", at_most(150)),
        Result(
            f"{idle}: processor time they add", together - alone, "% of a core", None, "", at_most(2),
            f"{alone:.2f} % with one socket",
        ),
        Result("a reader that never reads: memory", grown / deaf / MIB, "MB", None, "", at_most(1), f"{deaf} of them"),
    ]  # fmt: skip


async def _idle(url: str, pid: int, seats: Sequence[Seat], seconds: float) -> tuple[float, Usage, float, Usage]:
    """Return the share of a core used with one socket, the usage before the others, both again with all."""
    async with AsyncExitStack() as stack:
        gate = asyncio.Semaphore(AT_ONCE)

        async def opened(seat: Seat) -> None:
            async with gate:
                await stack.enter_async_context(watching(url, seat))

        await opened(seats[0])
        await asyncio.sleep(2)
        alone, before = await _share(pid, seconds), usage(pid)
        await asyncio.gather(*(opened(seat) for seat in seats[1:]))
        await asyncio.sleep(3)
        together, after = await _share(pid, seconds), usage(pid)
        return alone, before, together, after


async def _share(pid: int, seconds: float) -> float:
    """Return the processor time a process uses in a while, in percent of one core."""
    before, start = usage(pid), time.monotonic()
    await asyncio.sleep(seconds)
    return (usage(pid).seconds - before.seconds) / (time.monotonic() - start) * 100


async def _deaf(url: str, pid: int, seat: Seat, count: int) -> int:
    """Return how many bytes the server grew by for clients that ask for a whole log and read nothing of it."""
    async with watching(url, seat) as warm:
        await _replayed(url, seat, warm.seq)
        before = usage(pid)
        sockets = [await _opened(url, seat) for _ in range(count)]
        most = 0
        for _ in range(int(DEAF_SECONDS / 0.5)):
            await asyncio.sleep(0.5)
            most = max(most, usage(pid).resident - before.resident)
        for socket in sockets:
            socket.transport.abort()
    return most


async def _replayed(url: str, seat: Seat, head: int) -> None:
    """Read the whole log once, so that what the process needs for that is not counted."""
    async with watching(url, seat, says_hello=False) as watcher:
        await watcher.socket.send(json.dumps({"type": "hello", "after_seq": 0}))
        while watcher.seq < head:
            await watcher.read()


async def _opened(url: str, seat: Seat) -> Any:
    """Open a socket, ask for everything, and never read."""
    socket = await websockets.connect(
        f"{url.replace('http', 'ws', 1)}/ws/threads/{seat.thread}/",
        subprotocols=[websockets.Subprotocol("accord.v1")], origin=websockets.Origin(url),
        additional_headers={"Cookie": f"sessionid={seat.session}"}, compression=None, ping_interval=None,
    )  # fmt: skip
    await socket.send(json.dumps({"type": "hello", "after_seq": 0}))
    with suppress(RuntimeError):
        socket.transport.pause_reading()
    return socket
