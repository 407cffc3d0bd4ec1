"""One stream: a client that follows a thread, from a seq of its log on, for as long as it may."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

from agents.clients import reads
from agents.clients.rest.bell import Ear, bell
from agents.clients.rest.cursors import cursor
from agents.clients.tokens import Bearer, standing
from agents.errors import Unauthenticated
from collab import doorbell, selectors
from collab import reads as items
from collab.db import in_db
from collab.web.frames import BATCH_EVENTS, frames_read, standing_items
from permissions.errors import NotFound

MOST_BYTES = 2 * 1024 * 1024
MOST_SECONDS = 900.0
"""After so much a stream ends, and its client resumes it."""

QUIET_SECONDS = 15.0
"""How long nothing is sent before a comment shows that the stream is there."""

LOOKS_SECONDS = 3.0
"""How long ago rights were looked at, at the most, when text that streams is sent."""

SNAPSHOT_SECONDS = 1.0
"""The running turn's whole text is asked for at most once in this time."""


class Lost(Exception):
    """The client may not follow the thread any more."""

    def __init__(self, code: str, because: str) -> None:
        super().__init__(because)
        self.code = code
        self.because = because


class Following:
    """What is sent of a thread to one client."""

    def __init__(self, bearer: Bearer, thread: UUID, position: int) -> None:
        self._bearer = bearer
        self._thread = thread
        self._position = position
        self._ear: Ear | None = None
        self._gone = False
        self._turn: str | None = None
        self._length = 0
        self._asked_at = self._checked_at = float("-inf")

    def end(self) -> None:
        """Send nothing more: the client has gone."""
        self._gone = True
        if self._ear is not None:
            self._ear.hear(over=True)

    async def texts(self) -> AsyncIterator[str]:
        """Yield what is sent, as server-sent events, until the stream has been open or has said as much as it may.

        Raises:
            Lost: the client may not see the thread any more, or its token does not stand.
        """
        ends, room = self._now() + MOST_SECONDS, MOST_BYTES
        async with bell().hearing(self._thread) as ear:
            self._ear = ear
            ear.over = ear.over or self._gone
            async for text in self._sent(ear):
                yield text
                room -= len(text.encode())
                if room <= 0 or self._now() >= ends:
                    return

    async def _sent(self, ear: Ear) -> AsyncIterator[str]:
        yield "retry: 1000\n\n"
        yield self._event("ready", {"seq": self._position})
        caught_up = False
        while not ear.over:
            if ear.grown or ear.check or self._now() - self._checked_at >= LOOKS_SECONDS:
                ear.grown = ear.check = False
                async for text in self._events():
                    yield text
            if not caught_up:
                caught_up = True
                yield self._event("caught_up", {"seq": self._position, "items": await in_db(self._standing)})
                doorbell.snapshot_wanted(self._thread)
            async for text in self._meanwhile(ear):
                yield text
            if not ear.grown and not ear.over and not await ear.something(QUIET_SECONDS):
                ear.check = True
                yield ": still here\n\n"

    async def _events(self) -> AsyncIterator[str]:
        """What was committed since; reading it looks at the client's rights too."""
        more = True
        while more:
            frames = await in_db(self._next)
            more = len(frames) == BATCH_EVENTS
            for frame in frames:
                self._position = frame["seq"]
                yield self._event("event", frame)
        self._checked_at = self._now()

    async def _meanwhile(self, ear: Ear) -> AsyncIterator[str]:
        """What is in no log: text that streams, and documents that were changed elsewhere."""
        while ear.live:
            if shown := self._live(ear.live.popleft()):
                yield self._event("live", shown)
        changed, ear.documents = list(ear.documents), set()
        for item in await in_db(self._documents, changed) if changed else ():
            yield self._event("document_changed", {"document": item["id"], "version": item["version"], "items": [item]})

    def _live(self, frame: dict[str, Any]) -> dict[str, Any] | None:
        """Return live text for who has what comes before it; who has not is sent all of it shortly."""
        known = self._length if frame["turn"] == self._turn else 0
        if frame["offset"] > known:
            if self._now() - self._asked_at >= SNAPSHOT_SECONDS:
                self._asked_at = self._now()
                doorbell.snapshot_wanted(self._thread)
            return None
        self._turn, self._length = frame["turn"], frame["offset"] + len(frame["text"])
        return {"turn": frame["turn"], "offset": frame["offset"], "text": frame["text"]}

    def _next(self) -> list[dict[str, Any]]:
        """Read on; the client's rights are checked after what it is to be sent was read, so that nothing which was
        committed after it lost them is sent."""
        try:
            thread = selectors.thread_for(self._bearer.actor, self._thread)
            frames = frames_read(self._bearer.actor, thread, after=self._position)
            self._require_still()
        except NotFound as error:
            raise Lost(error.code, error.because) from error
        return [reads.plain(frame) for frame in frames]

    def _standing(self) -> list[dict[str, Any]]:
        found = standing_items(self._thread, self._bearer.actor)
        self._require_still()
        return [reads.plain(item) for item in found]

    def _documents(self, ids: Sequence[UUID]) -> list[dict[str, Any]]:
        found = items.build(self._bearer.actor, [("document", id) for id in ids])
        self._require_still()
        return [reads.plain(item) for item in found]

    def _require_still(self) -> None:
        if self._bearer.token_id not in standing([self._bearer.token_id]):
            gone = Unauthenticated("This token is not good any more.")
            raise Lost(gone.code, gone.because)
        try:
            selectors.thread_for(self._bearer.actor, self._thread)
        except NotFound as error:
            raise Lost(error.code, error.because) from error

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _event(self, name: str, data: dict[str, Any]) -> str:
        said = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return f"event: {name}\nid: {cursor(self._thread, self._position)}\ndata: {said}\n\n"
