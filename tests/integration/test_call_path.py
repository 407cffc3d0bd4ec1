"""The way of a call: schema, right, limits, consent, key, sent, outcome; each way it is refused (DESIGN 7)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from agents.models.actions import PendingAction
from agents.models.tools import WorkspaceTool
from agents.models.turns import Call, Turn
from agents.tools import consent, rights
from collab.models.threads import Event
from permissions.actors import Source
from permissions.ids import new_id
from permissions.services import grant_take
from tests.support.cast import Someone, Studio
from tests.support.other_side import Counter, Outside
from tests.support.tools import registered
from tests.support.turns import posts
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db

NAME = "reserve_table"


@pytest.fixture
def outside() -> Outside:
    return Outside()


@pytest.fixture
def packs() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def desk(studio: Studio, outside: Outside, packs: ExitStack):
    def make(*people: Someone, **contract: Any) -> Counter:
        tool = outside.tool(**contract)
        packs.enter_context(registered(tool))
        return Counter(studio, tool, *people)

    return make


def came(call: Call | None = None) -> tuple[str | None, str]:
    found = call or Call.objects.order_by("turn__number", "number").last()
    assert found is not None
    found.refresh_from_db()
    return found.outcome, found.reason


def begins_unasked(worker: Worker, origin: Source | None = None) -> None:
    """Have a turn be one that no person began."""
    worker.turn.asks_first = True
    if origin is not None:
        worker.turn.origin, worker.turn.on_behalf_of = origin, None


def test_a_call_is_sent_once_with_its_key_for_whom_the_turn_is(desk, studio, outside):
    worker = desk().turn_for(studio.ana)
    told = worker.calls(NAME, guests=4)
    call = Call.objects.get()
    assert told[0].content == {"reservation": "R4"}
    assert (outside.sent, came(call)) == ([call.key], ("done", ""))
    assert outside.asked_by == [studio.robin.acting_for(studio.ana, studio.thread)]
    started = Event.objects.get(type="call_started")
    assert started.grants_epoch > 0


def test_what_the_model_leaves_out_is_kept_as_the_tool_reads_it(desk, studio):
    desk().turn_for(studio.ana).calls(NAME, guests=4)
    assert Call.objects.get().args == '{"guests":4,"near":"window"}'


def test_an_argument_that_the_schema_does_not_name_is_refused(desk, studio, outside):
    desk().turn_for(studio.ana).calls(NAME, guests=4, as_user="Ben")
    assert came() == ("refused", "argument_schema")
    assert outside.sent == []


def test_a_tool_that_does_not_exist_is_refused(desk, studio):
    desk().turn_for(studio.ana).calls("reserve_boat", guests=4)
    assert came() == ("refused", "unknown_tool")


def test_a_tool_that_is_not_enabled_is_refused(studio, outside, packs):
    packs.enter_context(registered(outside.tool()))
    posts(studio.ana, studio.thread, "book a table")
    told = Worker.begins(studio).calls(NAME, guests=4)
    assert came() == ("refused", "not_enabled")
    assert told[0].content["summary"] == "Reserve table is not enabled in Studio launch."
    assert outside.sent == []


def test_whom_it_is_for_lacks_the_tool_and_it_is_refused(desk, studio, outside):
    told = desk().turn_for(studio.ben).calls(NAME, guests=4)
    assert came() == ("refused", "forbidden")
    assert "Ben" in told[0].content["summary"]
    assert outside.sent == []


def test_the_agent_lacks_the_tool_and_it_is_refused(desk, studio, outside):
    set_up = desk(studio.ben)
    worker = set_up.turn_for(studio.ben)
    grant_take(by=studio.ana.actor, holder=studio.robin.user, codename="use_tool", obj=set_up.enabled)
    told = worker.calls(NAME, guests=4)
    assert came() == ("refused", "forbidden")
    assert "Robin" in told[0].content["summary"]


def test_revoking_stops_the_very_next_call(desk, studio, outside):
    set_up = desk(studio.ben)
    worker = set_up.turn_for(studio.ben)
    worker.calls(NAME, guests=4)
    grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="use_tool", obj=set_up.enabled)
    worker.calls(NAME, guests=5)
    assert [call.outcome for call in Call.objects.order_by("number")] == ["done", "refused"]
    assert len(outside.sent) == 1


@pytest.mark.corrupts  # the turn is said to be of a source, which its log does not know
def test_the_owner_of_what_a_turn_came_from_caps_it(desk, studio, outside):
    worker = desk(consent="never").turn_for(studio.ana)
    begins_unasked(worker, Source(new_id(), studio.vera.id))
    told = worker.calls(NAME, guests=4)
    assert came() == ("refused", "forbidden")
    assert "Vera" in told[0].content["summary"]


def test_consent_waits_and_so_does_every_later_write(desk, studio, outside):
    worker = desk().turn_for(studio.ana)
    begins_unasked(worker)
    told = worker.calls(NAME, guests=4)
    worker.calls("edit_document", document="Launch plan", edits=[{"find": "900", "replace": "950"}])
    worker.calls("list_documents")
    assert [call.outcome for call in Call.objects.order_by("number")] == [
        "pending_confirmation", "pending_confirmation", "done",
    ]  # fmt: skip
    assert "pending_confirmation" in told[0].content
    assert [call.tool for call in worker.work.steps] == [NAME, "edit_document"]
    assert outside.sent == []
    assert studio.document.version == 1


def test_always_asks_a_person_too(desk, studio, outside):
    worker = desk(consent="always").turn_for(studio.ana)
    worker.calls(NAME, guests=4)
    assert came() == ("pending_confirmation", "consent")
    assert outside.sent == []


@pytest.mark.corrupts  # the turn is said to be of a source, which its log does not know
def test_with_no_one_to_ask_it_is_refused(desk, studio, outside):
    worker = desk().turn_for(studio.ana)
    begins_unasked(worker, Source(new_id(), None))
    worker.calls(NAME, guests=4)
    assert came() == ("refused", "no_one_to_ask")
    assert outside.sent == []


def test_too_much_that_waits_is_refused(desk, studio, monkeypatch):
    monkeypatch.setattr(consent, "MOST_OPEN", 2)
    worker = desk().turn_for(studio.ana)
    begins_unasked(worker)
    for guests in (1, 2, 3):
        worker.calls(NAME, guests=guests)
    assert came() == ("refused", "too_many_actions")
    assert len(worker.work.steps) == 2


def test_too_many_open_actions_in_the_thread_are_refused(desk, studio, monkeypatch):
    monkeypatch.setattr(consent, "MOST_OPEN", 1)
    worker = desk().turn_for(studio.ana)
    begins_unasked(worker)
    at = studio.thread.created_at
    PendingAction.objects.create(
        thread=studio.thread, number=1, seq=1, turn=Turn.objects.get(), steps=[], origin=studio.ana.actor,
        addressee=studio.ana.actor, text="", asked_at=at, expires_at=at,
    )  # fmt: skip
    worker.calls(NAME, guests=1)
    assert came() == ("refused", "too_many_actions")


def test_a_turn_that_only_reports_calls_nothing(desk, studio, outside):
    worker = desk().turn_for(studio.ana)
    worker.work.reports = True
    worker.calls(NAME, guests=4)
    worker.calls("list_documents")
    assert {(call.outcome, call.reason) for call in Call.objects.all()} == {("refused", "report_only")}


def test_a_limit_of_the_turn_counts_its_lineage(desk, studio, outside):
    worker = desk(per_turn=2).turn_for(studio.ana)
    for guests in (1, 2, 3):
        worker.calls(NAME, guests=guests)
    assert came() == ("refused", "limit")
    assert len(outside.sent) == 2


def test_a_limit_of_the_day_is_for_one_person_and_begins_anew_at_midnight(desk, studio, outside, clock):
    set_up = desk(studio.ben, per_day=1)
    worker = set_up.turn_for(studio.ana)
    worker.calls(NAME, guests=1)
    worker.calls(NAME, guests=2)
    assert came() == ("refused", "limit")
    worker.ends()
    other = set_up.turn_for(studio.ben)
    other.calls(NAME, guests=3)
    assert came() == ("done", "")
    other.ends()
    clock(24 * 3600)
    set_up.turn_for(studio.ana).calls(NAME, guests=4)
    assert came() == ("done", "")


def test_what_the_other_side_refuses_is_failed_in_its_words(desk, studio, outside):
    outside.answers = outside.says_no
    told = desk().turn_for(studio.ana).calls(NAME, guests=40)
    assert told[0].content == {"failed": "not_done", "summary": "There is no table for so many."}


@pytest.mark.parametrize(
    "error", [TimeoutError("t"), ConnectionError("c"), RuntimeError("s3cret"), ZeroDivisionError()]
)
def test_whatever_else_breaks_leaves_it_unknown_and_tells_no_text_of_it(desk, studio, outside, error):
    def breaks(key: str, guests: int) -> None:
        raise error

    outside.answers = breaks
    told = desk().turn_for(studio.ana).calls(NAME, guests=4)
    call = Call.objects.get()
    assert call.outcome == "unknown"
    assert "s3cret" not in f"{told[0].content}{call.because}{call.result}"


@pytest.mark.parametrize(
    "garbage",
    [object(), float("nan"), "x" * 300_000, "a\0b", {1: 2}, 10**400, {"deep": [{"a": float("inf")}]}],
    ids=["no JSON", "NaN", "300,000 characters", "NUL", "a key that is no text", "a huge number", "deep infinity"],
)
def test_a_result_that_cannot_be_kept_is_done_and_bounded(desk, studio, outside, garbage):
    outside.answers = lambda key, guests: garbage
    desk().turn_for(studio.ana).calls(NAME, guests=4)
    call = Call.objects.get()
    assert call.outcome == "done"
    assert len(call.result) <= 1_000
    assert call.reason in {"bad_result", ""}
    assert "\0" not in call.result
    assert len(outside.sent) == 1


def test_an_unknown_call_blocks_the_same_one_in_any_turn_of_the_thread(desk, studio, outside):
    outside.answers = outside.loses_its_answer
    set_up = desk(studio.ben)
    worker = set_up.turn_for(studio.ana)
    worker.calls(NAME, guests=4)
    worker.calls(NAME, guests=4, near="window")
    assert came() == ("refused", "unknown_before")
    worker.ends()
    other = set_up.turn_for(studio.ben)
    told = other.calls(NAME, guests=4)
    assert came() == ("refused", "unknown_before")
    assert "Nobody knows yet whether reserve table was done" in told[0].content["summary"]
    outside.answers = lambda key, guests: None
    other.calls(NAME, guests=5)
    assert came() == ("done", "")
    assert len(outside.sent) == 2


def test_a_tool_is_offered_to_whom_may_use_it_only(desk, studio):
    set_up = desk(studio.ben)
    worker = set_up.turn_for(studio.ben)
    assert rights.usable(worker.turn, studio.workspace.id) == {NAME}
    grant_take(by=studio.ana.actor, holder=studio.ben.user, codename="use_tool", obj=set_up.enabled)
    assert rights.usable(worker.turn, studio.workspace.id) == frozenset()
    assert WorkspaceTool.objects.count() == 1


def test_one_call_sends_at_most_18_statements(desk, studio, queries):
    worker = desk(studio.ben, per_turn=9, per_day=9).turn_for(studio.ben)
    with queries() as sent:
        worker.calls(NAME, guests=4)
    sent.at_most(18)
