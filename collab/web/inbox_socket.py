"""The inboxes that this process shows: their sockets, and one count a person that is told to all of them (DESIGN 9).

A ring says that something may wait differently in a workspace, or that someone's grants changed; what waits is counted
in the database. A lost ring is made up for by counting everyone's now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from collab import inbox
from collab.db import in_db
from collab.waiting import workspaces_seen
from collab.web.frames import dumps
from collab.web.socket import Connection
from permissions.actors import Person

logger = logging.getLogger(__name__)

APART_SECONDS = 0.5
"""One person's are counted at most once in this time; after a quiet time at once."""

RECOUNT_SECONDS = 15.0
"""Everyone's are counted again after this time, whatever was heard."""


class InboxSocket(Connection):
    """A connection that tells one person how much waits for them."""


class _Reader:
    """One person with open sockets: what they were told, and whether it is to be counted again."""

    def __init__(self) -> None:
        self.sockets: set[InboxSocket] = set()
        self.workspaces: frozenset[UUID] = frozenset()
        self.told = ""
        self.due = False
        self.counted_at = 0.0
        self.task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether it is about to be counted, or is counted at this moment."""
        return self.task is not None and not self.task.done()


class Inboxes:
    """Everyone whose inbox this process shows. It belongs to the hub, which hears for it."""

    def __init__(self) -> None:
        self._readers: dict[UUID, _Reader] = {}
        # One after another, so that however many people are told, most of the database's threads stay free.
        self._counting = asyncio.Lock()

    async def joined(self, socket: InboxSocket) -> None:
        """Add a socket, and tell it how much waits."""
        reader = self._readers.setdefault(socket.person, _Reader())
        reader.sockets.add(socket)
        if reader.told:
            await socket.text(reader.told)
        self._stir(socket.person)

    def left(self, socket: InboxSocket) -> None:
        """Forget a socket; with a person's last one, the person."""
        reader = self._readers.get(socket.person)
        if reader is None:
            return
        reader.sockets.discard(socket)
        if not reader.sockets:
            del self._readers[socket.person]
            if reader.task is not None:
                reader.task.cancel()

    def rung(self, workspace: UUID) -> None:
        """Count again for those for whom something may wait in a workspace."""
        for person, reader in self._readers.items():
            # One who is counted at this moment may be let in there by what is read.
            if workspace in reader.workspaces or reader.busy:
                self._stir(person)

    def recount(self, people: Iterable[UUID] | None = None) -> None:
        """Count again for these people, or for everyone."""
        for person in list(self._readers) if people is None else people:
            if person in self._readers:
                self._stir(person)

    def _stir(self, person: UUID) -> None:
        reader = self._readers[person]
        reader.due = True
        if not reader.busy:
            reader.task = asyncio.ensure_future(self._tell(person, reader))

    async def _tell(self, person: UUID, reader: _Reader) -> None:
        clock = asyncio.get_running_loop()
        while reader.due:
            await asyncio.sleep(max(0.0, reader.counted_at + APART_SECONDS - clock.time()))
            reader.due, reader.counted_at = False, clock.time()
            try:
                await self._count(person, reader)
            except Exception:
                logger.exception("An inbox could not be counted")

    async def _count(self, person: UUID, reader: _Reader) -> None:
        async with self._counting:
            frame, reader.workspaces = await in_db(_counted, person)
        text = dumps(frame)
        if text != reader.told:
            reader.told = text
            for socket in list(reader.sockets):
                await socket.text(text)


def inbox_frame(count: inbox.Count, for_others: int) -> dict[str, Any]:
    """Return the frame that tells a person how much waits for them, and how much of theirs for others."""
    threads = {str(thread): number for thread, number in sorted(count.threads.items())}
    return {"type": "inbox", "count": count.total, "threads": threads, "for_others": for_others}


def _counted(person: UUID) -> tuple[dict[str, Any], frozenset[UUID]]:
    reader = Person(person)
    workspaces = frozenset(workspaces_seen(reader))
    return inbox_frame(inbox.counted(reader), inbox.for_others(reader)), workspaces
