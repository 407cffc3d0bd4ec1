"""The hub: one in each process that serves sockets, one subscription for each thread it serves (DESIGN 9).

It hears the doorbell on one channel, reads what is new from the log, and sends it to its sockets. Because the layer
may lose a ring or forget a group, it also compares where its threads stand every few seconds and joins the groups
again from time to time. It runs only while there are sockets.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer

from collab import doorbell
from collab.db import in_db
from collab.protocol import Close
from collab.web.access import sessions_over
from collab.web.frames import heads
from collab.web.inbox_socket import RECOUNT_SECONDS, Inboxes, InboxSocket
from collab.web.presence import RENEW_SECONDS, presence_end, presence_renew
from collab.web.rates import Window
from collab.web.rounds import every, logged
from collab.web.served import Served
from collab.web.socket import Socket

logger = logging.getLogger(__name__)

COMPARE_SECONDS = 3.0
SESSION_SECONDS = 30.0
REJOIN_SECONDS = 600.0

SOCKETS_A_PERSON = 30
COMMANDS_A_MINUTE = 100


class Hub:
    """What one process knows of its sockets. It belongs to one event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._layer: Any = get_channel_layer()
        self._channel = ""
        self._sockets: set[Socket | InboxSocket] = set()
        self.inboxes = Inboxes()
        self._served: dict[UUID, Served] = {}
        self._windows: dict[UUID, Window] = {}
        self._groups = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def opened(self, socket: Socket | InboxSocket) -> bool:
        """Count a socket that was accepted; False: its person has too many of its kind, so close it."""
        known = Counter((type(one), one.person) for one in self._sockets)
        if known[type(socket), socket.person] >= SOCKETS_A_PERSON:
            return False
        self._sockets.add(socket)
        async with self._starting:
            if not self._tasks:
                await self._start()
        return True

    async def joined(self, socket: Socket, workspace_id: UUID) -> Served:
        """Add a socket to the thread it reads, from its position on. Await :meth:`Served.catch_up` next."""
        thread_id = socket.thread_id
        served = self._served.get(thread_id)
        if served is None:
            served = self._served[thread_id] = Served(thread_id, workspace_id)
            served.sockets.add(socket)
            await self._begin(served)
        else:
            served.sockets.add(socket)
            await served.ready.wait()
            if self._served.get(thread_id) is not served:
                raise ConnectionError("the thread could not be served")
        await in_db(presence_renew, {thread_id: [socket.viewer.person]})
        doorbell.presence_changed(thread_id)
        return served

    async def _begin(self, served: Served) -> None:
        try:
            await logged(self._group(served.thread_id))
            await served.begin()
        except Exception:
            del self._served[served.thread_id]
            raise
        finally:
            served.ready.set()

    async def closed(self, socket: Socket | InboxSocket) -> None:
        """Forget a socket; the last one of a thread leaves its group, the last one of all stops the hub."""
        socket.open = False
        self._sockets.discard(socket)
        if isinstance(socket, InboxSocket):
            self.inboxes.left(socket)
        else:
            await self._left_thread(socket)
        if not self._sockets:
            await self._stop()

    async def _left_thread(self, socket: Socket) -> None:
        served = self._served.get(socket.thread_id)
        if served is not None:
            served.sockets.discard(socket)
            if not served.sockets:
                del self._served[socket.thread_id]
                await logged(self._group(socket.thread_id))
            if socket.viewer.person not in served.people:
                await logged(in_db(presence_end, socket.thread_id, socket.viewer.person))
                doorbell.presence_changed(socket.thread_id)

    def command_wait(self, person: UUID) -> float:
        """Count a command of a person and return 0, or the seconds to wait when there were too many."""
        window = self._windows.setdefault(person, Window(COMMANDS_A_MINUTE, 60.0))
        return window.wait(time.monotonic())

    async def _start(self) -> None:
        doorbell.attach(self.loop)
        await logged(self._enter())
        for work in (
            self._listen(),
            every(COMPARE_SECONDS, self._compare),
            every(RENEW_SECONDS, self._renew),
            every(SESSION_SECONDS, self._check),
            every(RECOUNT_SECONDS, self._recount),
            every(REJOIN_SECONDS, self._rejoin),
        ):
            self._tasks.add(self.loop.create_task(work))

    async def _stop(self) -> None:
        async with self._starting:
            if self._sockets:
                return
            tasks, self._tasks = self._tasks, set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._channel:
                await logged(self._layer.group_discard(doorbell.HUBS, self._channel))
            self._channel = ""
            self._windows.clear()

    async def _enter(self) -> None:
        """Take a channel of the layer. While the layer is away, comparing heads has to do."""
        channel = await self._layer.new_channel("hub")
        await self._layer.group_add(doorbell.HUBS, channel)
        self._channel = channel
        for thread_id in list(self._served):
            await self._group(thread_id)

    async def _group(self, thread_id: UUID) -> None:
        """Be in a thread's group exactly while it is served, however joins and leaves interleave."""
        async with self._groups:
            if not self._channel:
                return
            change = self._layer.group_add if thread_id in self._served else self._layer.group_discard
            await change(doorbell.thread_group(thread_id), self._channel)

    async def _listen(self) -> None:
        while True:
            try:
                if not self._channel:
                    await self._enter()
                message = await self._layer.receive(self._channel)
            except Exception:
                logger.exception("The channel layer is away")
                self._channel = ""
                await asyncio.sleep(COMPARE_SECONDS)
                continue
            # Each thread's work goes on by itself: a slow database holds up no other thread's live text.
            await self._spawn(message, wait=message["type"] == "live")

    async def _spawn(self, message: dict[str, Any], *, wait: bool) -> None:
        task = self.loop.create_task(self._take(message))
        if wait:
            await task
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, message: dict[str, Any]) -> None:
        await logged(self._heard(message))

    async def _heard(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "recheck":
                scope = UUID(message["scope"])
                self.inboxes.recount(UUID(account) for account in message["accounts"])
                await self._recheck([served for served in self._serving() if served.workspace_id == scope])
            case "inbox":
                self.inboxes.rung(UUID(message["workspace"]))
            case "session_over":
                for socket in [one for one in self._sockets if one.sign_in.digest == message["session"]]:
                    await socket.close(Close.NOT_SIGNED_IN)
            case "signed_out":
                await self._end_sessions([one for one in self._sockets if one.person.hex == message["account"]])
            case kind if "thread" in message and (served := self._served.get(UUID(message["thread"]))) is not None:
                await self._rung(served, kind, message)

    async def _rung(self, served: Served, kind: str, message: dict[str, Any]) -> None:
        await served.ready.wait()
        match kind:
            case "ring":
                await served.ring(message["seq"])
            case "live":
                await served.live(message["frame"])
            case "document":
                await served.documents_changed([UUID(message["document"])])
            case "editing":
                await served.editing(message["said"])
            case "presence":
                if missing := await served.presence():
                    # Another process said that they left, but they are still here.
                    await in_db(presence_renew, {served.thread_id: missing})
                    doorbell.presence_changed(served.thread_id)

    def _serving(self) -> list[Served]:
        return [served for served in self._served.values() if served.ready.is_set()]

    async def _compare(self) -> None:
        found = await in_db(heads, [served.thread_id for served in self._serving()])
        for served in self._serving():
            if served.thread_id in found:
                await served.compare(found[served.thread_id])

    async def _renew(self) -> None:
        await in_db(presence_renew, {served.thread_id: served.people for served in self._serving()})
        for served in self._serving():
            await served.presence()

    async def _check(self) -> None:
        await self._end_sessions(list(self._sockets))
        await self._recheck(self._serving())

    async def _recount(self) -> None:
        self.inboxes.recount()

    async def _recheck(self, threads: list[Served]) -> None:
        for served in threads:
            await served.recheck()

    async def _end_sessions(self, sockets: list[Socket | InboxSocket]) -> None:
        over = await in_db(sessions_over, [socket.sign_in for socket in sockets])
        for socket in sockets:
            if socket.sign_in.key in over:
                await socket.close(Close.NOT_SIGNED_IN)

    async def _rejoin(self) -> None:
        if self._channel:
            await self._layer.group_add(doorbell.HUBS, self._channel)
        for thread_id in list(self._served):
            await self._group(thread_id)


class _State:
    hub: Hub | None = None


def hub() -> Hub:
    """Return the hub of this process's event loop."""
    if _State.hub is None or _State.hub.loop is not asyncio.get_running_loop():
        _State.hub = Hub()
    return _State.hub
