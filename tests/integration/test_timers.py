"""Timers: set, fired once, late, repeated, superseded and cancelled (DESIGN 8; FAILURES D15)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agents.models.timers import Timer
from agents.models.turns import Call
from agents.timer_items import timer_items
from agents.timers import firing, services
from agents.timers.firing import due_timers, seconds_to_next, timer_fire, timers_fire
from agents.timers.services import timer_cancel, timer_set
from collab import commands
from collab.errors import Gone, Invalid
from collab.models.threads import Event, Message, Thread
from collab.reads import standing
from collab.services.threads import thread_archive
from collab.services.workspaces import member_remove
from permissions.actors import Source as Sender
from permissions.actors import System
from permissions.errors import NotFound, Refused
from tests.support.deliveries import source
from tests.support.scene import scene
from tests.support.senders import in_minutes, routed, sets, stored
from tests.support.turns import posts, types

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def again(timer: Timer) -> Timer:
    """Return a timer as it is now."""
    return Timer.objects.get(pk=timer.pk)


def said(studio) -> list[tuple[str, str]]:
    """Return what sources and timers posted: kind and text."""
    found = Message.objects.filter(thread=studio.thread, client_id__startswith="timer:").order_by("seq")
    return list(found.values_list("kind", "content"))


def test_a_timer_tells_people_at_its_moment_and_not_before(studio, clock):
    timer = sets(studio.ana, studio.thread, "Call the hall.")
    assert due_timers() == []
    assert 8 * MINUTE < timers_fire() <= 10 * MINUTE
    clock(10 * MINUTE)
    timers_fire()
    (notice,) = Message.objects.filter(thread=studio.thread)
    assert (notice.kind, notice.content, notice.waits) == ("notice", "Call the hall.", False)
    assert notice.author == Sender(timer.id, studio.ana.id)
    assert (again(timer).state, again(timer).fired) == ("fired", 1)
    assert types(studio.thread)[-3:] == ["timer_set", "message_posted", "timer_fired"]


def test_a_timer_that_asks_is_a_message_that_waits_for_a_turn(studio, clock):
    sets(studio.ana, studio.thread, "What is the budget?", does="asks")
    clock(10 * MINUTE)
    timers_fire()
    message = Message.objects.get(thread=studio.thread)
    assert (message.kind, message.waits) == ("message", True)


def test_a_moment_is_fired_once_however_many_find_it_due(studio, clock):
    timer = sets(studio.ana, studio.thread)
    clock(10 * MINUTE)
    first, second = timer_fire(timer=timer.id), timer_fire(timer=timer.id)
    assert (first is not None, second) == (True, None)
    assert len(said(studio)) == 1


def test_a_process_that_read_the_timer_before_another_fired_it_fires_nothing(studio, clock, monkeypatch):
    timer = sets(studio.ana, studio.thread, repeats="daily")
    clock(10 * MINUTE)
    stale = again(timer)
    timer_fire(timer=timer.id)
    monkeypatch.setattr(firing.Timer.objects, "get", lambda **_: stale)
    assert timer_fire(timer=timer.id) is None
    assert len(said(studio)) == 1


def test_what_is_late_says_how_late(studio, clock):
    timer = sets(studio.ana, studio.thread, "Call the hall.", zone="Europe/Berlin", minutes=24 * 60)
    local = datetime.strptime(timer.local, "%Y-%m-%dT%H:%M")
    clock(DAY + 5 * HOUR)
    timers_fire()
    kind, text = said(studio)[0]
    assert text == f"Call the hall.\n\n(Due {local:%Y-%m-%d at %H:%M} Europe/Berlin, {text.rsplit(', ')[-1]}"
    assert text.endswith(" hours ago.)")
    assert kind == "notice"


def test_a_repeating_timer_makes_up_once_for_what_it_missed_and_goes_on(studio, clock):
    timer = sets(studio.ana, studio.thread, repeats="daily")
    clock(3 * DAY + HOUR)
    timers_fire()
    timers_fire()
    assert len(said(studio)) == 1
    assert said(studio)[0][1].endswith("minutes ago.)")
    found = again(timer)
    assert (found.state, found.fired) == ("waiting", 1)
    assert found.due_at == timer.due_at + timedelta(days=4)
    clock(4 * DAY + HOUR)
    timers_fire()
    assert again(timer).fired == 2


@pytest.mark.parametrize("how", ["inactive", "removed"])
def test_the_timer_of_someone_who_is_gone_does_not_fire(studio, clock, how):
    timer = sets(studio.ben, studio.thread)
    if how == "inactive":
        studio.ben.user.is_active = False
        studio.ben.user.save()
    else:
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
    clock(10 * MINUTE)
    timers_fire()
    found = again(timer)
    assert (found.state, found.ended_by) == ("superseded", System())
    assert found.reason.startswith("Ben may not view Launch dinner")
    assert said(studio) == []


def test_the_timers_of_an_archived_thread_do_not_fire(studio, clock):
    timer = sets(studio.ana, studio.thread)
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    clock(10 * MINUTE)
    timers_fire()
    assert again(timer).reason == "Launch dinner was archived."


def test_what_a_source_said_is_moot_is_heard_before_a_timer_fires(studio, clock):
    timer = sets(studio.ana, studio.thread, subject="film F1")
    stored(source(studio, "cinema"), text="Film F1 is cancelled.", moot=["film F1"])
    clock(10 * MINUTE)
    timers_fire()
    assert (again(timer).state, said(studio)) == ("superseded", [])


def test_a_full_queue_keeps_a_timer_due(studio, clock, monkeypatch):
    monkeypatch.setattr(firing, "MOST_WAITING", 1)
    timer = sets(studio.ana, studio.thread, does="asks")
    posts(studio.ana, studio.thread, "raise the budget")
    clock(10 * MINUTE)
    assert timers_fire() == firing.AGAIN_SECONDS
    assert again(timer).state == "waiting"


def test_a_timer_that_breaks_off_keeps_no_other_from_firing(studio, clock):
    broken, other = sets(studio.ana, studio.thread, minutes=5), sets(studio.ana, studio.thread, "Call Sam.")
    Timer.objects.filter(pk=broken.pk).update(zone="Europe/Atlantis")
    clock(10 * MINUTE)
    timers_fire()
    assert (again(broken).state, again(other).state) == ("waiting", "fired")
    assert [text for _, text in said(studio)] == ["Call Sam."]


def test_timers_that_cannot_fire_yet_keep_no_other_from_firing(studio, clock, monkeypatch):
    monkeypatch.setattr(firing, "AT_ONCE", 2)
    monkeypatch.setattr(firing, "MOST_WAITING", 1)
    stuck = [sets(studio.ana, studio.thread, does="asks", minutes=5) for _ in range(2)]
    for text in ("one", "two", "three"):
        sets(studio.ana, studio.thread, text)
    posts(studio.ana, studio.thread, "raise the budget")
    clock(10 * MINUTE)
    waits = [timers_fire() for _ in range(3)]
    assert [text for _, text in said(studio)] == ["one", "two", "three"]
    assert waits == [0, 0, firing.AGAIN_SECONDS]
    monkeypatch.setattr(firing, "MOST_WAITING", 3)
    timers_fire()
    assert {again(timer).state for timer in stuck} == {"fired"}


def test_what_a_source_reported_gone_gets_no_timer_any_more(studio):
    scene(studio)
    call = Call.objects.filter(turn__thread__workspace_id=studio.workspace.id)[0]
    routed(source(studio), "reservation R1", call.turn.thread, studio.ana, call)
    assert sets(studio.ana, studio.thread, subject="reservation R1").state == "waiting"
    Call.objects.filter(pk=call.pk).update(gone_at=call.sent_at)
    with pytest.raises(Invalid, match=r"Restaurant reported that reservation R1 is gone, so a timer about it"):
        sets(studio.ana, studio.thread, subject="reservation R1")
    assert sets(studio.ana, studio.thread, subject="reservation R2").state == "waiting"


def test_a_timer_of_a_thread_whose_agent_left_tells_people(studio, clock):
    sets(studio.ana, studio.thread, does="asks")
    Thread.objects.filter(pk=studio.thread.id).update(agent_id=None)
    clock(10 * MINUTE)
    timers_fire()
    assert [kind for kind, _ in said(studio)] == ["notice"]


def test_the_owner_cancels_and_so_does_who_manages(studio):
    own, bens = sets(studio.ben, studio.thread), sets(studio.ben, studio.thread)
    timer_cancel(actor=studio.ben.actor, timer=own.id)
    timer_cancel(actor=studio.ana.actor, timer=bens.id)
    assert (again(own).state, again(own).reason, again(own).ended_by) == ("cancelled", "cancelled", studio.ben.actor)
    assert again(bens).ended_by == studio.ana.actor
    with pytest.raises(Gone, match="cancelled already"):
        timer_cancel(actor=studio.ben.actor, timer=own.id)


def test_a_cancelled_timer_does_not_fire(studio, clock):
    timer_cancel(actor=studio.ana.actor, timer=sets(studio.ana, studio.thread).id)
    clock(10 * MINUTE)
    timers_fire()
    assert said(studio) == []


def test_nobody_cancels_anothers_timer(studio, zoe):
    timer = sets(studio.ana, studio.thread)
    with pytest.raises(Refused, match="Only the person whose timer it is"):
        timer_cancel(actor=studio.ben.actor, timer=timer.id)
    with pytest.raises(NotFound):
        timer_cancel(actor=zoe.actor, timer=timer.id)
    assert again(timer).state == "waiting"


def test_an_agent_sets_and_cancels_timers_for_its_person_alone(studio):
    robin = studio.robin.acting_for(studio.ben, studio.thread)
    timer = timer_set(actor=robin, thread=studio.thread.id, text="Call.", at=in_minutes(10))
    assert (timer.owner, timer.set_by) == (studio.ben.actor, robin)
    anas = sets(studio.ana, studio.thread)
    with pytest.raises(Refused):
        timer_cancel(actor=robin, timer=anas.id)
    assert timer_cancel(actor=robin, timer=timer.id).state == "cancelled"


def test_what_acts_for_no_one_sets_no_timer(studio):
    robin = studio.robin.acting_for(None, studio.thread)
    with pytest.raises(Refused, match="acts for none"):
        timer_set(actor=robin, thread=studio.thread.id, text="Call.", at=in_minutes(10))
    assert not Timer.objects.exists()


def test_who_may_only_view_sets_none(studio, zoe):
    with pytest.raises(Refused, match="Vera may only view"):
        sets(studio.vera, studio.thread)
    with pytest.raises(NotFound):
        sets(zoe, studio.thread)


@pytest.mark.parametrize(
    ("changed", "because"),
    [
        ({"at": "2020-01-01T10:00"}, "has passed"),
        ({"at": "2020-01-01T10:00", "repeats": "daily"}, "has passed"),
        ({"at": "2099-01-01T10:00"}, "five years"),
        ({"at": "9999-12-31T23:59"}, "five years"),
        ({"at": "0001-01-01T00:00", "zone": "Asia/Kathmandu"}, "passed|no such moment"),
        ({"at": "9999-12-31T23:59", "zone": "America/New_York"}, "five years|no such moment"),
        ({"at": "soon"}, "like 2026-06-12T20:30"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"repeats": "hourly"}, "repeats never"),
        ({"does": "shouts"}, "does not 'shouts'"),
        ({"text": "  "}, "timer says"),
        ({"text": "a" * 2_001}, "timer says"),
        ({"text": "a\x00"}, "timer says"),
        ({"subject": "s" * 201}, "the subject"),
    ],
    ids=str,
)
def test_a_timer_that_cannot_be_is_refused(studio, changed, because):
    given = {"text": "Call.", "at": in_minutes(10), **changed}
    with pytest.raises(Invalid, match=rf"(?i){because}"):
        timer_set(actor=studio.ana.actor, thread=studio.thread.id, **given)
    assert not Timer.objects.exists()


def test_a_thread_holds_so_many_timers_and_no_more(studio, monkeypatch):
    monkeypatch.setattr(services, "MOST_WAITING", 2)
    kept = [sets(studio.ana, studio.thread), sets(studio.ana, studio.thread)]
    with pytest.raises(Invalid, match="2 timers wait"):
        sets(studio.ana, studio.thread)
    timer_cancel(actor=studio.ana.actor, timer=kept[0].id)
    assert sets(studio.ana, studio.thread).number == 3


def test_the_page_shows_the_timers_that_wait_with_who_may_cancel(studio):
    timer = sets(studio.ben, studio.thread, "Call the hall.", zone="UTC", repeats="weekly")
    assert ("timer", timer.id) in list(standing(studio.thread.id))
    seen = {
        name: timer_items(getattr(studio, name).actor, [timer.id])[0]["may_cancel"] for name in ("ana", "ben", "vera")
    }
    assert seen == {"ana": True, "ben": True, "vera": False}
    (item,) = timer_items(None, [timer.id])
    assert (item["text"], item["repeats"], item["owner"]["name"], item["may_cancel"]) == (
        "Call the hall.", "weekly", "Ben", False
    )  # fmt: skip
    timer_cancel(actor=studio.ben.actor, timer=timer.id)
    assert ("timer", timer.id) not in list(standing(studio.thread.id))


def test_timers_are_set_and_cancelled_by_command_once(studio):
    args = {"thread": str(studio.thread.id), "text": "Call.", "at": in_minutes(10)}
    first = commands.run(studio.ana.actor, "timer_set", "c1", args)
    assert commands.run(studio.ana.actor, "timer_set", "c1", args) == first
    assert Timer.objects.count() == 1
    ended = commands.run(studio.ana.actor, "timer_cancel", "c2", {"timer": first["timer"]})
    assert ended["state"] == "cancelled"


def test_the_log_says_who_set_a_timer_and_what_became_of_it(studio, clock):
    timer = sets(studio.ana, studio.thread)
    clock(10 * MINUTE)
    timers_fire()
    events = Event.objects.filter(thread=studio.thread, type__startswith="timer_").order_by("seq")
    assert [(event.type, event.actor) for event in events] == [
        ("timer_set", studio.ana.actor),
        ("timer_fired", Sender(timer.id, studio.ana.id)),
    ]


def test_how_long_to_the_next_is_read_from_the_database(studio, clock):
    assert seconds_to_next() == float("inf")
    timer = sets(studio.ana, studio.thread)
    left = (timer.due_at - datetime.now(UTC)).total_seconds()
    assert abs(seconds_to_next() - left) < 5
