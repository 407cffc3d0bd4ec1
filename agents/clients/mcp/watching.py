"""Telling clients that documents they subscribed to changed, and ending what a token held open when it ends.

A ring of the doorbell makes it quick, looking again every few seconds makes up for lost ones (DESIGN 9). Whoever is
told still sees the document at that moment, with a token that still stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from channels.layers import get_channel_layer

from agents.clients.mcp.documents import address_of
from agents.clients.tokens import Bearer, standing
from collab.db import AWAY, in_db
from collab.doorbell import DOCUMENTS
from collab.errors import Busy
from collab.models.documents import Document
from permissions.actors import Actor
from permissions.grants import readable

log = structlog.get_logger(__name__)

LOOKS_SECONDS = 3.0
"""How often documents are looked at though no ring was heard, and tokens that hold something open."""

MOST_OF_A_TOKEN, MOST = 200, 5_000
"""Subscriptions of one token, and of one process."""


@dataclass(eq=False, slots=True)
class Subscription:
    """One document that a client watches; ``told`` is the version it was last told of."""

    bearer: Bearer
    document: UUID
    told: int
    tell: Callable[[str], Awaitable[None]]


@dataclass(eq=False, slots=True)
class Open:
    """A request that is being answered."""

    token: UUID
    task: asyncio.Task[Any]


@dataclass(slots=True)
class Watcher:
    """What one process tells and ends."""

    _subscriptions: set[Subscription] = field(default_factory=set)
    _open: set[Open] = field(default_factory=set)
    _rung: asyncio.Event = field(default_factory=asyncio.Event)

    def subscribe(self, subscription: Subscription) -> None:
        """Begin to tell a client of changes.

        Raises:
            Busy: there are too many subscriptions.
        """
        of_token = sum(one.bearer.token_id == subscription.bearer.token_id for one in self._subscriptions)
        if of_token >= MOST_OF_A_TOKEN or len(self._subscriptions) >= MOST:
            raise Busy("Too many subscriptions; end one first.", retry_after=60)
        self._subscriptions.add(subscription)

    def resume(self, subscription: Subscription) -> None:
        """Tell a client on whose token ended, with the one that took its place: also of what changed meanwhile."""
        self._subscriptions.add(subscription)
        self._rung.set()

    def unsubscribe(self, subscription: Subscription) -> None:
        """Tell a client no more; done twice, it does nothing."""
        self._subscriptions.discard(subscription)

    @contextmanager
    def held(self, token: UUID) -> Iterator[None]:
        """Cancel what runs inside, once the token does not stand any more."""
        task = asyncio.current_task()
        if task is None:
            yield
            return
        one = Open(token, task)
        self._open.add(one)
        try:
            yield
        finally:
            self._open.discard(one)

    async def run(self) -> None:
        """Watch until cancelled."""
        listening = asyncio.ensure_future(self._listen())
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._rung.wait(), LOOKS_SECONDS)
                self._rung.clear()
                await self._look()
        finally:
            listening.cancel()

    async def _look(self) -> None:
        try:
            await self._end_what_does_not_stand()
            await self._tell_of_changes()
        except AWAY:
            log.warning("mcp_database_away")
        except Exception:
            log.exception("mcp_watcher_failed")

    async def _end_what_does_not_stand(self) -> None:
        tokens = {one.token for one in self._open} | {one.bearer.token_id for one in self._subscriptions}
        if not tokens:
            return
        # Of those that came meanwhile nothing was asked.
        over = tokens - await in_db(standing, tokens)
        self._subscriptions = {one for one in self._subscriptions if one.bearer.token_id not in over}
        for one in self._open:
            if one.token in over:
                one.task.cancel()

    async def _tell_of_changes(self) -> None:
        if not self._subscriptions:
            return
        versions = await in_db(_versions, {one.document for one in self._subscriptions})
        for one in [one for one in self._subscriptions if versions.get(one.document, 0) > one.told]:
            one.told = versions[one.document]
            if await in_db(_may_see, one.bearer.actor, one.document):
                await self._told(one)

    async def _told(self, one: Subscription) -> None:
        try:
            await asyncio.wait_for(one.tell(address_of(one.document)), LOOKS_SECONDS)
        except Exception:
            log.warning("mcp_client_not_told", token=str(one.bearer.token_id), exc_info=True)
            self.unsubscribe(one)

    async def _listen(self) -> None:
        layer: Any = get_channel_layer()
        while True:
            try:
                channel = await layer.new_channel("mcp")
                await layer.group_add(DOCUMENTS, channel)
                while True:
                    await layer.receive(channel)
                    self._rung.set()
            except Exception:
                log.warning("mcp_channel_layer_away", exc_info=True)
                await asyncio.sleep(LOOKS_SECONDS)


def _versions(documents: set[UUID]) -> dict[UUID, int]:
    return dict(Document.objects.filter(pk__in=documents).values_list("pk", "version"))


def _may_see(actor: Actor, document: UUID) -> bool:
    return readable(Document.objects.filter(pk=document), actor).exists()
