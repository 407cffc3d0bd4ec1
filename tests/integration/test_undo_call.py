"""A turn undoes what an earlier call did, for the person it was done for (DESIGN 6, Revise)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agents.actions.services import action_approve
from agents.models.actions import PendingAction
from agents.models.turns import Call
from agents.sources.acting import delivered
from agents.tools import settling, undoing
from agents.tools.contract import NotDone
from agents.tools.enabling import workspace_tool_enable
from agents.tools.services import call_undo
from agents.tools.settling import lookup_claimed, settled
from collab.errors import Gone
from collab.models.threads import Event, Thread
from permissions.actors import System
from permissions.services import grant_give, grant_take
from tests.support.cast import Someone, Studio
from tests.support.deliveries import source
from tests.support.other_side import Counter, Outside
from tests.support.senders import routed, stored
from tests.support.tools import registered
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, turns

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "reserve_table"
UNDO = {"call": "T1-1", "tool": NAME}


@pytest.fixture
def outside() -> Outside:
    return Outside()


@pytest.fixture
def counter(studio: Studio, outside: Outside) -> Iterator[Counter]:
    tool = outside.tool(undo=outside.undo)
    with registered(tool):
        usable = workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool="undo_call")
        for holder in (studio.robin.user, studio.ben.user):
            grant_give(by=studio.ana.actor, holder=holder, codename="use_tool", obj=usable)
        yield Counter(studio, tool, studio.ben)


class Talk:
    """What is said to Robin, and what its model then does."""

    def __init__(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        self.studio, self.puppet, self.stage = studio, puppet, stage

    def turn(self, someone: Someone, *calls: tuple[str, dict[str, Any]], says: str = "That is all.") -> list[Any]:
        """Work a turn that makes some calls, one response each; return what the model is told of each."""
        posts(someone, self.studio.thread, "please")
        told = []
        self.puppet.is_asked()
        for name, args in calls:
            self.puppet.says(calls=[(name, args)])
            told.append(self.puppet.is_asked().returns[name])
        self.puppet.says(says)
        self.stage.settles()
        return told


@pytest.fixture
def talk(studio: Studio, counter: Counter, puppet: Puppet, stage: Stage) -> Talk:
    """Ben had a table for four booked: T1-1."""
    found = Talk(studio, puppet, stage)
    found.turn(studio.ben, (NAME, {"guests": 4}))
    return found


def booked(thread: Thread) -> Call:
    return Call.objects.select_related("turn").get(turn__thread=thread, turn__number=1, number=1)


def last(thread: Thread) -> list[tuple[str | None, str]]:
    """Return what the calls of the newest turn came to."""
    return [(outcome, reason) for _, outcome, reason in outcomes(turns(thread)[-1])]


def test_it_is_undone_once_for_the_person_it_was_done_for(talk: Talk, studio: Studio, outside: Outside):
    first, second = talk.turn(studio.ben, ("undo_call", UNDO), ("undo_call", UNDO))
    call = booked(studio.thread)
    assert first == {
        "undone": "T1-1", "action": "reserve table", "args": {"guests": 4, "near": "window"},
        "result": {"reservation": "R4"},
    }  # fmt: skip
    assert second == {"failed": "already_settled", "summary": "Undoing it was asked for already."}
    assert (call.outcome, call.moved_from) == ("undone", "done")
    assert call.undone_by == studio.robin.acting_for(studio.ben, studio.thread)
    assert outside.undone == [call.key]
    assert last(studio.thread) == [("done", ""), ("failed", "already_settled")]
    event = next(event for event in Event.objects.filter(type="call_ended") if '"undone"' in event.data)
    assert (event.actor, str(call.id) in event.data) == (call.undone_by, True)


def test_the_person_and_a_turn_of_theirs_undo_it_once_between_them(talk: Talk, studio: Studio, outside: Outside):
    call_undo(actor=studio.ben.actor, call=booked(studio.thread).id)
    talk.turn(studio.ben, ("undo_call", UNDO))
    assert (last(studio.thread), len(outside.undone)) == ([("failed", "already_settled")], 1)


def test_what_was_done_for_someone_else_is_not_undone(talk: Talk, studio: Studio, outside: Outside):
    (told,) = talk.turn(studio.ana, ("undo_call", UNDO))
    assert told["summary"] == "It was not done for the person this turn is for."
    assert (last(studio.thread), outside.undone) == ([("refused", "forbidden")], [])


@pytest.mark.parametrize("whose", ["ben", "robin"])
def test_whoever_lacks_the_tool_that_did_it_undoes_nothing(
    talk: Talk, studio: Studio, counter: Counter, outside: Outside, whose: str
):
    holder = getattr(studio, whose).user
    grant_take(by=studio.ana.actor, holder=holder, codename="use_tool", obj=counter.enabled)
    (told,) = talk.turn(studio.ben, ("undo_call", UNDO))
    assert holder.display_name in told["summary"]
    assert (last(studio.thread), outside.undone) == ([("refused", "forbidden")], [])
    assert booked(studio.thread).undone_by is None


@pytest.mark.parametrize("named", [{"call": "T1-2", "tool": NAME}, {"call": "T1-1", "tool": "text_group"}])
def test_what_no_call_of_the_thread_is_called_is_not_undone(
    talk: Talk, studio: Studio, outside: Outside, named: dict[str, str]
):
    talk.turn(studio.ben, ("undo_call", named))
    assert (last(studio.thread), outside.undone) == ([("refused", "not_found")], [])


@pytest.mark.parametrize(
    ("contract", "came"),
    [({}, ("failed", "no_undo")), ({"undo": Outside().undo, "consent": "always"}, ("refused", "forbidden"))],
    ids=["no undo", "always asks"],
)
def test_what_has_no_undo_or_always_asks_a_person_is_not_undone(
    talk: Talk, studio: Studio, outside: Outside, contract: dict[str, Any], came: tuple[str, str]
):
    with registered(outside.tool(**contract)):
        talk.turn(studio.ben, ("undo_call", UNDO))
    assert (last(studio.thread), outside.undone) == ([came], [])
    assert booked(studio.thread).undone_by is None


def breaks() -> None:
    raise ConnectionResetError


def test_when_nobody_knows_whether_it_was_undone_both_calls_say_so_and_it_is_not_asked_for_again(
    talk: Talk, studio: Studio, outside: Outside
):
    outside.undoes = breaks
    talk.turn(studio.ben, ("undo_call", UNDO), ("undo_call", UNDO), says="The table is not reserved any more.")
    call = booked(studio.thread)
    assert last(studio.thread) == [("unknown", "no_answer"), ("refused", "unknown_before")]
    assert (call.outcome, call.reason) == ("done", "undo_unknown")
    assert len(outside.undone) == 1
    assert "Whether reserve_table (T1-1) is undone is still being checked." in replies(studio.thread)[-1]
    with pytest.raises(Gone):
        call_undo(actor=studio.ben.actor, call=call.id)


def test_what_was_certainly_not_undone_can_be_asked_for_again(talk: Talk, studio: Studio, outside: Outside):
    def refuses() -> None:
        raise NotDone("It is too late to cancel.")

    outside.undoes = refuses
    talk.turn(studio.ben, ("undo_call", UNDO))
    assert (last(studio.thread), booked(studio.thread).reason) == ([("failed", "not_done")], "undo_failed")
    outside.undoes = lambda: None
    talk.turn(studio.ben, ("undo_call", UNDO))
    assert (last(studio.thread), booked(studio.thread).outcome) == ([("done", "")], "undone")


def looks(call: Call) -> bool:
    sent = lookup_claimed(call.id)
    assert sent is not None
    return settled(sent, asyncio.run(settling.looked_up(sent)), actor=System())


def test_a_process_that_ends_between_leaves_what_the_record_settles(
    talk: Talk, studio: Studio, outside: Outside, clock
):
    came = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(undoing, "undo_recorded", lambda *given, **more: came.append((given, more)) or 1 / 0)
        talk.turn(studio.ben, ("undo_call", UNDO))
    (undo,) = Call.objects.filter(tool="undo_call")
    assert (undo.outcome, booked(studio.thread).reason) == ("unknown", "undo_unknown")
    clock(60)
    assert not looks(undo)
    ((given, more),) = came
    undoing.undo_recorded(*given, **more)
    assert looks(undo)
    undo.refresh_from_db()
    assert (undo.outcome, undo.moved_from, booked(studio.thread).outcome) == ("done", "unknown", "undone")
    assert len(outside.undone) == 1


def test_an_undoing_that_never_began_is_known_not_to_have_happened(talk: Talk, studio: Studio, outside: Outside, clock):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(undoing, "undo_claimed", lambda **_: 1 / 0)
        talk.turn(studio.ben, ("undo_call", UNDO))
    (undo,) = Call.objects.filter(tool="undo_call")
    clock(60)
    assert looks(undo)
    undo.refresh_from_db()
    assert (undo.outcome, outside.undone) == ("failed", [])
    talk.turn(studio.ben, ("undo_call", UNDO))
    assert booked(studio.thread).outcome == "undone"


def test_what_no_person_asked_for_is_undone_once_its_person_has_approved_it(
    talk: Talk, studio: Studio, puppet: Puppet, stage: Stage, outside: Outside
):
    restaurant = source(studio)
    routed(restaurant, "reservation R4", studio.thread, studio.ben)
    delivered([stored(restaurant, subject="reservation R4", asks=True).id])
    puppet.is_asked()
    puppet.says(calls=[("undo_call", UNDO)])
    puppet.is_asked()
    puppet.says("It waits.")
    stage.settles()
    action = PendingAction.objects.get()
    assert action.text == "A1 (from Restaurant): Undo reserve_table (T1-1). Approve within 10 minutes?"
    assert outside.undone == []
    action_approve(actor=studio.ben.actor, action=action.id)
    puppet.is_asked()
    puppet.says("It is undone.")
    stage.settles()
    call = booked(studio.thread)
    assert (call.outcome, call.undone_by) == ("undone", studio.robin.acting_for(studio.ben, studio.thread))
    (undo,) = Call.objects.filter(tool="undo_call")
    assert (undo.outcome, undo.moved_from) == ("done", "pending_confirmation")


@pytest.mark.parametrize(
    ("says", "reads"),
    [
        ("I've undone the reservation.", "I've undone the reservation."),
        ("The reservation was reversed.", "The reservation was reversed."),
        ("Good.", "Good.\n\nReversed: reserve table with guests 4, near window."),
    ],
)
def test_a_reply_says_that_it_was_undone(talk: Talk, studio: Studio, says: str, reads: str):
    talk.turn(studio.ben, ("undo_call", UNDO), says=says)
    assert replies(studio.thread)[-1] == reads


def test_what_a_turn_undoes_of_its_own_reads_as_undone(talk: Talk, studio: Studio):
    again = {"call": "T2-1", "tool": NAME}
    says = "The table is not reserved any more."
    talk.turn(studio.ben, (NAME, {"guests": 6}), ("undo_call", again), says=says)
    assert last(studio.thread) == [("undone", ""), ("done", "")]
    assert replies(studio.thread)[-1].startswith(says)
