"""The restaurant's tools through the call path, against the fake world (DESIGN 7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import ValidationError

from agents.models.sources import Route
from agents.models.turns import Call
from agents.replies.record import OUTCOMES, CallRecord
from agents.tools import http
from agents.tools.contract import Looked, NotDone, ToolContext
from agents.tools.registry import SETTING, TOOLS, words_of
from agents.tools.restaurant import tools as restaurant
from collab.models.threads import Event
from tests.support.cast import Studio
from tests.support.deliveries import source
from tests.support.fake_world import Fake, packs_enabled, world_beside
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, turns

pytestmark = pytest.mark.django_db(transaction=True)

TABLE = {"day": "2026-12-04", "time": "20:00", "party": 4}


@pytest.fixture
def fake(tmp_path: Path, studio: Studio) -> Iterator[Fake]:
    packs_enabled(studio)
    with world_beside(tmp_path / "world.jsonl") as running:
        yield running


def books(studio: Studio, puppet: Puppet, stage: Stage, reply: str = "All right.") -> Call:
    """Have Robin book the table for Ana, and return the call."""
    posts(studio.ana, studio.thread, "book a table")
    puppet.calls("reserve_table", **TABLE)
    puppet.says(reply)
    stage.settles()
    return Call.objects.filter(tool="reserve_table").latest("sent_at")


def context(studio: Studio, key: str) -> ToolContext:
    acting = studio.robin.acting_for(studio.ana, studio.thread)
    return ToolContext(
        actor=acting, workspace=studio.workspace.id, thread=studio.thread.id, turn=uuid4(), said=str, key=key
    )


def looked_up(studio: Studio, call: Call) -> Looked:
    tool = TOOLS[call.tool]
    assert tool.lookup is not None
    args = tool.args.model_validate_json(call.args)
    return asyncio.run(tool.lookup(context(studio, call.key), args))


def test_a_table_is_booked_once_under_the_calls_key_and_its_number_is_told(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage
):
    call = books(studio, puppet, stage, "I booked a table for 4: reservation R1.")
    assert outcomes(turns(studio.thread)[0]) == [("reserve_table", "done", "")]
    assert json.loads(call.result)["reservation"] == "R1"
    assert [entry.key for entry in fake.world.ledger.so_far()] == [call.key]
    assert replies(studio.thread) == ["I booked a table for 4: reservation R1."]


def test_a_booked_table_leads_later_news_of_it_to_its_thread_and_person(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage
):
    source(studio, "restaurant")
    call = books(studio, puppet, stage)
    route = Route.objects.get(subject="reservation R1")
    assert (route.thread_id, route.owner, route.call) == (studio.thread.id, studio.ana.actor, call)


def test_after_a_lost_reply_a_lookup_finds_what_was_done(studio: Studio, fake: Fake, puppet: Puppet, stage: Stage):
    fake.switch(lose_replies=1)
    call = books(studio, puppet, stage)
    assert (call.outcome, call.moved_from, fake.deeds) == ("done", "unknown", ["reserve"])
    assert json.loads(call.result) == fake.world.ledger.so_far()[0].answer


def test_an_answer_that_takes_too_long_is_unknown_until_a_lookup_finds_it(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(http, "SECONDS", 0.2)
    fake.switch(slow_ms=600)
    call = books(studio, puppet, stage)
    ended = Event.objects.filter(type="call_ended").order_by("seq")
    assert [json.loads(event.data)["outcome"] for event in ended] == ["unknown", "done"]
    assert (call.outcome, call.moved_from, fake.deeds) == ("done", "unknown", ["reserve"])


@pytest.mark.parametrize("how", ["unreachable", "down", "fail"])
def test_a_restaurant_that_does_nothing_is_a_certain_failure_and_the_reply_says_so(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage, how: str
):
    if how == "unreachable":
        fake.closes()
    else:
        fake.switch(**{how: 1 if how == "fail" else True})
    call = books(studio, puppet, stage, "I booked the table.")
    assert (call.outcome, call.reason) == ("failed", "not_done")
    assert fake.deeds == []
    (reply,) = replies(studio.thread)
    assert reply.startswith("I couldn't book the table: ")
    if how == "unreachable":
        assert reply == "I couldn't book the table: The restaurant cannot be reached; nothing was booked."


def test_a_lookup_of_what_never_came_says_it_did_not_happen_and_one_that_gets_no_answer_says_nothing(
    studio: Studio, fake: Fake
):
    call = Call(tool="reserve_table", key="k", args=json.dumps(TABLE))
    assert looked_up(studio, call).happened is False
    fake.switch(down=True)
    assert looked_up(studio, call) == Looked(None)
    fake.closes()
    assert looked_up(studio, call) == Looked(None)


def test_an_undone_booking_is_cancelled_under_a_key_of_its_own(studio: Studio, fake: Fake):
    tool, ctx = restaurant.reserve_table, context(studio, "k1")
    args = tool.args.model_validate_json(json.dumps(TABLE))
    assert tool.undo is not None
    result = asyncio.run(tool.fn(ctx, **TABLE))
    for _ in range(2):
        undone = asyncio.run(tool.undo(ctx, args, result))
        assert undone["state"] == "cancelled"
    assert fake.deeds == ["reserve", "cancel"]
    with pytest.raises(NotDone):
        asyncio.run(tool.undo(ctx, args, None))


def test_a_cancelled_reservation_is_known_by_the_call_that_made_it_and_by_no_other():
    named = {name: TOOLS[name].routes for name in words_of([restaurant])}
    assert [name for name, routes in named.items() if routes] == ["reserve_table"]


def test_reservations_are_found_cancelled_and_told_to_the_group(studio: Studio, fake: Fake):
    asyncio.run(restaurant.reserve_table.fn(context(studio, "k1"), **TABLE))
    by_day = asyncio.run(restaurant.find_reservation.fn(context(studio, "k2"), day="2026-12-04"))
    by_number = asyncio.run(restaurant.find_reservation.fn(context(studio, "k2"), reservation="R1"))
    assert by_day == by_number
    with pytest.raises(NotDone, match="its number or its day"):
        asyncio.run(restaurant.find_reservation.fn(context(studio, "k2")))
    cancelled = asyncio.run(restaurant.cancel_table.fn(context(studio, "k3"), reservation="R1"))
    assert cancelled["state"] == "cancelled"
    asyncio.run(restaurant.text_group.fn(context(studio, "k4"), text="We stay at home."))
    assert fake.deeds == ["reserve", "cancel", "text"]


@pytest.mark.parametrize(
    "args",
    [
        {**TABLE, "party": 0},
        {**TABLE, "party": 21},
        {**TABLE, "party": "4"},
        {**TABLE, "day": "friday"},
        {**TABLE, "day": "2026-02-30"},
        {**TABLE, "time": "24:00"},
        {**TABLE, "time": "20:00\n"},
        {**TABLE, "to": "http://127.0.0.1:6379"},
    ],
    ids=[f"number {number}" for number in range(8)],
)
def test_arguments_that_are_out_of_bounds_are_refused(args: dict[str, object]):
    with pytest.raises(ValidationError):
        restaurant.reserve_table.args.model_validate_json(json.dumps(args))


@pytest.mark.parametrize("tool", ["reserve_table", "cancel_table", "text_group"])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_has_a_sentence_of_its_own_with_nothing_left_unfilled(tool: str, outcome: str):
    args = {"day": "2026-12-04", "time": "20:00", "party": 4, "reservation": "R1", "text": "Hi"}
    record = CallRecord(tool, args=args, outcome=outcome, result={**args}, effect="write")
    said = SETTING.phrasings.say(SETTING.words.tools[tool], record)
    assert said
    assert "{" not in said


def test_each_tool_that_asks_says_how_with_its_own_arguments():
    for name, said in words_of([restaurant]).items():
        if TOOLS[name].effect == "write":
            named = [field for field in TOOLS[name].args.model_fields if f"{{args.{field}" in said["asks"]]
            assert named, name
