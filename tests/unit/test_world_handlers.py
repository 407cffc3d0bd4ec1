"""What the handlers of the restaurant and the cinema make of what is delivered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents import world
from agents.sources.handlers import read_body
from agents.sources.handling import Read, Unreadable

EXAMPLES = Path(str(world.__file__)).parent / "examples"
OFFER = {"type": "table.offered", "day": "2026-12-04", "time": "20:30", "party": 4}


def read(handler: str, body: dict[str, Any]) -> Read:
    return read_body(handler, json.dumps(body).encode())


def test_an_offer_asks_for_a_turn():
    found = read("restaurant", OFFER)
    assert (found.does, found.subjects) == ("turn", ())
    assert found.says == "A table for 4 is free on Fri 4 December 2026 at 20:30."
    assert read("restaurant", {**OFFER, "reservation": "R1"}).subjects == ("reservation R1",)


def test_a_cancelled_reservation_is_a_notice_and_gone_and_what_waits_for_it_is_moot():
    found = read("restaurant", {"type": "reservation.cancelled", "reservation": "R1", "text": "Closed."})
    assert (found.does, found.subjects, found.moot, found.gone) == ("notice", *[("reservation R1",)] * 3)
    assert found.says == "The restaurant cancelled reservation R1. It says: Closed."


def test_a_confirmed_reservation_is_a_notice_and_nothing_is_gone():
    found = read("restaurant", {"type": "reservation.confirmed", "reservation": "R1"})
    assert (found.does, found.subjects, found.moot, found.gone) == ("notice", ("reservation R1",), (), ())


def test_a_cancelled_film_makes_what_waits_for_it_moot_and_one_at_another_time_does_not():
    film = {"film": "F1", "title": "The Long Table"}
    cancelled = read("cinema", {"type": "film.cancelled", **film})
    assert (cancelled.does, cancelled.moot, cancelled.gone) == ("notice", ("film F1",), ())
    moved = read("cinema", {"type": "schedule.changed", **film, "day": "2026-12-04", "time": "21:15"})
    assert (moved.does, moved.moot) == ("notice", ())
    assert moved.says == "The cinema shows The Long Table on Fri 4 December 2026 at 21:15."


@pytest.mark.parametrize(
    ("handler", "body"),
    [
        ("restaurant", {}),
        ("restaurant", {"type": "table.burned"}),
        ("restaurant", {**OFFER, "day": "Friday"}),
        ("restaurant", {**OFFER, "day": 20261204}),
        ("restaurant", {**OFFER, "time": "8 pm"}),
        ("restaurant", {**OFFER, "party": True}),
        ("restaurant", {**OFFER, "party": 0}),
        ("restaurant", {**OFFER, "party": 10**400}),
        ("restaurant", {**OFFER, "text": "x" * 3_000}),
        ("restaurant", {"type": "reservation.cancelled", "reservation": "R1\nreservation R2"}),
        ("cinema", {"type": "film.cancelled", "film": "F1"}),
        ("cinema", {"type": "film.cancelled", "film": ["F1"], "title": "x"}),
        ("cinema", {"type": "table.offered", "film": "F1", "title": "x"}),
    ],
    ids=[f"number {number}" for number in range(13)],
)
def test_what_is_none_of_their_events_is_unreadable_with_a_sentence(handler: str, body: dict[str, Any]):
    with pytest.raises(Unreadable, match=r"\.$"):
        read(handler, body)


@pytest.mark.parametrize("file", sorted(path.name for path in EXAMPLES.glob("*.json")))
def test_every_example_can_be_read(file: str):
    handler = "cinema" if file.startswith("film") else "restaurant"
    assert read_body(handler, (EXAMPLES / file).read_bytes()).says
