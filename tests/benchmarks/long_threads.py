"""Whether a long past costs: a post and a turn at 100,000 events beside 100, and coming back to 10,000 missed ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from tests.benchmarks import history, people
from tests.benchmarks.peers.chats import AccordChat, Exchange, exchange
from tests.benchmarks.people import Seat
from tests.benchmarks.results import Result, at_most, p50, ratio_at_most
from tests.benchmarks.run import Run
from tests.benchmarks.watching import now, watching

SHORT = 100
UNCOUNTED = 4
PAGE = 200
"""Events a page asks for when it comes back."""
MOMENTS = {"acknowledged": "post → acknowledged", "done": "post → turn ended"}
WORDS = {"text", "html"}
"""Keys of an item whose values are what people and the agent wrote, plain and rendered."""

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
        seconds, received = asyncio.run(_come_back(server.url, back, missing))
        newest, _ = asyncio.run(_come_back(server.url, back, missing, at_most=PAGE))
    at = f"in a thread of {events:,} events, p50"
    return [
        *(
            Result(
                f"{words} {at}", _p50(at_long, moment), "ms", _p50(at_short, moment),
                f"the same at {SHORT} events", ratio_at_most(1.3),
            )
            for moment, words in MOMENTS.items()
        ),
        Result(f"a page comes back to {missing:,} missed events: the newest {PAGE}", newest, "s", None, "", at_most(1)),
        Result(f"a client is sent {missing:,} missed events", seconds, "s", None, "", at_most(1)),
        _bytes(received),
    ]  # fmt: skip


def _p50(timed: Sequence[Exchange], moment: str) -> float:
    return p50([getattr(one, moment) for one in timed])


def _bytes(received: Sequence[str]) -> Result:
    whole = sum(len(text.encode()) for text in received) / len(received)
    besides = sum(len(_without_words(text).encode()) for text in received) / len(received)
    name = "a missed event: bytes besides what was written"
    return Result(name, besides, "", None, "", at_most(300), f"{whole:.0f} with it")


async def _talk(url: str, seats: Sequence[Seat], rounds: int) -> tuple[list[Exchange], list[Exchange]]:
    timed: tuple[list[Exchange], list[Exchange]] = ([], [])
    async with watching(url, seats[0]) as short, watching(url, seats[1]) as long:
        for number in range(UNCOUNTED + rounds):
            for watcher, kept in zip((short, long), timed, strict=True):
                kept.append(await exchange(AccordChat(watcher), f"Message {number}.", tuple(MOMENTS)))
                await asyncio.sleep(0.02)
    return timed[0][UNCOUNTED:], timed[1][UNCOUNTED:]


async def _come_back(url: str, seat: Seat, missing: int, at_most: int | None = None) -> tuple[float, list[str]]:
    """Return how many seconds it took, and the event frames that came."""
    async with watching(url, seat) as watcher:
        head = watcher.seq
    async with watching(url, seat, says_hello=False) as watcher:
        start, texts = now(), list[str]()
        await watcher.socket.send(json.dumps({"type": "hello", "after_seq": head - missing, "at_most": at_most}))
        while not (text := await watcher.read_text()).startswith(CAUGHT_UP):
            texts.append(text)
        seconds = (now() - start) / 1e3
    events = [text for text in texts if text.startswith(EVENT)]
    wanted = min(missing, at_most or missing)
    assert len(events) == wanted, f"{len(events)} of {wanted} events came"
    return seconds, events


def _without_words(text: str) -> str:
    return json.dumps(_stripped(json.loads(text)), ensure_ascii=False, separators=(",", ":"))


def _stripped(value: Any) -> Any:
    match value:
        case dict():
            return {key: "" if key in WORDS else _stripped(kept) for key, kept in value.items()}
        case list():
            return [_stripped(kept) for kept in value]
        case _:
            return value
