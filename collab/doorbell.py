"""The doorbell: tells every process that something happened, and carries live text (DESIGN 9).

The channel layer is a doorbell, never the data path: a ring says "this thread reached seq N" and whoever hears it
reads the log. A lost, doubled or late ring loses nothing; a lost live frame is healed by a snapshot.

Every send keeps its order within a process. It never raises and never blocks a transaction: a layer that is down is
the same as a lost ring.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

from collab import reads

logger = logging.getLogger(__name__)

HUBS = "hubs"
"""The group of every process that serves sockets."""

RUNNERS = "runners"
"""The group of every process that works turns."""

DOCUMENTS = "documents"
"""The group of every process that tells clients of changed documents."""

AWAY_SECONDS = 3.0
"""How long a process waits before it asks again for a channel of a layer that is away."""

Message = dict[str, Any]


def thread_group(thread_id: UUID) -> str:
    """Return the group of the processes that serve a thread: a fixed prefix and the id, never a person's text."""
    return f"thread.{thread_id.hex}"


class _Outbox:
    """The sends of one event loop, one after another in the order they were asked for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.waiting: deque[tuple[str, Message]] = deque()
        self.task: asyncio.Task[None] | None = None

    def put(self, group: str, message: Message) -> None:
        self.waiting.append((group, message))
        if self.task is None or self.task.done():
            self.task = self.loop.create_task(self._drain())

    async def _drain(self) -> None:
        while self.waiting:
            await _send(*self.waiting.popleft())


class _State:
    outbox: _Outbox | None = None


def attach(loop: asyncio.AbstractEventLoop) -> None:
    """Use the server process's event loop for every send of this process, from whichever thread."""
    if _State.outbox is None or _State.outbox.loop is not loop:
        _State.outbox = _Outbox(loop)


def ring_on_commit(thread_id: UUID, seq: int) -> None:
    """Once the transaction commits, tell every process that serves the thread how far its log reaches."""
    message = {"type": "ring", "thread": thread_id.hex, "seq": seq}
    _post_on_commit(thread_group(thread_id), message)


def document_changed_on_commit(document_id: UUID, thread_ids: Iterable[UUID]) -> None:
    """Once the transaction commits, tell the viewers of the threads that follow a document that it changed, and the
    clients that subscribed to it."""
    _post_on_commit(DOCUMENTS, {"type": "document", "document": document_id.hex})
    for thread_id in thread_ids:
        message = {"type": "document", "thread": thread_id.hex, "document": document_id.hex}
        _post_on_commit(thread_group(thread_id), message)


def live(thread_id: UUID, frame: Message) -> None:
    """Send text that a running turn adds to everyone who watches the thread. May be called from any thread.

    Args:
        frame: ``turn``, ``offset`` (characters), ``text``, ``block``, ``html`` (docs/protocol.md, live). The caller
            sends at most one each 50 ms, the first one at once.
    """
    _post(thread_group(thread_id), {"type": "live", "thread": thread_id.hex, "frame": frame})


def editing(thread_id: UUID, said: Message) -> None:
    """Tell everyone who watches the thread who writes in a document; it is lost where nobody hears it.

    Args:
        said: ``person`` and ``document`` (docs/protocol.md, editing).
    """
    _post(thread_group(thread_id), {"type": "editing", "thread": thread_id.hex, "said": said})


def presence_changed(thread_id: UUID) -> None:
    """Tell every process that serves the thread to look again at who is here."""
    _post(thread_group(thread_id), {"type": "presence", "thread": thread_id.hex})


def grants_changed(scope_label: str, scope_id: UUID, accounts: Iterable[UUID]) -> None:
    """Tell every process that grants changed, so that open sockets are checked at once (DESIGN 5, Live connections).

    Args:
        scope_label: the model of the scope, like ``collab.workspace``.
        scope_id: its id; the threads of this workspace are checked.
        accounts: whose grants changed. An account no socket belongs to (an agent) changes nobody's view.
    """
    who = [account.hex for account in accounts]
    _post(HUBS, {"type": "recheck", "scope": scope_id.hex, "label": scope_label, "accounts": who})


def inbox_changed_on_commit(workspace_id: UUID) -> None:
    """Once the transaction commits, tell every process that something may wait differently in a workspace."""
    _post_on_commit(HUBS, {"type": "inbox", "workspace": workspace_id.hex})


def session_over(digest: str) -> None:
    """Tell every process to close the sockets of a session that ends.

    Args:
        digest: the SHA-256 of its key: the key itself signs in whoever holds it, so it travels nowhere.
    """
    _post(HUBS, {"type": "session_over", "session": digest})


def person_signed_out(user_id: UUID) -> None:
    """Tell every process to look now which sessions of a person are over, and to close their sockets."""
    _post(HUBS, {"type": "signed_out", "account": user_id.hex})


def snapshot_wanted(thread_id: UUID) -> None:
    """Ask for the running turn's whole text: the process that runs it answers with a live frame of offset 0."""
    if (frame := reads.snapshot(thread_id)) is not None:
        live(thread_id, frame)
    else:
        _post(RUNNERS, {"type": "snapshot_wanted", "thread": thread_id.hex})


def stop_turn(turn_id: UUID) -> None:
    """Tell the process that works a turn that someone asked to stop it."""
    _post(RUNNERS, {"type": "stop", "turn": turn_id.hex})


async def hear_for_turns(stop: Callable[[UUID], object]) -> None:
    """Hear, until cancelled, what other processes want of the turns that this one works: their text, or their stop.

    Args:
        stop: interrupts the turn, if this process works it.
    """
    layer: Any = get_channel_layer()
    while True:
        try:
            channel = await layer.new_channel("runner")
            await layer.group_add(RUNNERS, channel)
            while True:
                _heard(await layer.receive(channel), stop)
        except Exception:
            logger.exception("The channel layer is away")
            await asyncio.sleep(AWAY_SECONDS)


def _heard(message: Message, stop: Callable[[UUID], object]) -> None:
    match message:
        case {"type": "stop", "turn": turn}:
            stop(UUID(turn))
        case {"type": "snapshot_wanted", "thread": thread}:
            if (frame := reads.snapshot(UUID(thread))) is not None:
                live(UUID(thread), frame)


def _post_on_commit(group: str, message: Message) -> None:
    def post() -> None:
        _post(group, message)

    # Not a `partial`: Django names a hook that failed by its `__qualname__`, which a partial lacks.
    transaction.on_commit(post, robust=True)


def _post(group: str, message: Message) -> None:
    """Send from any thread. Without a server in this process the send is made here, if other processes can hear it."""
    outbox = _State.outbox
    if outbox is not None and not outbox.loop.is_closed():
        try:
            outbox.loop.call_soon_threadsafe(outbox.put, group, message)
        except RuntimeError:  # the loop closed meanwhile: the process is ending
            logger.debug("not sent, the server is stopping: %s", message["type"])
    elif settings.REDIS_URL and not _loop_runs_here():
        async_to_sync(_send)(group, message)


def _loop_runs_here() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _send(group: str, message: Message) -> None:
    layer: Any = get_channel_layer()
    try:
        await layer.group_send(group, message)
    except Exception:
        logger.warning("the doorbell did not ring (%s in %s)", message["type"], group, exc_info=True)
