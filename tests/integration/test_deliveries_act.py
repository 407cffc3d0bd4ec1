"""What becomes of deliveries once they are stored: where they go, once, and what they make moot (DESIGN 8)."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from agents.models.sources import Delivery, Source
from agents.models.timers import Timer
from agents.models.turns import Turn
from agents.sources import acting, handlers
from agents.sources.acting import delivered, delivery_act, left_over, left_over_acted_on
from agents.sources.handlers import read_body
from agents.sources.handling import Read, Unreadable
from agents.sources.services import delivery_route
from agents.turns.start import start_next
from collab.errors import Busy
from collab.models.threads import Event, Message, Thread
from collab.services.threads import thread_archive, thread_create
from collab.services.workspaces import member_role_set
from permissions.actors import Source as Sender
from permissions.roles import Role
from tests.support.deliveries import source
from tests.support.scene import scene
from tests.support.senders import routed, sets, stored
from tests.support.turns import posts, types

pytestmark = pytest.mark.django_db


def acted(delivery: Delivery) -> Delivery:
    """Act on a delivery, and return it."""
    found = delivery_act(delivery=delivery.id)
    assert found is not None
    return found


def messages(studio, **filters):
    return list(Message.objects.filter(thread=studio.thread, **filters).order_by("seq"))


def test_a_notice_is_shown_at_once_and_asks_for_nothing(studio):
    restaurant = source(studio)
    routed(restaurant, "reservation R1", studio.thread, studio.ana)
    found = acted(stored(restaurant, subject="reservation R1", text="The kitchen is closed."))
    (notice,) = messages(studio)
    assert (notice.kind, notice.content, notice.waits) == ("notice", "The kitchen is closed.", False)
    assert notice.author == Sender(restaurant.id, studio.ana.id)
    assert (found.state, found.message_id, found.thread_id) == ("acted", notice.id, studio.thread.id)
    assert types(studio.thread)[-2:] == ["message_posted", "delivery_admitted"]
    assert start_next(studio.thread.id) is None


def test_a_notice_is_shown_during_a_turn_and_cuts_nothing(studio):
    restaurant = source(studio, default_thread_id=studio.thread.id)
    posts(studio.ana, studio.thread, "raise the budget")
    started = start_next(studio.thread.id)
    acted(stored(restaurant))
    posts(studio.ana, studio.thread, "to 950")
    assert started is not None
    assert [message.kind for message in messages(studio)] == ["message", "notice", "message"]
    assert Turn.objects.get().status == "running"


def test_what_asks_is_a_message_of_the_source_that_waits_for_a_turn(studio):
    restaurant = source(studio)
    routed(restaurant, "reservation R1", studio.thread, studio.ana)
    acted(stored(restaurant, subject="reservation R1", asks=True))
    (message,) = messages(studio)
    assert (message.kind, message.waits) == ("message", True)
    assert message.author == Sender(restaurant.id, studio.ana.id)


def test_a_delivery_is_acted_on_once_however_often(studio):
    restaurant = source(studio, default_thread_id=studio.thread.id)
    delivery = stored(restaurant, asks=True)
    delivered([delivery.id, delivery.id])
    acted(delivery)
    assert len(messages(studio)) == 1
    assert types(studio.thread).count("delivery_admitted") == 1


def test_what_matches_no_route_goes_to_the_default_thread_for_no_one(studio):
    restaurant = source(studio, default_thread_id=studio.thread.id)
    acted(stored(restaurant, subject="reservation R9"))
    assert messages(studio)[0].author == Sender(restaurant.id)


def test_without_route_and_default_it_waits_and_says_why(studio):
    found = acted(stored(source(studio), subject="reservation R9"))
    assert found.state == "unroutable"
    assert found.reason == "Nothing here is known as “reservation R9” yet, and Restaurant has no default thread."
    assert messages(studio) == []


def test_what_names_nothing_waits_and_says_so(studio):
    assert acted(stored(source(studio))).reason == (
        "It names nothing that a thread is known by, and Restaurant has no default thread."
    )


def test_a_delivery_that_came_before_its_route_is_acted_on_when_the_route_appears(studio):
    restaurant = source(studio)
    early, other = stored(restaurant, subject="reservation R1"), stored(restaurant, "msg_2", subject="reservation R12")
    delivered([early.id, other.id])
    assert left_over() == []
    routed(restaurant, "reservation R1", studio.thread)
    assert left_over() == [early.id]
    delivered(left_over())
    assert [message.client_id for message in messages(studio)] == [f"delivery:{early.id}"]
    assert left_over() == []


def test_a_delivery_of_a_process_that_died_is_acted_on_by_the_sweep(studio, clock):
    delivery = stored(source(studio, default_thread_id=studio.thread.id))
    assert left_over() == []
    clock(6)
    assert left_over() == [delivery.id]
    delivered(left_over())
    assert len(messages(studio)) == 1


def test_a_route_of_another_source_is_none(studio):
    cinema = source(studio, "cinema")
    routed(cinema, "reservation R1", studio.thread)
    assert acted(stored(source(studio), subject="reservation R1")).state == "unroutable"


@pytest.mark.parametrize(
    ("raw", "because"),
    [
        (b"\xff", "Its body is not UTF-8."),
        (b"{", "Its body is no JSON"),
        (b"[]", "Its body is no JSON object."),
        (b'{"type": "x"}', "Its 'text' is not text."),
        (b'{"type": "x", "text": "  "}', "Its 'text' is empty."),
        (b'{"type": "x", "text": "a", "asks": "yes"}', "Its 'asks' is neither true nor false."),
        (b'{"type": "x", "text": "a", "moot": "film F1"}', "Its 'moot' is no list"),
        (b'{"type": "x", "text": "a", "gone": [1]}', "Its 'gone' holds something"),
        (b'{"type": "x", "text": "a\\u0000"}', "Its body is no JSON"),
        (b'{"type": "x", "type": "y", "text": "a"}', "Its body is no JSON"),
        (b"[" * 5_000, "Its body is no JSON"),
        (b'{"type": "x", "text": "\\u200b"}', "The message"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_signed_and_unreadable_is_kept_as_unroutable(studio, raw, because):
    found = acted(stored(source(studio, default_thread_id=studio.thread.id), raw=raw))
    assert found.state == "unroutable"
    assert because in found.reason
    assert messages(studio) == []


def test_a_handler_that_is_gone_leaves_the_delivery_to_people(studio):
    restaurant = source(studio, default_thread_id=studio.thread.id)
    Source.objects.filter(pk=restaurant.id).update(handler="nothing")
    found = acted(stored(restaurant))
    assert found.reason == "There is no handler 'nothing'."


def test_no_handler_gets_more_past_than_may_be_stored(monkeypatch):
    read = Read("x", "a", "notice", subjects=("s" * 201,))
    monkeypatch.setitem(handlers.HANDLERS, "wild", lambda body: read)
    with pytest.raises(Unreadable, match="too long"):
        read_body("wild", b"{}")


def test_an_archived_thread_takes_nothing_and_the_delivery_says_so(studio):
    restaurant = source(studio, default_thread_id=studio.thread.id)
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    found = acted(stored(restaurant))
    assert (found.state, found.reason) == ("superseded", "Launch dinner is archived.")
    assert messages(studio) == []


def test_the_delivery_of_an_owner_who_is_inactive_waits_for_people(studio):
    restaurant = source(studio)
    routed(restaurant, "reservation R1", studio.thread, studio.ben)
    studio.ben.user.is_active = False
    studio.ben.user.save()
    found = acted(stored(restaurant, subject="reservation R1"))
    assert (found.state, found.reason) == ("unroutable", "Ben may not view Launch dinner: Ben is inactive.")
    assert messages(studio) == []
    assert left_over() == []


def test_a_delivery_routed_by_hand_is_whose_routed_it(studio, django_capture_on_commit_callbacks):
    delivery = acted(stored(source(studio), asks=True))
    with django_capture_on_commit_callbacks(execute=True):
        delivery_route(actor=studio.ana.actor, delivery=delivery.id, thread=studio.thread.id)
    (message,) = messages(studio)
    assert message.author == Sender(delivery.source_id, studio.ana.id)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.routed_by) == ("acted", studio.ana.actor)


def test_what_no_thread_can_keep_waits_and_is_routed_anew_when_it_is_acted_on_again(studio):
    restaurant = source(studio)
    routed(restaurant, "reservation R1", studio.thread, studio.ana)
    found = acted(stored(restaurant, subject="reservation R1", text="\u200b"))
    assert (found.state, found.thread_id, found.message_id) == ("unroutable", None, None)
    assert found.reason
    assert messages(studio) == []


def test_a_thread_without_an_agent_is_told_what_it_cannot_be_asked(studio):
    bare = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="People")
    Thread.objects.filter(pk=bare.id).update(agent_id=None)
    acted(stored(source(studio, default_thread_id=bare.id), asks=True))
    message = Message.objects.get(thread=bare)
    assert (message.kind, message.waits) == ("notice", False)


def test_a_full_queue_leaves_the_delivery_stored(studio, monkeypatch):
    restaurant = source(studio, default_thread_id=studio.thread.id)
    monkeypatch.setattr(acting, "MOST_WAITING", 1)
    posts(studio.ana, studio.thread, "raise the budget")
    delivery = stored(restaurant, asks=True)
    assert acted(delivery).state == "stored"
    monkeypatch.setattr(acting, "MOST_WAITING", 2)
    assert acted(delivery).state == "acted"


def test_deliveries_that_wait_for_room_keep_no_other_out(studio, monkeypatch):
    monkeypatch.setattr(acting, "MOST_WAITING", 1)
    monkeypatch.setattr(acting, "AT_ONCE", 2)
    restaurant = source(studio, default_thread_id=studio.thread.id)
    posts(studio.ana, studio.thread, "raise the budget")
    stuck = [stored(restaurant, f"asks_{number}", asks=True) for number in range(2)]
    tells = [stored(restaurant, f"tells_{number}", text=f"Notice {number}.") for number in range(3)]
    for _ in range(3):
        left_over_acted_on(older_than=timedelta(0))
    assert {found.state for found in Delivery.objects.filter(pk__in=[one.pk for one in tells])} == {"acted"}
    assert set(left_over(older_than=timedelta(0))) == {one.pk for one in stuck}
    monkeypatch.setattr(acting, "MOST_WAITING", 3)
    left_over_acted_on(older_than=timedelta(0))
    assert left_over(older_than=timedelta(0)) == []


def test_deliveries_whose_route_leads_to_a_full_thread_keep_no_other_out(studio, monkeypatch):
    monkeypatch.setattr(acting, "MOST_WAITING", 1)
    monkeypatch.setattr(acting, "AT_ONCE", 1)
    restaurant = source(studio)
    posts(studio.ana, studio.thread, "raise the budget")
    early = [stored(restaurant, f"msg_{asks}", subject="reservation R1", asks=asks) for asks in (True, False)]
    delivered([one.pk for one in early])
    routed(restaurant, "reservation R1", studio.thread, studio.ana)
    for _ in range(2):
        left_over_acted_on()
    assert [acted(one).state for one in early] == ["unroutable", "acted"]


def test_what_breaks_off_leaves_the_delivery_stored_until_it_was_tried_often(studio, monkeypatch):
    def breaks(*_, **__):
        raise Busy("not now")

    delivery = stored(source(studio, default_thread_id=studio.thread.id), moot=["film F1"])
    monkeypatch.setattr(acting, "timers_moot", breaks)
    delivered([delivery.id])
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("stored", 1)
    for _ in range(acting.MOST_ATTEMPTS - 1):
        delivered([delivery.id])
    delivery.refresh_from_db()
    assert (delivery.state, messages(studio)) == ("unroutable", [])


def test_a_timer_about_what_is_moot_is_superseded(studio):
    cinema = source(studio, "cinema", default_thread_id=studio.thread.id)
    about, other = (
        sets(studio.ana, studio.thread, subject="film F1"),
        sets(studio.ana, studio.thread, subject="film F2"),
    )
    acted(stored(cinema, text="Film F1 is cancelled.", moot=["film F1"]))
    about.refresh_from_db()
    other.refresh_from_db()
    assert (about.state, about.reason) == ("superseded", "Cinema: Film F1 is cancelled.")
    assert about.ended_by == Sender(cinema.id)
    assert other.state == Timer.State.WAITING
    event = Event.objects.get(thread=studio.thread, type="timer_superseded")
    assert json.loads(event.data)["reason"] == "superseded"  # the log is for good, so what a source said is not in it


def test_a_timer_set_after_something_was_said_to_be_moot_is_about_what_came_later(studio):
    said = stored(source(studio, "cinema"), text="Film F1 is cancelled.", moot=["film F1"])
    later = sets(studio.ana, studio.thread, subject="film F1")
    acted(said)
    later.refresh_from_db()
    assert later.state == Timer.State.WAITING


def test_what_a_call_made_is_recorded_as_gone_once(studio):
    played = scene(studio)
    restaurant = source(studio)
    call = Turn.objects.filter(calls__isnull=False).first().calls.first()
    route = routed(restaurant, "reservation R1", call.turn.thread, studio.ana, call)
    for number in (1, 2):
        acted(stored(restaurant, f"msg_{number}", subject="reservation R1", gone=["reservation R1"]))
    call.refresh_from_db()
    assert call.gone_at is not None
    gone = Event.objects.filter(thread=route.thread, type="effect_gone")
    assert gone.count() == 1
    assert str(call.id) in gone.get().data
    assert played.ids["thread"] is not None


def test_what_asks_for_nothing_is_acted_on_and_says_nothing(studio, monkeypatch):
    monkeypatch.setitem(handlers.HANDLERS, "silent", lambda body: Read("ping", "", "ignore"))
    found = acted(stored(source(studio, handler="silent", default_thread_id=studio.thread.id)))
    assert (found.state, messages(studio)) == ("acted", [])


def test_deliveries_of_someone_who_lost_their_right_are_passed_over_and_say_so(studio):
    restaurant = source(studio)
    routed(restaurant, "reservation R1", studio.thread, studio.ben)
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    acted(stored(restaurant, subject="reservation R1", asks=True))
    assert start_next(studio.thread.id) is None
    (message,) = messages(studio)
    assert message.passed_over == "Ben may only view Launch dinner (Robin may start turns in it)."


def test_a_delivery_left_over_does_not_wait_longer_than_it_must(studio):
    delivery = stored(source(studio))
    assert left_over(older_than=timedelta(0)) == [delivery.id]
