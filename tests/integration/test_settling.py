"""Calls of which nobody knows whether they were done: looked up, let be done again, undone (DESIGN 6 and 7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from agents.models.sources import Route, Source
from agents.models.turns import Call
from agents.tools import services, settling, undoing
from agents.tools.contract import Looked, NotDone
from agents.tools.services import NothingToAsk, call_check, call_repeat, call_undo
from agents.tools.settling import calls_to_look_up, lookup_claimed, settled, unknown_in
from agents.tools.undoing import NoUndo
from collab.errors import Busy, Gone, Invalid
from collab.models.threads import Event
from collab.services.threads import thread_archive
from permissions.actors import System
from permissions.errors import NotFound, Refused
from permissions.services import grant_take
from tests.support.cast import Studio
from tests.support.other_side import Counter, Outside
from tests.support.tools import registered
from tests.support.turns import posts
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db

NAME = "reserve_table"
PATH = "restaurant"


def names(result) -> list[tuple[str, str]]:
    return [(PATH, f"reservation {result['reservation']}"), ("nowhere", "x")]


@pytest.fixture
def outside() -> Outside:
    return Outside()


@pytest.fixture
def counter(studio: Studio, outside: Outside) -> Iterator[Counter]:
    tool = outside.tool(lookup=outside.lookup, undo=outside.undo, routes=names)
    with registered(tool):
        yield Counter(studio, tool, studio.ben)


@pytest.fixture
def restaurant(studio: Studio) -> Source:
    return Source.objects.create(
        name=PATH, label="Restaurant", workspace=studio.workspace, handler="json", secret="not a real one"
    )


@pytest.fixture
def lost(counter: Counter, outside: Outside, studio: Studio) -> Call:
    """A call of Ben's whose answer was lost; his turn has ended."""
    outside.answers = outside.loses_its_answer
    worker = counter.turn_for(studio.ben)
    worker.calls(NAME, guests=4)
    worker.ends()
    return Call.objects.get()


@pytest.fixture
def booked(counter: Counter, studio: Studio) -> Call:
    """A call of Ben's that was done; his turn has ended."""
    worker = counter.turn_for(studio.ben)
    worker.calls(NAME, guests=4)
    worker.ends()
    return Call.objects.get()


def settle(call: Call) -> bool:
    """Look up and settle as a runner does, one after another."""
    sent = lookup_claimed(call.id)
    assert sent is not None
    return settled(sent, asyncio.run(settling.looked_up(sent)), actor=System())


def ended(call: Call) -> list[tuple[str, str]]:
    events = Event.objects.filter(type="call_ended").order_by("seq")
    return [(event.data, type(event.actor).__name__) for event in events if str(call.id) in event.data]


def fresh(call: Call) -> Call:
    call.refresh_from_db()
    return call


def test_a_lookup_settles_a_call_that_was_done_with_its_result(lost, outside):
    assert settle(lost)
    assert (fresh(lost).outcome, lost.result, lost.moved_from) == ("done", '{"reservation":"R4"}', "unknown")
    assert (lost.lookups, lost.looked_up_at is not None) == (1, True)
    assert ended(lost)[-1][1] == "System"
    assert len(outside.sent) == 1


def test_a_lookup_settles_a_call_that_was_not_done_once_it_can_no_longer_arrive(lost, outside, clock):
    outside.booked.clear()
    assert not settle(lost)
    assert fresh(lost).outcome == "unknown"
    clock(31)
    assert settle(lost)
    assert (fresh(lost).outcome, lost.reason) == ("failed", "did_not_happen")
    assert lost.because == "Reserve table was not done."


@pytest.mark.parametrize(
    "answer", [lambda: Looked(None), lambda: "booked", lambda: 1 / 0], ids=["not known", "garbage", "it raises"]
)
def test_a_lookup_that_finds_nothing_leaves_it_unknown(lost, outside, answer):
    outside.looks = answer
    assert not settle(lost)
    assert (fresh(lost).outcome, lost.lookups) == ("unknown", 1)


def test_a_lookups_result_that_cannot_be_kept_is_done_and_bounded(lost, outside):
    outside.looks = lambda: Looked(True, float("nan"))
    assert settle(lost)
    assert (fresh(lost).outcome, lost.reason, lost.result) == ("done", "bad_result", "")


def test_of_two_lookups_one_settles_it(lost):
    one = lookup_claimed(lost.id)
    other = lookup_claimed(lost.id)
    assert one
    assert other
    assert settled(one, Looked(True, {"reservation": "R4"}), actor=System())
    assert not settled(other, Looked(False), actor=System())
    assert fresh(lost).outcome == "done"
    assert len(ended(lost)) == 2


def test_a_settled_call_is_not_looked_up_again(lost):
    assert settle(lost)
    assert lookup_claimed(lost.id) is None


