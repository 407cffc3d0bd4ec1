"""Timers and deliveries in a process that works turns: nobody has to look (DESIGN 8)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.models.sources import Delivery
from agents.models.timers import Timer
from agents.sources.acting import delivered
from agents.timers import services
from collab.models.threads import Message
from permissions.clock import AccordNow
from tests.support.deliveries import source
from tests.support.senders import sets, stored
from tests.support.turns import turns, until

pytestmark = pytest.mark.django_db(transaction=True)


def has_fired(timer: Timer) -> bool:
    return Timer.objects.get(pk=timer.pk).state == Timer.State.FIRED


def test_a_timer_set_here_fires_at_its_moment_and_its_turn_answers(studio, puppet, stage):
    timer = sets(studio.ana, studio.thread, "What is the budget?", does="asks")
    Timer.objects.filter(pk=timer.pk).update(due_at=AccordNow() + timedelta(seconds=0.3))
    for wake in services.wakes:
        wake()
    asked = puppet.is_asked()
    assert '<event from="Timer" verified="own clock">What is the budget?</event>' in asked.words
    assert "you work for no one" in asked.words
    puppet.says("It is 900.")
    until(lambda: [turn.status for turn in turns(studio.thread)] == ["completed"])
    assert has_fired(timer)


def test_a_timer_that_is_due_as_a_process_begins_fires_then(studio, puppet, clock, request):
    timer = sets(studio.ana, studio.thread)
    Timer.objects.filter(pk=timer.pk).update(due_at=AccordNow() - timedelta(hours=2))
    request.getfixturevalue("stage")
    until(lambda: has_fired(timer))
    assert Message.objects.get(thread=studio.thread).content.endswith("ago.)")


def test_a_delivery_that_nobody_acted_on_is_acted_on_as_a_process_begins(studio, puppet, request):
    delivery = stored(source(studio, label="restaurant", default_thread_id=studio.thread.id), asks=True)
    Delivery.objects.filter(pk=delivery.pk).update(received_at=AccordNow() - timedelta(seconds=6))
    request.getfixturevalue("stage")
    asked = puppet.is_asked()
    assert "A table for 4 is free.</event> (not written by a person)" in asked.words
    puppet.says("Ana is asked.")
    until(lambda: [turn.trigger for turn in turns(studio.thread)] == ["delivery"])


def test_a_delivery_wakes_the_thread_it_asks(studio, puppet, stage):
    delivery = stored(source(studio, default_thread_id=studio.thread.id), asks=True)
    delivered([delivery.id])
    puppet.is_asked()
    puppet.says("Noted.")
    until(lambda: [turn.status for turn in turns(studio.thread)] == ["completed"])
