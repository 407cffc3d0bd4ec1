"""From a post to its acknowledgement and to the first text of the reply, beside artifactr-ai and Chainlit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

from tests.benchmarks import people
from tests.benchmarks.peers import processes
from tests.benchmarks.peers.chats import Chat, Exchange, accord_chat, artifactr_chat, chainlit_chat, exchange
from tests.benchmarks.peers.venvs import NotMeasured
from tests.benchmarks.places import SQLITE
from tests.benchmarks.results import Result, Target, p50, ratio_at_most
from tests.benchmarks.run import Run
from tests.benchmarks.watching import now

UNCOUNTED = 3
"""Exchanges at the start that warm a server up."""

PATIENCE = 180.0
"""Seconds that a peer may take for the alternating messages."""

Opened = Callable[[], AbstractAsyncContextManager[Chat]]
Times = tuple[Sequence[Exchange], float]


def measure(run: Run) -> list[Result]:
    """Measure Accord, then the peers."""
    made = people.studio()
    seats = [people.seat(someone, made.thread) for someone in (made.ana, made.ben)]
    with run.accord() as server:
        ours = asyncio.run(_measured(run, [partial(accord_chat, server.url, seat) for seat in seats]))
    return [*_against_artifactr(run, ours), *_against_chainlit(run, ours)]


def _against_artifactr(run: Run, ours: Times) -> list[Result]:
    against = "artifactr-ai 0.2.1 with grantr"
    try:
        with processes.artifactr(run.database) as peer:
            chats = [partial(artifactr_chat, peer.port, user) for user in ("ana", "ben")]
            theirs = asyncio.run(_measured(run, chats))
    except (NotMeasured, TimeoutError) as why:
        theirs, against = None, f"artifactr-ai not measured: {why}"
    quarter = ratio_at_most(0.25)
    return [
        _median("post → acknowledged", "acknowledged", ours, theirs, against, quarter),
        _median("post → first text", "first_text", ours, theirs, against, quarter),
        _median("post → turn ended", "done", ours, theirs, against, None),
        Result(
            f"{_alternating(run)} alternating messages of two authors, until the last turn ended",
            ours[1], "ms", theirs[1] if theirs else None, against, quarter,
        ),
    ]  # fmt: skip


def _against_chainlit(run: Run, ours: Times) -> list[Result]:
    if run.database != SQLITE:
        return []
    against = "Chainlit 2.12 (one viewer, nothing stored, nobody checked)"
    try:
        with processes.chainlit() as peer:
            theirs = (asyncio.run(_one_person(run, partial(chainlit_chat, peer.port), ("first_text", "done"))), 0.0)
    except NotMeasured as why:
        theirs, against = None, f"Chainlit not measured: {why}"
    return [_median("post → first text beside Chainlit's", "first_text", ours, theirs, against, ratio_at_most(5))]


def _median(name: str, moment: str, ours: Times, theirs: Times | None, against: str, target: Target | None) -> Result:
    reference = p50([getattr(timed, moment) for timed in theirs[0]]) if theirs else None
    return Result(f"{name}, p50", p50([getattr(timed, moment) for timed in ours[0]]), "ms", reference, against, target)


def _alternating(run: Run) -> int:
    return run.size(40, 10)


async def _measured(run: Run, opened: Sequence[Opened]) -> Times:
    alone = await _one_person(run, opened[0], ("acknowledged", "first_text", "done"))
    return alone, await _two_people(run, opened)


async def _one_person(run: Run, opened: Opened, until: tuple[str, ...]) -> list[Exchange]:
    """Post again and again, each time when the turn before has ended."""
    async with opened() as chat:
        timed = []
        for number in range(UNCOUNTED + run.size(40, 8)):
            timed.append(await exchange(chat, f"Message {number}.", until))
            await _quiet(chat)
        return timed[UNCOUNTED:]


async def _quiet(chat: Chat) -> None:
    """Read what still follows a turn, until nothing comes for a moment."""
    try:
        async with asyncio.timeout(None) as limit:
            while True:
                limit.reschedule(asyncio.get_running_loop().time() + 0.05)
                await chat.read()
    except TimeoutError:
        pass


async def _two_people(run: Run, opened: Sequence[Opened]) -> float:
    """Post by turns, each when the other's post was acknowledged, and return how long until every turn has ended."""
    async with AsyncExitStack() as stack:
        both = [await stack.enter_async_context(_counting(one)) for one in opened]
        start = now()
        for number in range(_alternating(run)):
            await both[number % 2].post(f"Alternating {number}.")
        async with asyncio.timeout(PATIENCE):
            await both[0].ended(_alternating(run))
        return now() - start


class _Counting:
    """A chat whose frames are read beside, and counted by what they tell."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._seen = {"acknowledged": 0, "done": 0}
        self._changed = asyncio.Condition()

    async def listen(self) -> None:
        while True:
            told = await self._chat.read()
            async with self._changed:
                for name in told & self._seen.keys():
                    self._seen[name] += 1
                self._changed.notify_all()

    async def post(self, text: str) -> None:
        before = self._seen["acknowledged"]
        await self._chat.send(text)
        async with self._changed:
            await self._changed.wait_for(lambda: self._seen["acknowledged"] > before)

    async def ended(self, turns: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._seen["done"] >= turns)


@asynccontextmanager
async def _counting(opened: Opened) -> AsyncIterator[_Counting]:
    async with opened() as chat:
        counting = _Counting(chat)
        listening = asyncio.create_task(counting.listen())
        try:
            yield counting
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
