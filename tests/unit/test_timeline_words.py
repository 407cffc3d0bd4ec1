"""What the timeline says of held messages, consent, sources and timers."""

from __future__ import annotations

from typing import Any, get_args
from uuid import UUID

import pytest

from collab import events
from collab.web import timeline
from collab.web.timeline_words import EXCERPT_CHARS, SAYS, excerpt, short

A, B, C = (UUID(int=number) for number in (1, 2, 3))
MESSAGE = {"seq": 12, "text": "hm", "author": {"kind": "person", "name": "Ana"}}
ACTION = {"number": 1, "for": {"name": "Ana"}, "steps": [{"label": "Reserve table"}, {"label": "Text group"}]}
TIMER = {"number": 2, "local": "2027-06-12T20:30", "zone": "Europe/Vienna", "text": "Call \u202ethe hall."}
MOOT = {**TIMER, "repeats": "weekly", "reason": "cinema: F1 is off."}
ITEMS: dict[tuple[str, UUID], dict[str, Any]] = {
    ("message", A): MESSAGE,
    ("action", A): {**ACTION, "reason": ""},
    ("action", B): {**ACTION, "reason": "Too late."},
    ("timer", A): MOOT,
    ("timer", B): {**TIMER, "repeats": "never"},
    ("call", A): {"label": "Reserve table"},
}

SAID = {
    "held": (events.MessageHeld(A), "Message 12 is held: Ana is asked what it means"),
    "held, not shown": (events.MessageHeld(C), "A message is held: its author is asked what it means"),
    "adds": (events.MessageReleased(A, "adds"), "said that message 12 adds to what is done"),
    "revises": (events.MessageReleased(A, "revises"), "said that message 12 changes what is done"),
    "independent": (events.MessageReleased(A, "independent"), "let message 12 wait for a turn of its own"),
    "repeat": (
        events.CallRepeatAllowed(A),
        "allowed reserve table again, though nobody knows whether it was done",
    ),
    "asked": (events.ActionAsked(A, 1, "0f"), "Asked Ana to approve A1: reserve table, then text group"),
    "asked, not shown": (events.ActionAsked(C, 3, "0f"), "Asked for consent: A3"),
    "approved": (events.ActionResolved(A, "approved"), "approved A1"),
    "declined": (events.ActionResolved(A, "declined"), "declined A1"),
    "declined, and why": (events.ActionResolved(B, "declined"), "declined A1: “Too late.”"),
    "expired": (events.ActionResolved(B, "expired"), "A1 expired. Too late."),
    "superseded": (events.ActionResolved(B, "superseded"), "A1 was superseded. Too late."),
    "failed": (events.ActionResolved(B, "failed"), "A1 could not start. Too late."),
    "resolved, not shown": (events.ActionResolved(C, "approved"), "approved an action"),
    "delivered": (events.DeliveryAdmitted(C, A), "delivered message 12"),
    "delivered nothing": (events.DeliveryAdmitted(C), "delivered something that asks for nothing"),
    "gone": (events.EffectGone(A, C), "reported that what reserve table did is gone"),
    "timer": (
        events.TimerSet(B),
        "set timer 2 for 2027-06-12 20:30 (Europe/Vienna): “Call \\u202ethe hall.”",
    ),
    "timer again": (
        events.TimerSet(A),
        "set timer 2 for 2027-06-12 20:30 (Europe/Vienna), every week: “Call \\u202ethe hall.”",
    ),
    "fired": (events.TimerFired(A, A, 1), "Timer 2 fired: message 12"),
    "cancelled": (events.TimerSuperseded(A, "cancelled"), "cancelled timer 2"),
    "moot": (events.TimerSuperseded(A, "superseded"), "Timer 2 was superseded: cinema: F1 is off."),
    "moot, not shown": (events.TimerSuperseded(C, "superseded"), "A timer was superseded"),
}


@pytest.mark.parametrize("name", SAID)
def test_an_event_is_told_in_a_sentence(name: str) -> None:
    fact, says = SAID[name]
    assert SAYS[fact.type](fact, ITEMS)[2] == says


def test_the_timeline_knows_every_type_of_event() -> None:
    assert set(timeline.SAYS) == {fact.type for fact in get_args(events.Fact)}


def test_what_a_source_says_hides_nothing_and_what_a_person_says_stays_as_it_is() -> None:
    text = "to\u202eday"
    assert excerpt({**MESSAGE, "text": text}) == f"“{text}”"
    assert excerpt({**MESSAGE, "text": text, "author": {"kind": "source", "name": "restaurant"}}) == "“to\\u202eday”"


def test_a_long_text_is_shortened_to_one_line() -> None:
    assert short("one\n two") == "one two"
    assert len(short("word " * 100)) <= EXCERPT_CHARS + 1
