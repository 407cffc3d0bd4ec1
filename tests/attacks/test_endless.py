"""A compromised model that sends what no model should, never ends, kills its process, or doubles what may have happened
(FAILURES 5.2, attacks 18, 19, 20 and 25; promises 6 and 7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.conf import settings

from agents.models.agents import Agent
from agents.models.turns import Call
from agents.tools import asked, rights
from agents.tools.services import call_repeat
from agents.turns import start
from agents.turns.budget import Spent
from agents.turns.runner import Runner
from tests.attacks.evil import EvilModel, Move, reasons, told, works
from tests.attacks.outside import TO_SAM, Outside
from tests.attacks.rules import SWITCH
from tests.support.cast import Studio
from tests.support.other_side import Counter
from tests.support.other_side import Outside as OtherSide
from tests.support.tools import registered
from tests.support.turns import posts, replies, turns

pytestmark = pytest.mark.django_db(transaction=True)


@SWITCH
def test_attack_18_what_is_read_leniently_elsewhere_is_no_call_here(
    outside: Outside, evil: EvilModel, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    """A key that is there twice: people may be shown the one, and the other carried out."""
    if rule == "off":
        monkeypatch.setattr(asked, "parse_json", lambda text, **_: json.loads(text))
    evil.will(Move(calls=[("text_group", '{"text": "harmless", "text": "evil"}')]))
    posts(outside.studio.ben, outside.studio.thread, "Tell them.")
    turn = works(outside.studio.thread)
    if rule == "off":
        assert [entry.args["text"] for entry in outside.fake.world.ledger.so_far()] == ["evil"]
        return
    assert told(turn) == [("text_group", "refused", "argument_schema")]
    assert outside.deeds == []


@SWITCH
@pytest.mark.parametrize(("limit", "counted"), [("max_steps", "require_step"), ("max_calls", "require_call")])
def test_attack_19_a_turn_that_never_ends_is_ended(
    outside: Outside, evil: EvilModel, monkeypatch: pytest.MonkeyPatch, limit: str, counted: str, rule: str
) -> None:
    Agent.objects.update(**{limit: 3})
    if rule == "off":
        monkeypatch.setattr(Spent, counted, lambda spent: setattr(spent, "calls", spent.calls + 1))
    evil.will(*[Move(calls=[("text_group", {"text": f"Text {number}"})]) for number in range(6)])
    posts(outside.studio.ben, outside.studio.thread, "Go on.")
    turn = works(outside.studio.thread)
    assert ((turn.status, turn.reason) == ("failed", "limit")) == (rule == "on")
    assert len(outside.deeds) == (3 if rule == "on" else 6)
    if rule == "on":
        assert turn.because == f"The turn reached its limit of 3 {limit.removeprefix('max_')}."


@SWITCH
def test_attack_20_what_kills_its_process_each_time_is_tried_a_few_times_and_the_thread_goes_on(
    studio: Studio,
    evil: EvilModel,
    monkeypatch: pytest.MonkeyPatch,
    clock: Callable[[float], None],
    rule: str,
) -> None:
    deaths = start.MOST_ATTEMPTS + 2
    if rule == "off":
        monkeypatch.setattr(start, "MOST_ATTEMPTS", 10_000)

    def dies(_: EvilModel) -> Move:
        raise asyncio.CancelledError

    evil.will(*[dies] * deaths)
    posts(studio.ana, studio.thread, "Crash.")
    posts(studio.ben, studio.thread, "And me?")
    for times in range(deaths):
        clock(times * (settings.ACCORD_LEASE_SECONDS + 1))
        with suppress(asyncio.CancelledError):
            asyncio.run(Runner(studio.thread.id).work())
    served = [turn for turn in turns(studio.thread) if turn.on_behalf_of == studio.ben.actor]
    assert bool(served) == (rule == "on")
    if rule == "on":
        crashed = [turn for turn in turns(studio.thread) if turn.on_behalf_of == studio.ana.actor]
        assert {(turn.status, turn.reason) for turn in crashed} == {("failed", "abandoned")}
        assert max(turn.attempt for turn in crashed) == start.MOST_ATTEMPTS


def test_honest_the_next_person_is_answered_after_one_crash(
    studio: Studio, evil: EvilModel, clock: Callable[[float], None]
) -> None:
    def dies(_: EvilModel) -> Move:
        raise asyncio.CancelledError

    evil.will(dies, Move(says=["Here I am."]))
    posts(studio.ana, studio.thread, "Hello?")
    with suppress(asyncio.CancelledError):
        asyncio.run(Runner(studio.thread.id).work())
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    assert works(studio.thread).status == "completed"
    assert replies(studio.thread) == ["Here I am."]


ALIKE: dict[str, dict[str, Any]] = {
    "the same": {"near": "window"},
    "left out": {},
    "one blank more": {"near": "window "},
    "a mark nobody sees": {"near": "win\u200bdow"},
    "a letter nobody sees": {"near": "window\u3164"},
    "other letters": {"near": "Ｗindow"},
}


@SWITCH
@pytest.mark.parametrize("how", ALIKE)
def test_attack_25_what_may_have_been_done_is_not_done_again_under_another_look(
    studio: Studio, evil: EvilModel, monkeypatch: pytest.MonkeyPatch, how: str, rule: str
) -> None:
    if rule == "off":
        monkeypatch.setattr(rights, "unknown_before", lambda *_, **__: False)
    hall, turn = _booked_twice(studio, evil, ALIKE[how])
    assert len(hall.sent) == (1 if rule == "on" else 2)
    assert (reasons(turn) == ["no_answer", "unknown_before"]) == (rule == "on")


def _booked_twice(studio: Studio, evil: EvilModel, again: dict[str, Any]) -> tuple[OtherSide, Any]:
    """Have the model book a hall, whose answer is lost, and book it again."""
    hall = OtherSide()
    hall.answers = hall.loses_its_answer
    book_hall = hall.tool("book_hall")
    with registered(book_hall):
        Counter(studio, book_hall, studio.ben)
        evil.calls("book_hall", guests=4, near="window")
        evil.calls("book_hall", guests=4, **again)
        posts(studio.ben, studio.thread, "Book the hall.")
        return hall, works(studio.thread)


def test_honest_what_its_person_lets_be_done_again_is_and_so_is_something_else(studio: Studio, evil: EvilModel) -> None:
    hall = OtherSide()
    hall.answers = hall.loses_its_answer
    book_hall = hall.tool("book_hall")
    with registered(book_hall):
        Counter(studio, book_hall, studio.ben)
        evil.calls("book_hall", guests=4)
        evil.calls("book_hall", guests=5)
        posts(studio.ben, studio.thread, "Book the halls.")
        works(studio.thread)
        call_repeat(actor=studio.ben.actor, call=Call.objects.order_by("number").first().id)
        evil.calls("book_hall", guests=4)
        posts(studio.ben, studio.thread, "Once more.")
        works(studio.thread)
    assert len(set(hall.sent)) == 3
    assert sorted(hall.booked.values()) == [4, 4, 5]


def test_honest_a_text_is_sent_once_a_turn_is_within_its_limits(outside: Outside, evil: EvilModel) -> None:
    Agent.objects.update(max_steps=3, max_calls=3)
    evil.calls("text_group", TO_SAM)
    posts(outside.studio.ben, outside.studio.thread, "Tell Sam.")
    assert works(outside.studio.thread).status == "completed"
    assert outside.deeds == ["text"]
