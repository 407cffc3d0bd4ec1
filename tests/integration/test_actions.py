"""Pending actions: asked once, approved once by one person, carried out exactly, ended in time (DESIGN 7, Consent)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connection
from pydantic import JsonValue

from agents.action_items import action_items, open_actions
from agents.actions import asking, running
from agents.actions.closing import actions_superseded
from agents.actions.expiring import actions_expire
from agents.actions.services import action_approve, action_decline
from agents.models.actions import PendingAction
from agents.models.turns import Call
from agents.tools import gate
from agents.tools.contract import NotDone, ToolContext, tool
from agents.tools.frozen import carry_out_step
from agents.turns import boundary
from agents.turns.start import start_next
from agents.waiting import actions_for
from collab import commands
from collab.errors import AlreadyYours, CollabError, Gone, Invalid
from collab.log import thread_locked
from collab.models.threads import Event
from collab.services.threads import thread_archive
from collab.services.workspaces import member_role_set
from permissions.errors import NotFound, PermissionsError, Refused
from permissions.roles import Role
from tests.support.cast import Desk, Someone, Studio
from tests.support.tools import registered
from tests.support.turns import Puppet, posts, replies, staged, took, turns, types, until
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = 60.0
sent: list[str] = []


@tool(effect="write", permission="", consent="always", keyed=True, label="Send flowers")
async def send_flowers(ctx: ToolContext, to: str) -> JsonValue:
    """Send flowers."""
    if to == "nobody":
        raise NotDone("Nobody lives there.")
    sent.append(to)
    return {"to": to}


@tool(effect="write", permission="", consent="never", label="Ring bell")
async def ring_bell(ctx: ToolContext) -> JsonValue:
    """Ring the bell."""
    sent.append("bell")
    return None


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    sent.clear()
    with registered(send_flowers, ring_bell):
        yield


def asked(studio: Studio, *to: str) -> PendingAction:
    """Have Robin ask Ana for consent to flowers for some, and then the bell."""
    posts(studio.ana, studio.thread, "flowers please")
    robin = Worker.begins(studio)
    for one in to or ("Sam",):
        robin.calls("send_flowers", to=one)
    robin.calls("ring_bell")
    robin.ends("It waits for you.")
    return PendingAction.objects.order_by("-number").get(turn=robin.turn)


def carried_out(studio: Studio) -> None:
    """Let a runner carry out what was approved."""
    with staged() as stage:
        stage.wake(studio.thread)
        until(lambda: [turn.status for turn in turns(studio.thread) if turn.trigger == "approval"] == ["completed"])


def outcomes(action: PendingAction) -> list[tuple[str | None, str]]:
    ids = [step["call"] for step in action.steps]
    found = {str(call.pk): (call.outcome, call.reason) for call in Call.objects.filter(pk__in=ids)}
    return [found[id] for id in ids]


def test_a_turns_waiting_calls_become_one_action_with_every_later_write_of_it(studio: Studio):
    action = asked(studio)
    assert (action.number, action.state, action.addressee) == (1, "open", studio.ana.actor)
    assert action.text == "A1 (from Ana): Send flowers: to: Sam; then Ring bell. Approve within 10 minutes?"
    assert outcomes(action) == [("pending_confirmation", "consent")] * 2
    assert sent == []
    assert types(studio.thread)[-3:] == ["action_asked", "message_posted", "turn_ended"]


def test_an_approved_action_runs_its_steps_in_a_fresh_turn_for_its_approver(studio: Studio, puppet: Puppet):
    action = asked(studio)
    puppet.says("The flowers were sent.")
    action_approve(actor=studio.ana.actor, action=action.id)
    carried_out(studio)
    turn = turns(studio.thread)[1]
    assert (turn.trigger, turn.origin, turn.on_behalf_of) == ("approval", studio.ana.actor, studio.ana.actor)
    assert turn.root_id == turn.id
    assert outcomes(action) == [("done", ""), ("done", "")]
    assert sent == ["Sam", "bell"]
    action.refresh_from_db()
    assert action.approved_turn_id == turn.id
    assert "1. Send flowers" in puppet.asked.get().words


def test_a_step_that_is_not_done_ends_the_action_and_the_rest_is_not_attempted(studio: Studio, puppet: Puppet):
    action = asked(studio, "Sam", "nobody", "Kim")
    puppet.says("Done.")
    action_approve(actor=studio.ana.actor, action=action.id)
    carried_out(studio)
    assert outcomes(action) == [
        ("done", ""), ("failed", "not_done"), ("not_attempted", "step_failed"), ("not_attempted", "step_failed"),
    ]  # fmt: skip
    assert sent == ["Sam"]


def test_every_call_of_the_report_is_refused(studio: Studio, puppet: Puppet):
    action = asked(studio)
    puppet.calls("send_flowers", to="Mallory")
    puppet.says("Done.")
    action_approve(actor=studio.ana.actor, action=action.id)
    carried_out(studio)
    assert Call.objects.get(turn=turns(studio.thread)[-1]).reason == "report_only"
    assert sent == ["Sam", "bell"]


def test_a_second_approval_is_told_of_the_first(studio: Studio):
    action = asked(studio)
    action_approve(actor=studio.ana.actor, action=action.id)
    with pytest.raises(AlreadyYours, match="Ana approved A1 at"):
        action_approve(actor=studio.ana.actor, action=action.id)
    with pytest.raises(Gone):
        action_decline(actor=studio.ana.actor, action=action.id)


def test_of_twenty_parallel_approvals_one_wins(studio: Studio):
    action = asked(studio)

    def approve(_: int) -> bool:
        try:
            action_approve(actor=studio.ana.actor, action=action.id)
        except CollabError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(approve, range(20))) == 1
    assert types(studio.thread).count("action_resolved") == 1


def test_nobody_but_the_addressee_in_person_decides(studio: Studio, zoe: Someone, desk: Desk):
    posts(studio.ben, studio.thread, "flowers please")
    robin = Worker.begins(studio)
    robin.calls("send_flowers", to="Sam")
    robin.ends()
    action = PendingAction.objects.get()
    others = [
        studio.ana.actor, studio.vera.actor, zoe.actor, desk.acting_for(studio.ben), desk.acting_for(None),
        studio.robin.acting_for(studio.ben, studio.thread),
    ]  # fmt: skip
    for actor in others:
        for decide in (action_approve, action_decline):
            with pytest.raises(PermissionsError):
                decide(actor=actor, action=action.id)
    action.refresh_from_db()
    assert action.state == "open"
    with pytest.raises(Refused, match="Only Ben may approve or decline A1"):
        action_approve(actor=studio.ana.actor, action=action.id)
    with pytest.raises(NotFound):
        action_approve(actor=zoe.actor, action=uuid4())


@pytest.mark.parametrize(
    "body",
    [{}, {"action": None}, {"action": "A1"}, {"action": "00000000-0000-7000-8000-000000000001", "yes": True}],
    ids=str,
)
def test_a_decision_that_names_no_action_leaves_it_open(studio: Studio, body: dict):
    action = asked(studio)
    with pytest.raises(Invalid):
        commands.run(studio.ana.actor, "action_approve", uuid4().hex, body)
    action.refresh_from_db()
    assert action.state == "open"


@pytest.mark.parametrize("late", [10 * MINUTE, 11 * MINUTE])
def test_an_action_is_not_approved_once_its_time_is_over(studio: Studio, clock, late: float):
    action = asked(studio)
    clock(late)
    with pytest.raises(Gone, match=r"A1 expired at \d\d:\d\d UTC\."):
        action_approve(actor=studio.ana.actor, action=action.id)
    assert actions_expire() == 1
    action.refresh_from_db()
    assert action.state == "expired"
    assert outcomes(action) == [("not_attempted", "expired")] * 2
    assert actions_expire() == 0


def test_a_declined_action_runs_nothing_and_says_why(studio: Studio):
    action = asked(studio)
    action_decline(actor=studio.ana.actor, action=action.id, reason="Not now.")
    action.refresh_from_db()
    assert (action.state, action.reason) == ("declined", "Not now.")
    assert outcomes(action) == [("refused", "declined")] * 2
    assert start_next(studio.thread.id) is None
    assert sent == []


def test_yes_in_the_chat_approves_nothing(studio: Studio):
    action = asked(studio)
    posts(studio.ana, studio.thread, "yes, approve A1")
    Worker.begins(studio).ends("I cannot.")
    action.refresh_from_db()
    assert action.state == "open"
    assert sent == []


def test_an_approver_who_lost_the_thread_starts_nothing(studio: Studio):
    posts(studio.ben, studio.thread, "flowers please")
    robin = Worker.begins(studio)
    robin.calls("send_flowers", to="Sam")
    robin.ends()
    action = PendingAction.objects.get()
    action_approve(actor=studio.ben.actor, action=action.id)
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    assert start_next(studio.thread.id) is None
    assert outcomes(action) == [("refused", "forbidden")]
    assert start_next(studio.thread.id) is None
    assert list(open_actions(studio.thread.id)) == []


def test_an_approved_action_whose_turn_does_not_start_in_time_expires(studio: Studio, clock):
    action = asked(studio)
    action_approve(actor=studio.ana.actor, action=action.id)
    clock(10 * MINUTE)
    assert start_next(studio.thread.id) is None
    action.refresh_from_db()
    assert action.state == "expired"
    assert outcomes(action) == [("not_attempted", "expired")] * 2


def test_an_archived_thread_supersedes_its_actions(studio: Studio):
    action = asked(studio)
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    with pytest.raises(Gone):
        action_approve(actor=studio.ana.actor, action=action.id)
    assert actions_expire() == 1
    action.refresh_from_db()
    assert action.state == "superseded"


def test_an_approved_action_comes_before_what_waits_and_takes_none_of_it(studio: Studio):
    action = asked(studio)
    posts(studio.ben, studio.thread, "me next")
    action_approve(actor=studio.ana.actor, action=action.id)
    started = start_next(studio.thread.id)
    assert started is not None
    assert (started.turn.trigger, took(started.turn)) == ("approval", [])
    approval = Event.objects.get(thread=studio.thread, type="action_resolved")
    studio.workspace.refresh_from_db()
    assert 0 < approval.grants_epoch == studio.workspace.grants_epoch


def test_while_a_question_is_open_the_steps_are_told_without_the_model(studio: Studio, puppet: Puppet):
    action = asked(studio)
    posts(studio.ana, studio.thread, "which day?")
    Worker.begins(studio).steps("ask_person", question="Which day?")
    action_approve(actor=studio.ana.actor, action=action.id)
    carried_out(studio)
    assert sent == ["Sam", "bell"]
    assert puppet.asked.empty()
    assert replies(studio.thread)[-1]
    assert turns(studio.thread)[1].status == "paused"


def test_a_turn_that_fails_asks_for_nothing(studio: Studio):
    posts(studio.ana, studio.thread, "flowers please")
    robin = Worker.begins(studio)
    robin.calls("send_flowers", to="Sam")
    boundary.fail(robin.work, reason="limit", because="Its time was up.")
    assert not PendingAction.objects.exists()
    assert Call.objects.get().outcome == "not_attempted"


def test_a_crash_between_two_steps_does_neither_again(studio: Studio, puppet: Puppet, clock):
    action = asked(studio, "Sam", "Kim")
    action_approve(actor=studio.ana.actor, action=action.id)
    first = Worker.begins(studio)
    frozen, row = running._steps(first.turn)[0]
    async_to_sync(carry_out_step)(first.work, row, frozen)
    assert sent == ["Sam"]
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    puppet.says("Done.")
    with staged() as stage:
        stage.wake(studio.thread)
        until(lambda: turns(studio.thread)[-1].status == "completed")
    last = turns(studio.thread)[-1]
    assert (last.trigger, last.continues_id, last.root_id) == ("approval", first.turn.id, first.turn.id)
    assert sent == ["Sam", "Kim", "bell"]
    assert outcomes(action) == [("done", "")] * 3


def test_a_keyed_step_that_a_crash_left_sent_is_sent_again_with_its_key(studio: Studio, puppet: Puppet, clock):
    action = asked(studio)
    action_approve(actor=studio.ana.actor, action=action.id)
    first = Worker.begins(studio)
    row = Call.objects.get(pk=action.steps[0]["call"])
    key, row.carried_by = row.key, first.turn
    gate._store_sent(first.work, gate.Made(row, send_flowers, send_flowers.args(to="Sam"), frozen=True))
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    puppet.says("Done.")
    with staged() as stage:
        stage.wake(studio.thread)
        until(lambda: turns(studio.thread)[-1].status == "completed")
    assert sent == ["Sam", "bell"]
    assert Call.objects.get(pk=row.pk).key == key
    assert outcomes(action) == [("done", "")] * 2


def test_a_later_action_for_the_same_subject_supersedes_the_open_one(studio: Studio, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(asking, "_subject", lambda turn: "restaurant:reservation R1")
    first, second = asked(studio), asked(studio)
    first.refresh_from_db()
    assert (first.state, first.reason) == ("superseded", "A2 asks about the same, later.")
    assert outcomes(first) == [("not_attempted", "superseded")] * 2
    assert (second.number, second.state) == (2, "open")


def test_the_twenty_first_open_action_is_refused(studio: Studio):
    for _ in range(20):
        asked(studio)
    posts(studio.ana, studio.thread, "once more")
    robin = Worker.begins(studio)
    robin.calls("send_flowers", to="Sam")
    robin.ends()
    assert Call.objects.get(turn=robin.turn).reason == "too_many_actions"
    assert PendingAction.objects.count() == 20


def test_everyone_reads_the_question_and_its_addressee_alone_may_answer(studio: Studio):
    action = asked(studio)
    mine, theirs = (action_items(who.actor, [action.id])[0] for who in (studio.ana, studio.ben))
    assert mine["title"] == theirs["title"] == "Robin asks Ana to approve 2 steps"
    assert [step["text"] for step in theirs["steps"]] == ["Send flowers: to: Sam", "Ring bell"]
    assert mine["may"]["approve"] == {"ok": True, "because": "A1 is addressed to you."}
    assert theirs["may"]["approve"] == {"ok": False, "because": "Only Ana may answer A1."}


def test_an_open_action_waits_in_the_inbox_of_its_addressee_alone(studio: Studio, clock):
    action = asked(studio)
    assert [found.pk for found in actions_for(studio.ana.actor)] == [action.id]
    assert not actions_for(studio.ben.actor)
    clock(10 * MINUTE)
    assert not actions_for(studio.ana.actor)


def test_what_a_revised_turn_asked_for_is_superseded_and_what_another_asked_for_stays_open(studio: Studio):
    revised, other = asked(studio), asked(studio, "Jon")
    with thread_locked(studio.thread.id) as locked:
        actions_superseded(locked, revised.turn, because="What was asked changed.")
    revised.refresh_from_db()
    other.refresh_from_db()
    assert (revised.state, other.state) == ("superseded", "open")
    assert outcomes(revised) == [("not_attempted", "superseded")] * 2
    assert outcomes(other) == [("pending_confirmation", "consent")] * 2
