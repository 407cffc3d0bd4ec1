"""What streams of this process hear of their threads: one channel of the doorbell for all of them (DESIGN 9).

The bell only says that there is something to read. Because the layer may lose a ring, the threads' heads are compared
every few seconds too. It runs only while somebody listens.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import structlog
from channels.layers import get_channel_layer

from collab import doorbell
from collab.db import in_db
from collab.web.frames import Head, heads
from collab.web.rounds import every, logged

log = structlog.get_logger(__name__)

COMPARE_SECONDS = 3.0
REJOIN_SECONDS = 600.0

MOST_LIVE = 200
"""Live frames that wait for one stream; older ones are dropped, and a snapshot makes up for them."""


class Ear:
    """What one stream heard since it last looked."""

    def __init__(self, thread: UUID) -> None:
        self.thread = thread
        self.grown = True
        self.check = False
        self.over = False
        self.documents: set[UUID] = set()
        self.live: deque[dict[str, Any]] = deque(maxlen=MOST_LIVE)
        self._something = asyncio.Event()

    def hear(self, **said: bool) -> None:
        """Note that the log has ``grown``, that rights are to be looked at (``check``), or that it is ``over``."""
        for name, value in said.items():
            setattr(self, name, value)
        self._something.set()

    async def something(self, seconds: float) -> bool:
        """Wait until something was heard, at most so long; say whether it was."""
        try:
            await asyncio.wait_for(self._something.wait(), seconds)
        except TimeoutError:
            return False
        self._something.clear()
        return True


class Bell:
    """The streams that listen in one event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._layer: Any = get_channel_layer()
        self._channel = ""
        self._ears: dict[UUID, set[Ear]] = {}
        self._heads: dict[UUID, Head] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._groups = asyncio.Lock()

    @asynccontextmanager
    async def hearing(self, thread: UUID) -> AsyncIterator[Ear]:
        """Hear of a thread for as long as this is open."""
        ear = Ear(thread)
        self._ears.setdefault(thread, set()).add(ear)
        if not self._tasks:
            self._start()
        try:
            await logged(self._group(thread))
            yield ear
        finally:
            self._ears[thread].discard(ear)
            if not self._ears[thread]:
                del self._ears[thread]
                self._heads.pop(thread, None)
                await logged(self._group(thread))
            if not self._ears:
                await self._stop()

    def _start(self) -> None:
        doorbell.attach(self.loop)
        works = (self._listen(), every(COMPARE_SECONDS, self._compare), every(REJOIN_SECONDS, self._rejoin))
        self._tasks = [self.loop.create_task(work) for work in works]

    async def _stop(self) -> None:
        tasks, self._tasks, channel, self._channel = self._tasks, [], self._channel, ""
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if channel:
            await logged(self._layer.group_discard(doorbell.HUBS, channel))

    async def _group(self, thread: UUID) -> None:
        """Be in a thread's group exactly while somebody listens to it."""
        async with self._groups:
            if self._channel:
                change = self._layer.group_add if thread in self._ears else self._layer.group_discard
                await change(doorbell.thread_group(thread), self._channel)

    async def _listen(self) -> None:
        while True:
            try:
                if not self._channel:
                    self._channel = await self._layer.new_channel("streams")
                    await self._rejoin()
                    self._look_again()
                self._heard(await self._layer.receive(self._channel))
            except Exception:
                log.exception("streams_layer_away")
                self._channel = ""
                await asyncio.sleep(COMPARE_SECONDS)

    async def _rejoin(self) -> None:
        if self._channel:
            await self._layer.group_add(doorbell.HUBS, self._channel)
        for thread in list(self._ears):
            await self._group(thread)

    def _heard(self, message: dict[str, Any]) -> None:
        if message["type"] == "recheck":
            self._look_again()
            return
        for ear in self._ears.get(UUID(message["thread"]), ()) if "thread" in message else ():
            match message["type"]:
                case "ring":
                    ear.hear(grown=True)
                case "live":
                    ear.live.append(message["frame"])
                    ear.hear()
                case "document":
                    ear.documents.add(UUID(message["document"]))
                    ear.hear()

    def _look_again(self) -> None:
        """Whatever was rung, or not heard: every stream reads on and looks at its rights."""
        for ears in self._ears.values():
            for ear in ears:
                ear.hear(check=True)

    async def _compare(self) -> None:
        """Make up for rings that were lost."""
        found = await in_db(heads, list(self._ears))
        for thread, head in found.items():
            before = self._heads.get(thread)
            self._heads[thread] = head
            if before is None or before == head:
                continue
            for ear in self._ears.get(thread, ()):
                ear.documents |= {id for id, version in head.documents.items() if before.documents.get(id) != version}
                ear.hear(grown=True, check=True)


class _State:
    bell: Bell | None = None


def bell() -> Bell:
    """Return the bell of this process's event loop."""
    if _State.bell is None or _State.bell.loop is not asyncio.get_running_loop():
        _State.bell = Bell()
    return _State.bell
