"""One thread that this process serves: its sockets, and what all of them were sent (DESIGN 9)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

from collab import doorbell, reads
from collab.db import in_db
from collab.protocol import Close
from collab.web.access import Viewer, admitted
from collab.web.editing import viewers_of
from collab.web.frames import (
    Head,
    Outgoing,
    document_frames,
    dumps,
    epoch_of,
    event_frames,
    heads,
    proposal_frame,
    standing_items,
)
from collab.web.presence import people_here
from collab.web.socket import Socket

SNAPSHOT_SECONDS = 1.0
"""Another process is asked for a snapshot at most once in this time."""


class Served:
    """A thread with open sockets. What is sent to all of them is sent under one lock, so it has one order."""

    def __init__(self, thread_id: UUID, workspace_id: UUID) -> None:
        self.thread_id = thread_id
        self.workspace_id = workspace_id
        self.sockets: set[Socket] = set()
        self.ready = asyncio.Event()
        self._lock = asyncio.Lock()
        self._editing = asyncio.Lock()
        self._told_of: dict[str, set[Socket]] = {}
        """By who writes in a document: the sockets that were told so."""
        self._head = Head(0, 0, {})
        self._wanted = 0
        self._here: list[dict[str, Any]] = []
        self._asked_at = 0.0

    @property
    def people(self) -> set[UUID]:
        """Who has a socket to the thread in this process."""
        return {socket.viewer.person for socket in self.sockets}

    async def begin(self) -> None:
        """Start from where the thread stands; the caller has joined its group, so later rings are heard."""
        self._head = (await in_db(heads, [self.thread_id]))[self.thread_id]

    async def catch_up(self, socket: Socket) -> None:
        """Bring a socket from its position to where the others are, then let it go on with them.

        It ends with the items that stand, so that what is in no event (documents changed elsewhere) is current too.
        """
        while socket.open:
            await socket.room()
            viewer = socket.viewer
            batch = await in_db(event_frames, self.thread_id, socket.position, [viewer])
            if batch.epoch > self._head.epoch:
                await self.recheck(batch.epoch)
            elif batch.frames:
                await self._replay(socket, viewer, batch.frames)
            elif await self._let_go_on(socket):
                await self.snapshot_for(socket)
                return

    async def ring(self, seq: int) -> None:
        """Send everyone the events up to this seq, if they have not been sent."""
        self._wanted = max(self._wanted, seq)
        async with self._lock:
            while self._wanted > self._head.seq:
                batch = await in_db(event_frames, self.thread_id, self._head.seq, self._viewers())
                if await self._recheck_if_changed(batch.epoch):
                    continue
                if not batch.frames:
                    self._wanted = self._head.seq
                for frame in batch.frames:
                    self._head = replace(self._head, seq=frame.seq or 0)
                    await self._send(frame)

    async def compare(self, head: Head) -> None:
        """Make up for rings that were lost, given where the thread stands."""
        await self.ring(head.seq)
        await self.recheck(head.epoch)
        known = self._head.documents
        if changed := [id for id, version in head.documents.items() if known.get(id, 0) < version]:
            await self.documents_changed(changed)

    async def documents_changed(self, documents: list[UUID]) -> None:
        """Tell everyone that documents the thread follows changed, here or elsewhere."""
        async with self._lock:
            while True:
                head = (await in_db(heads, [self.thread_id]))[self.thread_id]
                batch = await in_db(document_frames, self.thread_id, documents, self._viewers())
                if not await self._recheck_if_changed(batch.epoch):
                    break
            self._head = replace(self._head, documents=head.documents)
            for frame in batch.frames:
                await self._send(frame)

    async def live(self, frame: dict[str, Any]) -> None:
        """Send everyone live text; who lacks what comes before it gets a snapshot."""
        text = dumps({"type": "live", **frame})
        lacking = [socket for socket in self._reading() if await socket.live(frame, text)]
        for socket in lacking:
            await self.snapshot_for(socket)

    async def snapshot_for(self, socket: Socket) -> None:
        """Send a socket the running turn's whole text, from here or by asking the process that runs it."""
        now = asyncio.get_running_loop().time()
        if (frame := reads.snapshot(self.thread_id)) is not None:
            await socket.live(frame, dumps({"type": "live", **frame}))
        elif now - self._asked_at >= SNAPSHOT_SECONDS:
            self._asked_at = now
            doorbell.snapshot_wanted(self.thread_id)

    async def recheck(self, epoch: int | None = None) -> None:
        """Look again at what everyone may do, unless that was done at this grants epoch; close the sockets of who may
        not see the thread any more."""
        async with self._lock:
            if epoch is None:
                await self._recheck()
            else:
                await self._recheck_if_changed(epoch)

    async def editing(self, said: dict[str, Any]) -> None:
        """Tell the others who writes in a document, if they may view it; and who was told before, that they no longer
        do. One after another, so that who stops is not said to write by what they said before."""
        person, document = said["person"]["id"], said["document"]
        async with self._editing:
            seen = await in_db(viewers_of, UUID(document), self._viewers()) if document else set()
            before, told = self._told_of.pop(person, set()), set()
            for socket in [one for one in self._reading() if str(one.person) != person]:
                if socket.viewer in seen:
                    told.add(socket)
                    await socket.frame({"type": "editing", **said})
                elif socket in before:
                    await socket.frame({"type": "editing", **said, "document": None})
            if told:
                self._told_of[person] = told

    async def presence(self) -> set[UUID]:
        """Tell everyone who is here, if that changed; return those of this process who are missing from it."""
        async with self._lock:
            here = await in_db(people_here, self.thread_id)
            if here != self._here:
                self._here = here
                for socket in self._reading():
                    await socket.frame({"type": "presence", "here": here})
        return self.people - {UUID(person["id"]) for person in here}

    def _reading(self) -> list[Socket]:
        return [socket for socket in self.sockets if socket.caught_up]

    def _viewers(self) -> set[Viewer]:
        return {socket.viewer for socket in self._reading()}

    async def _send(self, frame: Outgoing) -> None:
        for socket in self._reading():
            if frame.seq is None or socket.position < frame.seq:
                await socket.text(frame.texts[socket.viewer], frame.seq)

    async def _replay(self, socket: Socket, viewer: Viewer, frames: list[Outgoing]) -> None:
        for frame in frames:
            await socket.room()
            if socket.viewer != viewer:
                return  # what they may see changed while they read: the rest is built again
            await socket.text(frame.texts[viewer], frame.seq)

    async def _let_go_on(self, socket: Socket) -> bool:
        items = await in_db(standing_items, self.thread_id, socket.viewer.actor)
        async with self._lock:
            # Under the lock nothing is on its way to the others, so nothing falls between.
            if socket.position < self._head.seq or await self._recheck_if_changed(
                await in_db(epoch_of, self.thread_id)
            ):
                return False
            socket.caught_up = True
            await socket.frame({"type": "caught_up", "seq": socket.position, "items": items})
            await socket.frame({"type": "presence", "here": self._here})
            return True

    async def _recheck_if_changed(self, epoch: int) -> bool:
        """Look again at what everyone may do if grants changed; the caller then reads again what it was to send."""
        if epoch <= self._head.epoch:
            return False
        await self._recheck()
        self._head = replace(self._head, epoch=epoch)
        return True

    async def _recheck(self) -> None:
        epoch = await in_db(epoch_of, self.thread_id)
        found = await in_db(admitted, self.thread_id, self.people)
        for socket in list(self.sockets):
            admission = found.get(socket.viewer.person)
            if admission is None:
                await socket.close(Close.NOT_FOUND)
                self.sockets.discard(socket)
            elif admission != socket.admission:
                socket.admission = admission
                await socket.frame({"type": "rights", "viewer": admission.json})
        # Who may accept a proposal, and who is named on its card, follows from grants. Where these changed once more,
        # everyone is looked at again anyway.
        proposals = await in_db(proposal_frame, self.thread_id, self._viewers())
        if proposals is not None and await in_db(epoch_of, self.thread_id) == epoch:
            await self._send(proposals)
