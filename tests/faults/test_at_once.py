"""Many at the same moment in one process (FAILURES B1, B7): run on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar
from uuid import UUID

import pytest
from django.db import connection

from agents.models.turns import Turn
from agents.turns import runner
from collab.log import verify
from collab.models.threads import Event, Message
from collab.services.messages import message_post
from tests.attacks.evil import EvilModel
from tests.support.cast import Studio
from tests.support.turns import staged, turns, types, until

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")


def at_once(*acts: Callable[[], T]) -> list[T]:
    """Do all of these at the same moment, each in a thread with a connection of its own."""
    ready = Barrier(len(acts))

    def done(act: Callable[[], T]) -> T:
        try:
            ready.wait(timeout=30)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(done, acts))


def test_twenty_tabs_that_post_one_message_at_once_post_one_message(studio: Studio) -> None:
    thread = studio.thread.id
    found = at_once(*[lambda: message_post(actor=studio.ana.actor, thread=thread, content="Hi.", client_id="one")] * 20)
    assert {message.id for message in found} == {Message.objects.get().id}
    assert types(studio.thread).count("message_posted") == 1
    assert verify(studio.thread.id) is None


def test_fifty_posts_at_once_are_each_taken_once_in_order_by_one_turn_at_a_time(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = EvilModel()
    monkeypatch.setattr(runner, "model_for", lambda name: evil.model)

    def ten(who: str, start: int) -> Callable[[], None]:
        def posts() -> None:
            for number in range(start, start + 10):
                someone = getattr(studio, who)
                message_post(actor=someone.actor, thread=studio.thread.id, content="Hi.", client_id=str(number))

        return posts

    with staged() as stage:
        at_once(*(ten(("ana", "ben")[number % 2], 10 * number) for number in range(5)))
        until(lambda: not Message.objects.filter(waits=True).exists())
        stage.settles()
    posted = _ids(turn_id=None)
    assert len(posted) == 50
    taken = [id for turn in turns(studio.thread) for id in _ids(taken_by=turn.id)]
    assert taken == posted
    for turn in turns(studio.thread):
        authors = {message.author for message in Message.objects.filter(taken_by=turn.id)}
        assert authors == {turn.on_behalf_of}
    edges = Event.objects.filter(type__in=["turn_started", "turn_ended"]).order_by("seq").values_list("type", flat=True)
    assert list(edges) == ["turn_started", "turn_ended"] * Turn.objects.count()
    assert verify(studio.thread.id) is None


def _ids(**which: object) -> list[UUID]:
    return list(Message.objects.filter(**which).order_by("seq").values_list("id", flat=True))
