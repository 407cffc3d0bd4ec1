"""Whether a long past costs: a post and a turn at 100,000 events beside 100, and coming back to 10,000 missed ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from tests.benchmarks import history, people
from tests.benchmarks.peers.chats import AccordChat, Exchange, exchange
from tests.benchmarks.people import Seat
from tests.benchmarks.results import Result, at_most, p50, ratio_at_most
from tests.benchmarks.run import Run
from tests.benchmarks.watching import now, watching

SHORT = 100
UNCOUNTED = 4
MOMENTS = {"acknowledged": "post → acknowledged", "done": "post → turn ended"}
EVENT, CAUGHT_UP = '{"type":"event"', '{"type":"caught_up"'


def measure(run: Run) -> list[Result]:
    """Fill two threads, talk in both by turns, then come back to the long one."""
    made = people.studio()
    short, long = people.another_thread(made, "Short"), people.another_thread(made, "Long")
    events, missing = run.size(100_000, 4_000), run.size(10_000, 2_000)
    history.fill(made, short, SHORT)
    history.fill(made, long, events)
    seats = [people.seat(made.ana, thread) for thread in (short, long)]
    back = people.seat(made.ben, long)
    with run.accord() as server:
        at_short, at_long = asyncio.run(_talk(server.url, seats, run.size(30, 8)))
        seconds, received, plain = asyncio.run(_come_back(server.url, back, missing))
    at = f"in a thread of {events:,} events, p50"
    return [
        *(
            Result(
                f"{words} {at}", _p50(at_long, moment), "ms", _p50(at_short, moment),
                f"the same at {SHORT} events", ratio_at_most(1.3),
            )
            for moment, words in MOMENTS.items()
        ),
        Result(f"reconnect with {missing:,} missed events", seconds, "s", None, "", at_most(1)),
        _bytes(received, missing, plain),
    ]  # fmt: skip


def _p50(timed: Sequence[Exchange], moment: str) -> float:
    return p50([getattr(one, moment) for one in timed])


def _bytes(received: int, missing: int, plain: int) -> Result:
    note = f"with what was written; {plain / missing:.0f} before compression"
    return Result("reconnect: bytes an event on the wire", received / missing, "", None, "", at_most(300), note)


async def _talk(url: str, seats: Sequence[Seat], rounds: int) -> tuple[list[Exchange], list[Exchange]]:
    timed: tuple[list[Exchange], list[Exchange]] = ([], [])
    async with watching(url, seats[0]) as short, watching(url, seats[1]) as long:
        for number in range(UNCOUNTED + rounds):
            for watcher, kept in zip((short, long), timed, strict=True):
                kept.append(await exchange(AccordChat(watcher), f"Message {number}.", tuple(MOMENTS)))
                await asyncio.sleep(0.02)
    return timed[0][UNCOUNTED:], timed[1][UNCOUNTED:]


async def _come_back(url: str, seat: Seat, missing: int) -> tuple[float, int, int]:
    """Return how many seconds it took, how many bytes came over the wire, and how many they were before compression."""
    async with watching(url, seat) as watcher:
        head = watcher.seq
    async with watching(url, seat, says_hello=False) as watcher:
        start, received, plain, events = now(), watcher.socket.received, 0, 0
        await watcher.socket.send(json.dumps({"type": "hello", "after_seq": head - missing}))
        while not (text := await watcher.read_text()).startswith(CAUGHT_UP):
            plain += len(text.encode())
            events += text.startswith(EVENT)
        assert events == missing, f"{events} of {missing} events came"
        return (now() - start) / 1e3, watcher.socket.received - received, plain