def test_what_a_lookup_finds_has_its_routes_too(lost, restaurant, studio):
    settle(lost)
    route = Route.objects.get()
    assert (route.subject, route.source, route.owner, route.call) == (
        "reservation R4", restaurant, studio.ben.actor, lost,
    )  # fmt: skip


def test_a_calls_result_names_its_routes_and_a_newer_call_takes_a_subject_over(counter, restaurant, studio):
    for someone in (studio.ben, studio.ana):
        worker = counter.turn_for(someone)
        worker.calls(NAME, guests=4)
        worker.ends()
    route = Route.objects.get()
    assert (route.owner, route.call, route.thread) == (
        studio.ana.actor, Call.objects.order_by("sent_at").last(), studio.thread,
    )  # fmt: skip


def test_lookups_are_due_later_and_later_and_end_after_a_day(lost, clock, outside):
    outside.looks = lambda: Looked(None)
    at = 0.0
    for wait in (10, 30, 120, 600, 3600, 3600):
        at += wait
        clock(at - 5)
        assert calls_to_look_up() == []
        clock(at + 5)
        assert calls_to_look_up() == [lost.id]
        settle(lost)
        at += 5
    clock(24 * 3600 + 60)
    assert calls_to_look_up() == []
    assert unknown_in(lost.turn.thread_id) == [lost.id]


def test_calls_that_stay_unknown_keep_no_other_from_being_looked_up(counter, studio, outside, clock, monkeypatch):
    monkeypatch.setattr(settling, "AT_ONCE", 1)
    outside.answers, outside.looks = outside.loses_its_answer, lambda: Looked(None)
    worker = counter.turn_for(studio.ben)
    for guests in (2, 3, 4):
        worker.calls(NAME, guests=guests)
    worker.ends()
    calls = list(Call.objects.order_by("number"))
    Call.objects.filter(pk=calls[0].pk).update(args='{"guests":"two"}')  # as another version of the tool wrote it
    clock(11)
    seen = []
    for _ in calls:
        (due,) = calls_to_look_up()
        assert unknown_in(studio.thread.id) == [due]
        seen.append(due)
        lookup_claimed(due)
    assert seen == [call.pk for call in calls]
    assert calls_to_look_up() == []


def test_a_person_has_it_checked(lost, studio):
    found = call_check(actor=studio.vera.actor, call=lost.id)
    assert found.outcome == "done"
    assert ended(lost)[-1][1] == "Person"
    with pytest.raises(Gone):
        call_check(actor=studio.vera.actor, call=lost.id)


def test_a_stranger_finds_no_call_to_check(lost, zoe, outside):
    with pytest.raises(NotFound):
        call_check(actor=zoe.actor, call=lost.id)
    assert outside.looked_up == 0


def test_what_has_no_lookup_cannot_be_checked(lost, studio, outside):
    with registered(outside.tool()), pytest.raises(NothingToAsk):
        call_check(actor=studio.ben.actor, call=lost.id)
    assert unknown_in(studio.thread.id) == [lost.id]


def test_a_call_that_another_checks_at_this_moment_is_busy(lost, studio, outside, monkeypatch):
    monkeypatch.setattr(settling, "lookup_claimed", lambda call: None)
    with pytest.raises(Busy, match="at this moment"):
        call_check(actor=studio.ben.actor, call=lost.id)
    assert outside.looked_up == 0


def test_too_many_checks_at_once_are_busy_and_count_nothing(lost, studio, monkeypatch):
    monkeypatch.setattr(services, "_outward", threading.BoundedSemaphore(1))
    with services._one_of_few(), pytest.raises(Busy):
        call_check(actor=studio.ben.actor, call=lost.id)
    assert fresh(lost).lookups == 0


def test_whom_it_was_for_lets_it_be_done_again_once(lost, counter, studio, outside):
    assert call_repeat(actor=studio.ben.actor, call=lost.id).repeat_by == studio.ben.actor
    call_repeat(actor=studio.ben.actor, call=lost.id)
    assert Event.objects.filter(type="call_repeat_allowed").count() == 1
    worker = counter.turn_for(studio.ben)
    for _ in range(2):
        worker.calls(NAME, guests=4)
    assert list(worker.turn.calls.order_by("number").values_list("outcome", "reason")) == [
        ("unknown", "no_answer"), ("refused", "unknown_before"),
    ]  # fmt: skip
    assert len(outside.sent) == 2


def test_nobody_else_lets_it_be_done_again(lost, studio, robin, desk):
    for actor in (studio.ana.actor, robin.acting_for(studio.ben, studio.thread), studio.vera.actor):
        with pytest.raises(Refused):
            call_repeat(actor=actor, call=lost.id)
    with pytest.raises((Refused, NotFound)):
        call_repeat(actor=desk.acting_for(studio.ben), call=lost.id)
    assert fresh(lost).repeat_by is None


