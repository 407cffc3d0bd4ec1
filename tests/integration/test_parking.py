"""A process that is asked to end parks its turns at their next boundary, for another to continue (FAILURES C11)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturnPart

from agents.errors import LeaseLost
from agents.models.turns import Turn
from agents.turns import boundary, history, lease, start, sweep
from agents.turns.boundary import Work
from agents.turns.services import turn_stop
from agents.turns.start import Started, start_next
from collab import log
from tests.support.cast import Studio
from tests.support.turns import PATIENCE, Puppet, Stage, posts, replies, staged, took, turns

pytestmark = pytest.mark.django_db(transaction=True)

RETURNS = [ToolReturnPart("list_documents", [], tool_call_id="c1")]


def ending_work(started: Started) -> Work:
    """The work of a turn that has made a call, in a process that has been asked to end."""
    work = Work(started.turn, started.workspace, started.names, history.load(started.turn.history), parks=True)
    work.messages.append(ModelResponse(parts=[ToolCallPart("list_documents", {}, tool_call_id="c1")]))
    work.text, work.returns = "Let me see.", list(RETURNS)
    return work


def test_a_parked_turn_goes_on_at_once_from_its_boundary_and_parking_counts_as_no_attempt(
    studio: Studio, started: Started
):
    work = ending_work(started)
    boundary.reach(work)
    assert sweep.due_threads() == [studio.thread.id]
    assert start_next(studio.thread.id) is not None
    first, second = turns(studio.thread)
    assert (first.status, first.reason) == ("failed", "parked")
    assert (second.continues_id, second.on_behalf_of, second.attempt) == (first.id, studio.ana.actor, 1)
    assert (history.load(second.history), second.text) == (work.messages, "Let me see.")
    assert log.verify(studio.thread.id) is None


def test_a_turn_may_be_parked_more_often_than_it_may_be_abandoned(studio: Studio, started: Started):
    found: Started | None = started
    for _ in range(start.MOST_ATTEMPTS + 1):
        assert found is not None
        boundary.reach(ending_work(found))
        found = start_next(studio.thread.id)
    assert {turn.reason for turn in turns(studio.thread)[:-1]} == {"parked"}
    assert turns(studio.thread)[-1].status == "running"


def test_what_joins_at_the_boundary_where_a_turn_parks_is_in_what_goes_on(studio: Studio, started: Started):
    posts(studio.ana, studio.thread, "by fifty")
    boundary.reach(ending_work(started))
    continued = start_next(studio.thread.id)
    assert continued is not None
    assert took(started.turn) == ["raise the budget", "by fifty"]
    assert "by fifty" in continued.turn.history


def test_a_turn_that_is_done_ends_and_is_not_parked(studio: Studio, started: Started):
    work = ending_work(started)
    work.returns = []
    boundary.reach(work)
    assert [(turn.status, turn.reason) for turn in turns(studio.thread)] == [("completed", "")]
    assert start_next(studio.thread.id) is None


def test_a_process_that_parked_a_turn_writes_nothing_more_of_it(studio: Studio, started: Started):
    work = ending_work(started)
    boundary.reach(work)
    with pytest.raises(LeaseLost):
        boundary.reach(work)
    with pytest.raises(LeaseLost):
        lease.renew(studio.thread.id, started.turn.lease_epoch)
    boundary.cut_off(started.turn)
    assert Turn.objects.get().reason == "parked"


def test_nothing_continues_a_parked_turn_that_was_stopped(studio: Studio, started: Started):
    boundary.reach(ending_work(started))
    turn_stop(actor=studio.ana.actor, turn=started.turn.id)
    assert start_next(studio.thread.id) is None
    assert [(turn.status, turn.reason) for turn in turns(studio.thread)] == [("stopped", "stopped")]


def test_a_process_asked_to_end_waits_for_the_boundary_and_the_next_one_goes_on(
    studio: Studio, puppet: Puppet, stage: Stage, settings: Any
):
    settings.ACCORD_GRACE_SECONDS = PATIENCE
    posts(studio.ana, studio.thread, "what is there?")
    puppet.is_asked()
    closing = asyncio.run_coroutine_threadsafe(stage.embedded.close(), stage.loop)
    puppet.says("Let me see.", calls=[("list_documents", {})])
    closing.result(PATIENCE)
    assert puppet.is_left_alone()
    with staged() as next_one:
        assert puppet.is_asked().returns["list_documents"]
        puppet.says("One plan.")
        next_one.settles()
    assert replies(studio.thread) == ["Let me see.\n\nOne plan."]
    assert [(turn.status, turn.reason, turn.attempt) for turn in turns(studio.thread)] == [
        ("failed", "parked", 1),
        ("completed", "", 1),
    ]


def test_a_turn_that_reaches_no_boundary_in_time_is_cut_off_and_its_thread_is_free_at_once(
    studio: Studio, puppet: Puppet, stage: Stage
):
    posts(studio.ana, studio.thread, "what is there?")
    puppet.is_asked()
    asyncio.run_coroutine_threadsafe(stage.embedded.close(), stage.loop).result(PATIENCE)
    continued = start_next(studio.thread.id)
    assert continued is not None
    assert [(turn.status, turn.attempt) for turn in turns(studio.thread)] == [("failed", 1), ("running", 2)]
