"""What input does that comes while a turn of its author runs: joins, waits, starts over (DESIGN 6, In flight)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import JsonValue

from agents.items import turn_items
from agents.models.agents import Agent
from agents.models.turns import Call, Turn
from agents.tools.contract import Tool, ToolContext, tool
from agents.turns.inflight import MOST_RESTARTS
from agents.turns.services import turn_stop
from collab import log
from collab.models.threads import Event, Message
from collab.services.workspaces import member_role_set
from permissions.roles import Role
from tests.support.cast import Studio
from tests.support.tools import registered
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, took, turns, types, until
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db(transaction=True)


class Restaurant:
    """The other side: what it was asked for, by key."""

    def __init__(self) -> None:
        self.booked: list[str] = []

    def tool(self) -> Tool:
        """Return a tool that books there."""

        @tool(effect="write", permission="", keyed=True, label="Book table")
        async def book_table(ctx: ToolContext, guests: int) -> JsonValue:
            """Book a table."""
            self.booked.append(ctx.key)
            return {"reservation": f"R{len(self.booked)}", "guests": guests}

        return book_table


@pytest.fixture
def restaurant() -> Iterator[Restaurant]:
    found = Restaurant()
    with registered(found.tool()):
        yield found


def policy(studio: Studio, in_flight: str) -> None:
    Agent.objects.filter(pk=studio.robin.id).update(in_flight=in_flight)


def step(puppet: Puppet) -> None:
    """Go on to the next boundary by a call that changes nothing."""
    puppet.calls("list_documents")


def states(studio: Studio) -> list[tuple[str, str]]:
    return [(turn.status, turn.reason) for turn in turns(studio.thread)]


def test_under_queue_what_its_author_adds_waits_for_the_next_turn(studio: Studio, puppet: Puppet, stage: Stage):
    policy(studio, "queue")
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "also tell Sam")
    step(puppet)
    assert "tell Sam" not in puppet.is_asked().words
    puppet.says("One.")
    assert "tell Sam" in puppet.is_asked().words
    puppet.says("Two.")
    stage.settles()
    assert [took(turn) for turn in turns(studio.thread)] == [["book a table"], ["also tell Sam"]]
    assert states(studio) == [("completed", ""), ("completed", "")]


def test_under_restart_the_turn_starts_over_with_all_that_was_asked(studio: Studio, puppet: Puppet, stage: Stage):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "also tell Sam")
    puppet.says("I begin.", calls=[("list_documents", {})])
    again = puppet.is_asked()
    assert again.words.index("book a table") < again.words.index("also tell Sam")
    assert not again.returns, "its history is fresh"
    puppet.says("All of it.")
    stage.settles()
    old, new = turns(studio.thread)
    assert (old.status, old.reason, new.status, new.restarts_id) == ("stopped", "restarted", "completed", old.id)
    assert f'"restarts":"{old.id}"' in Event.objects.filter(type="turn_started").latest("seq").data
    assert (new.root_id, new.origin, new.attempt) == (old.root_id, old.origin, 1)
    assert (took(old), took(new)) == (["book a table"], ["also tell Sam"])
    assert replies(studio.thread) == ["I begin.", "All of it."]
    assert Message.objects.get(turn_id=old.id).interrupted
    assert log.verify(studio.thread.id) is None


def test_a_restart_by_operation_makes_one_booking(studio: Studio, puppet: Puppet, stage: Stage, restaurant: Restaurant):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "book a table for 4")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "also tell Sam")
    puppet.calls("book_table", guests=4)
    puppet.is_asked()
    puppet.calls("book_table", guests=4)
    assert puppet.is_asked().returns["book_table"] == {"reservation": "R1", "guests": 4}
    puppet.says("Done.")
    stage.settles()
    assert len(restaurant.booked) == 1
    old, new = turns(studio.thread)
    assert outcomes(old) == [("book_table", "done", "")]
    assert outcomes(new) == []


def test_a_restart_that_asks_for_something_else_makes_that_call_too(
    studio: Studio, puppet: Puppet, stage: Stage, restaurant: Restaurant
):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "book a table for 4")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "and one for 2")
    puppet.calls("book_table", guests=4)
    puppet.is_asked()
    puppet.says(calls=[("book_table", {"guests": 4}), ("book_table", {"guests": 2}), ("book_table", {"guests": 4})])
    puppet.is_asked()
    puppet.says("Done.")
    stage.settles()
    assert len(restaurant.booked) == len(set(restaurant.booked)) == 3, "the first of each is told again, no more"
    assert [call[1] for call in outcomes(turns(studio.thread)[1])] == ["done", "done"]


def test_a_restart_goes_on_after_its_process_parked(
    studio: Studio, puppet: Puppet, stage: Stage, restaurant: Restaurant
):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "book a table for 4")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "also tell Sam")
    stage.loop.call_soon_threadsafe(stage.embedded._ends.set)
    puppet.calls("book_table", guests=4)
    stage.settles()
    assert states(studio) == [("stopped", "restarted"), ("running", "parked")]
    stage.loop.call_soon_threadsafe(stage.embedded._ends.clear)
    stage.wake(studio.thread)
    words = puppet.is_asked().words
    assert "book a table for 4" in words
    assert "also tell Sam" in words
    puppet.calls("book_table", guests=4)
    puppet.is_asked()
    puppet.says("Done.")
    stage.settles()
    assert len(restaurant.booked) == 1
    assert [turn.status for turn in turns(studio.thread)] == ["stopped", "failed", "completed"]


def test_a_lineage_that_started_over_often_merges(studio: Studio, puppet: Puppet, stage: Stage):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "start")
    for number in range(MOST_RESTARTS + 1):
        puppet.is_asked()
        posts(studio.ana, studio.thread, f"more {number}")
        step(puppet)
    puppet.is_asked()
    puppet.says("Done.")
    stage.settles()
    found = turns(studio.thread)
    assert [turn.reason for turn in found] == ["restarted"] * MOST_RESTARTS + [""]
    assert took(found[-1]) == [f"more {MOST_RESTARTS - 1}", f"more {MOST_RESTARTS}"]


def test_a_turn_whose_author_may_start_no_other_goes_on_instead_of_starting_over(
    studio: Studio, puppet: Puppet, stage: Stage
):
    policy(studio, "restart")
    posts(studio.ben, studio.thread, "start")
    puppet.is_asked()
    posts(studio.ben, studio.thread, "more")
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    step(puppet)
    assert "more" in puppet.is_asked().words
    puppet.says("Done.")
    stage.settles()
    assert states(studio) == [("completed", "")]


def test_a_stop_before_the_boundary_stops_and_nothing_starts_over(studio: Studio, puppet: Puppet, stage: Stage):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "start")
    puppet.is_asked()
    message = posts(studio.ana, studio.thread, "more")
    (turn,) = turns(studio.thread)
    turn_stop(actor=studio.ana.actor, turn=turn.id)
    until(lambda: Turn.objects.get(pk=turn.id).status == "stopped")
    puppet.is_asked()
    puppet.says("Done.")
    stage.settles()
    old, new = turns(studio.thread)
    assert (old.reason, new.restarts_id, new.root_id) == ("stopped", None, new.id)
    assert Message.objects.get(pk=message.id).taken_by == new.id


def test_a_stop_of_the_turn_that_started_over_stops_that_one(studio: Studio, puppet: Puppet, stage: Stage):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "start")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "more")
    step(puppet)
    puppet.is_asked()
    turn_stop(actor=studio.ana.actor, turn=turns(studio.thread)[1].id)
    stage.settles()
    assert states(studio) == [("stopped", "restarted"), ("stopped", "stopped")]


def test_anothers_message_restarts_nothing(studio: Studio, puppet: Puppet, stage: Stage):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "start")
    puppet.is_asked()
    posts(studio.ben, studio.thread, "and drop the budget")
    posts(studio.ana, studio.thread, "more")
    step(puppet)
    assert "budget" not in puppet.is_asked().words.split("start")[-1]
    for reply in ("One.", "Two.", "Three."):
        puppet.says(reply)
    stage.settles()
    until(lambda: len(replies(studio.thread)) == 3)
    assert [turn.reason for turn in turns(studio.thread)] == ["", "", ""]
    assert "message_taken" not in types(studio.thread)


def test_a_write_of_the_turn_that_was_left_is_told_at_the_end_of_the_one_that_started_over(
    studio: Studio, puppet: Puppet, stage: Stage, restaurant: Restaurant
):
    policy(studio, "restart")
    posts(studio.ana, studio.thread, "book a table for 4")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "no, wait")
    puppet.calls("book_table", guests=4)
    puppet.is_asked()
    puppet.says("All right.")
    stage.settles()
    assert len(restaurant.booked) == 1
    assert Call.objects.get().outcome == "done"
    assert replies(studio.thread)[-1] != "All right.", "the booking is told of"


def test_the_item_of_a_running_turn_says_what_its_authors_message_does(studio: Studio):
    posts(studio.ana, studio.thread, "book a table")
    worker = Worker.begins(studio)
    said = []
    for setting in ("merge", "queue", "restart"):
        policy(studio, setting)
        said.append(turn_items(None, [worker.turn.id])[0]["in_flight"])
    Agent.objects.update(classify=True)
    said.append(turn_items(None, [worker.turn.id])[0]["in_flight"])
    worker.ends()
    said.append(turn_items(None, [worker.turn.id])[0]["in_flight"])
    assert said == ["merge", "queue", "restart", "classify", ""]
