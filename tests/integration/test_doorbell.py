"""The doorbell: rings when the transaction commits, from any thread, and breaks nothing when it cannot (DESIGN 9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.layers import get_channel_layer
from django.db import transaction

from collab import doorbell, reads
from collab.db import close_connections, in_db
from collab.services.messages import message_post
from tests.support.cast import Studio

PATIENCE = 30.0
THREAD = uuid4()

Posted = list[tuple[str, doorbell.Message]]


@pytest.fixture
def posted(monkeypatch: pytest.MonkeyPatch) -> Posted:
    """Everything the doorbell was asked to send."""
    sent: Posted = []
    monkeypatch.setattr(doorbell, "_post", lambda group, message: sent.append((group, message)))
    return sent


@pytest.fixture
async def heard() -> AsyncIterator[Callable[[], Any]]:
    """Listen to one thread's group on this loop: returns the next message."""
    layer: Any = get_channel_layer()
    channel = await layer.new_channel("test")
    await layer.group_add(doorbell.thread_group(THREAD), channel)
    doorbell.attach(asyncio.get_running_loop())
    yield lambda: asyncio.wait_for(layer.receive(channel), PATIENCE)
    await layer.group_discard(doorbell.thread_group(THREAD), channel)
    close_connections()


@pytest.mark.django_db(transaction=True)
def test_nothing_rings_before_the_commit(posted: Posted) -> None:
    with transaction.atomic():
        doorbell.ring_on_commit(THREAD, 7)
        assert posted == []
    assert posted == [(f"thread.{THREAD.hex}", {"type": "ring", "thread": THREAD.hex, "seq": 7})]


@pytest.mark.django_db(transaction=True)
def test_nothing_rings_when_the_transaction_is_rolled_back(posted: Posted) -> None:
    with transaction.atomic():
        doorbell.ring_on_commit(THREAD, 7)
        doorbell.document_changed_on_commit(uuid4(), [THREAD])
        transaction.set_rollback(True)
    assert posted == []


@pytest.mark.django_db(transaction=True)
def test_a_post_rings_its_thread_with_its_seq(studio: Studio, posted: Posted) -> None:
    posted.clear()
    message = message_post(
        actor=studio.ana.actor, thread=studio.thread.id, content="Hello.", client_id="m1", kind="comment"
    )
    rings = [(group, ring["seq"]) for group, ring in posted if ring["type"] == "ring"]
    assert rings == [(doorbell.thread_group(studio.thread.id), message.seq)]


@pytest.mark.django_db(transaction=True)
def test_a_ring_that_cannot_be_sent_does_not_undo_the_post(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(group: str, message: doorbell.Message) -> None:
        raise ConnectionError("no layer")

    monkeypatch.setattr(doorbell, "_post", broken)
    message = message_post(
        actor=studio.ana.actor, thread=studio.thread.id, content="Hello.", client_id="m1", kind="comment"
    )
    studio.thread.refresh_from_db()
    assert studio.thread.head_seq == message.seq


async def test_sends_from_another_thread_arrive_in_order(heard: Callable[[], Any]) -> None:
    def send() -> None:
        for offset in range(50):
            doorbell.live(THREAD, {"offset": offset})

    await in_db(send)
    assert [(await heard())["frame"]["offset"] for _ in range(50)] == list(range(50))


async def test_a_layer_that_is_down_is_logged_and_later_sends_arrive(
    heard: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Down:
        async def group_send(self, group: str, message: doorbell.Message) -> None:
            raise ConnectionError("no redis")

    layers = iter([Down()])
    real: Any = get_channel_layer()
    monkeypatch.setattr(doorbell, "get_channel_layer", lambda: next(layers, real))
    doorbell.live(THREAD, {"offset": 1})
    doorbell.live(THREAD, {"offset": 2})
    assert (await heard())["frame"]["offset"] == 2
    assert "did not ring" in caplog.text


async def test_a_process_that_runs_a_turn_answers_who_wants_its_snapshot(
    heard: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    layer: Any = get_channel_layer()
    here: list[bool] = []

    def snapshot(thread_id: Any) -> dict[str, Any] | None:
        # Asked for first in the process of the viewer, which does not run the turn.
        here.append(thread_id == THREAD)
        return None if len(here) == 1 else {"turn": "t1", "offset": 0}

    monkeypatch.setattr(reads, "SNAPSHOTS", [snapshot])
    runner = asyncio.create_task(doorbell.hear_for_turns(lambda turn: None))
    while not await _joined(layer):
        await asyncio.sleep(0.01)
    doorbell.snapshot_wanted(THREAD)
    message = await heard()
    runner.cancel()
    await asyncio.gather(runner, return_exceptions=True)
    assert (message["type"], message["frame"]) == ("live", {"turn": "t1", "offset": 0})
    assert here == [True, True]


async def test_a_stop_reaches_the_processes_that_work_turns() -> None:
    stopped: list[UUID] = []
    runner = asyncio.create_task(doorbell.hear_for_turns(stopped.append))
    while not await _joined(get_channel_layer()):
        await asyncio.sleep(0.01)
    doorbell.attach(asyncio.get_running_loop())
    doorbell.stop_turn(THREAD)
    while not stopped:
        await asyncio.sleep(0.01)
    runner.cancel()
    await asyncio.gather(runner, return_exceptions=True)
    assert stopped == [THREAD]


async def _joined(layer: Any) -> bool:
    prefix = getattr(layer, "prefix", None)
    group = doorbell.RUNNERS if prefix is None else f"{prefix}__group__{doorbell.RUNNERS}"
    return bool(layer.groups.get(group))


def test_a_process_without_a_server_and_without_redis_rings_nobody(settings: Any) -> None:
    settings.REDIS_URL = ""
    doorbell._State.outbox = None
    doorbell.live(THREAD, {"offset": 1})
    assert doorbell._State.outbox is None


def test_a_group_is_named_by_the_id_alone() -> None:
    assert doorbell.thread_group(THREAD) == f"thread.{THREAD.hex}"