def test_who_lost_the_tool_lets_nothing_be_done_again(lost, counter, studio):
    grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="use_tool", obj=counter.enabled)
    with pytest.raises(Refused, match="Ben"):
        call_repeat(actor=studio.ben.actor, call=lost.id)


def test_what_is_known_is_not_let_be_done_again(booked, studio):
    with pytest.raises(Gone):
        call_repeat(actor=studio.ben.actor, call=booked.id)


def test_an_undone_call_says_so_and_by_whom(booked, studio, outside):
    found = call_undo(actor=studio.ben.actor, call=booked.id)
    assert (found.outcome, found.moved_from, found.undone_by) == ("undone", "done", studio.ben.actor)
    assert outside.undone == [booked.key]
    with pytest.raises(Gone):
        call_undo(actor=studio.ben.actor, call=booked.id)
    assert outside.undone == [booked.key]


def test_nobody_else_undoes_it(booked, studio, outside, zoe):
    with pytest.raises(Refused):
        call_undo(actor=studio.ana.actor, call=booked.id)
    with pytest.raises(NotFound):
        call_undo(actor=zoe.actor, call=booked.id)
    assert outside.undone == []


def test_who_lost_the_tool_undoes_nothing(booked, counter, studio, outside):
    grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="use_tool", obj=counter.enabled)
    with pytest.raises(Refused):
        call_undo(actor=studio.ben.actor, call=booked.id)
    assert outside.undone == []


def breaks() -> None:
    raise ConnectionResetError


def refuses() -> None:
    raise NotDone("It is too late to cancel.")


def test_an_undo_of_which_nobody_knows_leaves_it_done_and_says_so(booked, studio, outside):
    outside.undoes = breaks
    found = call_undo(actor=studio.ben.actor, call=booked.id)
    assert (found.outcome, found.reason) == ("done", "undo_unknown")
    assert found.because == "Nobody knows whether undoing reserve table was done."
    with pytest.raises(Gone):
        call_undo(actor=studio.ben.actor, call=booked.id)


def test_an_undo_that_was_certainly_refused_can_be_asked_for_again(booked, studio, outside):
    outside.undoes = refuses
    found = call_undo(actor=studio.ben.actor, call=booked.id)
    assert (found.outcome, found.reason, found.because) == ("done", "undo_failed", "It is too late to cancel.")
    outside.undoes = lambda: None
    assert call_undo(actor=studio.ben.actor, call=booked.id).outcome == "undone"


def test_a_crash_after_an_undo_was_claimed_leaves_what_is_true(booked, studio, outside, monkeypatch):
    monkeypatch.setattr(undoing, "undo_recorded", lambda *_, **more: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call_undo(actor=studio.ben.actor, call=booked.id)
    assert (fresh(booked).outcome, booked.reason) == ("done", "undo_unknown")
    with pytest.raises(Gone):
        call_undo(actor=studio.ben.actor, call=booked.id)
    assert outside.undone == [booked.key]


def test_what_has_no_undo_and_what_is_gone_are_not_undone(booked, studio, outside):
    with registered(outside.tool()), pytest.raises(NoUndo):
        call_undo(actor=studio.ben.actor, call=booked.id)
    Call.objects.update(gone_at=booked.sent_at)
    with pytest.raises(Gone, match="gone already"):
        call_undo(actor=studio.ben.actor, call=booked.id)


def test_in_an_archived_thread_nothing_is_undone_or_repeated(booked, studio, outside):
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    with pytest.raises(Invalid, match="archived"):
        call_undo(actor=studio.ben.actor, call=booked.id)
    assert outside.undone == []


def test_the_next_turn_of_the_thread_may_do_it_once_it_is_settled(lost, counter, studio, outside, clock):
    outside.booked.clear()
    clock(31)
    assert settle(lost)
    outside.answers = lambda key, guests: {"reservation": "R9"}
    posts(studio.ben, studio.thread, "again")
    told = Worker.begins(studio).calls(NAME, guests=4)
    assert told[0].content == {"reservation": "R9"}


@pytest.mark.django_db(transaction=True)
def test_of_lookups_and_undos_in_parallel_one_wins(lost, counter, studio, outside):
    def settles(_: int) -> bool:
        try:
            return settled(sent, Looked(True, {"reservation": "R4"}), actor=System())
        finally:
            connection.close()

    def undoes(_: int) -> str:
        try:
            return str(call_undo(actor=studio.ben.actor, call=lost.id).outcome)
        except (Gone, Busy) as late:
            return late.code
        finally:
            connection.close()

    sent = lookup_claimed(lost.id)
    assert sent is not None
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(settles, range(4))) == [False, False, False, True]
        assert sorted(pool.map(undoes, range(4))).count("undone") == 1
    assert outside.undone == [lost.key]
    assert [data for data, _ in ended(lost) if "undone" in data]
