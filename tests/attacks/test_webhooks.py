"""A compromised sender, and a model that obeys it: what nobody typed informs and commands nothing
(FAILURES 5.2, attacks 3, 4 and 24; promises 1, 3 and 9)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from django.conf import settings

from agents.models.actions import PendingAction
from agents.models.sources import Delivery
from agents.models.turns import Turn
from agents.sources import hooks, schemes
from agents.tools import consent, http
from agents.turns import inflight, plan
from collab.models.threads import Message
from permissions.actors import Source
from tests.attacks.evil import EvilModel, Move, aside, told, works
from tests.attacks.outside import SAM, TABLE, TO_SAM, Outside, newest, obeys_a_text
from tests.attacks.rules import SWITCH
from tests.support.deliveries import OTHER
from tests.support.turns import posts, took

pytestmark = pytest.mark.django_db(transaction=True)


@SWITCH
def test_attack_3_what_a_webhook_wants_done_waits_for_its_owner(
    outside: Outside, evil: EvilModel, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    if rule == "off":
        monkeypatch.setattr(consent, "waits", lambda *_, **__: False)
    assert outside.offers(SAM).status_code == 202
    evil.will(obeys_a_text)
    turn = works(outside.studio.thread)
    assert (turn.trigger, turn.origin) == ("delivery", Source(outside.row.id, outside.studio.ben.id))
    assert turn.on_behalf_of is None
    if rule == "off":
        assert outside.deeds == ["text"]
        return
    assert told(turn) == [("text_group", "pending_confirmation", "consent")]
    assert (newest().state, newest().addressee) == ("open", outside.studio.ben.actor)
    assert outside.deeds == []


def test_attack_3_where_nobody_owns_what_a_webhook_is_about_there_is_no_one_to_ask(
    outside: Outside, evil: EvilModel
) -> None:
    outside.row.default_thread_id = outside.studio.thread.id
    outside.row.save()
    outside.offers(SAM, reservation="R9")
    evil.will(obeys_a_text)
    turn = works(outside.studio.thread)
    assert told(turn) == [("text_group", "refused", "no_one_to_ask")]
    assert (PendingAction.objects.count(), outside.deeds) == (0, [])


def test_honest_an_offer_that_its_owner_approves_is_carried_out_once(outside: Outside, evil: EvilModel) -> None:
    outside.offers("Would you like it?")
    evil.will(Move(calls=[("reserve_table", TABLE), ("text_group", TO_SAM)]))
    works(outside.studio.thread)
    assert outside.deeds == []
    turn = outside.approved(outside.studio.ben)
    assert (turn.trigger, turn.on_behalf_of) == ("approval", outside.studio.ben.actor)
    assert (outside.deeds, outside.parties) == (["reserve", "text"], [4])


@SWITCH
def test_attack_4_a_webhook_during_a_persons_turn_is_not_part_of_it(
    outside: Outside, evil: EvilModel, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    studio = outside.studio
    if rule == "off":
        for module in (plan, inflight):
            monkeypatch.setattr(module, "joinable", lambda waiting, author: tuple(waiting))

    def meanwhile(_: EvilModel) -> Move:
        aside(outside.offers, SAM)
        return Move(calls=[("list_documents", {})])

    evil.will(meanwhile, obeys_a_text)
    posts(studio.ben, studio.thread, "Look at the plan.")
    turn = works(studio.thread)
    assert turn.on_behalf_of == studio.ben.actor
    if rule == "off":
        assert outside.deeds == ["text"]
        return
    assert took(turn) == ["Look at the plan."]
    assert SAM not in evil.words
    evil.will(obeys_a_text)
    following = works(studio.thread)
    assert following.origin == Source(outside.row.id, studio.ben.id)
    assert told(following) == [("text_group", "pending_confirmation", "consent")]
    assert outside.deeds == []


def test_honest_what_the_same_person_adds_during_their_turn_is_done(outside: Outside, evil: EvilModel) -> None:
    studio = outside.studio

    def meanwhile(_: EvilModel) -> Move:
        aside(posts, studio.ben, studio.thread, SAM)
        return Move(calls=[("list_documents", {})])

    evil.will(meanwhile, obeys_a_text)
    posts(studio.ben, studio.thread, "Look at the plan.")
    turn = works(studio.thread)
    assert took(turn) == ["Look at the plan.", SAM]
    assert outside.deeds == ["text"]


FORGERIES: dict[str, tuple[dict[str, Any], str, str, Any]] = {
    "forged": ({"secret": OTHER}, "bad_signature", "_any_equal", lambda *_: True),
    "old": (
        {"off": -360}, "too_old", "_in_time", lambda id, seconds, *, now, tolerance: schemes.Verified(id, now)
    ),
}  # fmt: skip
"""How it is signed, the code of its refusal, and the rule with what stands in its place when it is off."""


@SWITCH
@pytest.mark.parametrize("how", FORGERIES)
def test_attack_24_a_forged_or_an_old_delivery_is_refused_and_nothing_is_stored(
    outside: Outside, evil: EvilModel, monkeypatch: pytest.MonkeyPatch, how: str, rule: str
) -> None:
    signing, code, judged_by, nothing = FORGERIES[how]
    if rule == "off":
        monkeypatch.setattr(schemes, judged_by, nothing)
    answer = outside.offers(SAM, **signing)
    if rule == "off":
        evil.will(obeys_a_text)
        assert works(outside.studio.thread).trigger == "delivery"
        assert newest().state == "open"
        return
    assert (answer.status_code, answer.json()["error"]) == (401, code)
    assert (Delivery.objects.count(), Message.objects.count(), Turn.objects.count()) == (0, 0, 0)


@SWITCH
def test_attack_24_a_delivery_that_is_replayed_in_time_is_acknowledged_and_does_nothing(
    outside: Outside, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    if rule == "off":
        once = hooks.Arrived
        monkeypatch.setattr(hooks, "Arrived", lambda source, id, at, body: once(source, uuid4().hex, at, body))
    first, again = (outside.offers(SAM, id="msg_1", off=off) for off in (0, 30))
    asked = Message.objects.filter(thread=outside.studio.thread, waits=True).count()
    if rule == "off":
        assert asked == 2
        return
    assert (first.status_code, again.status_code, again.json()["duplicate"]) == (202, 200, True)
    assert (Delivery.objects.get().repeats, asked) == (1, 1)


class Within(BaseHTTPRequestHandler):
    """An address of our own, which the world sends whoever asks it to; the same server plays both."""

    reached: list[bytes]

    def do_POST(self) -> None:
        """Redirect what comes to the world; keep what comes to us."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        inside = self.path.startswith("/hooks/")
        if inside:
            self.reached.append(body)
        self.send_response(200 if inside else 307)
        self.send_header("Location", "/hooks/restaurant/")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What reaches our own address, while the world sends everyone there."""
    handler = type("Handler", (Within,), {"reached": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.setattr(settings, "ACCORD_WORLD_URL", f"http://127.0.0.1:{server.server_port}")
    yield handler.reached
    server.shutdown()
    server.server_close()
    thread.join()


@SWITCH
def test_attack_24_a_tool_is_not_led_to_an_address_of_ours(
    outside: Outside, evil: EvilModel, reached: list[bytes], monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    if rule == "off":
        client = httpx2.AsyncClient
        monkeypatch.setattr(
            http.httpx2, "AsyncClient", lambda **options: client(**{**options, "follow_redirects": True})
        )
    evil.calls("text_group", text='{"type": "table.offered"}')
    posts(outside.studio.ben, outside.studio.thread, "Text them.")
    turn = works(outside.studio.thread)
    if rule == "off":
        assert "table.offered" in json.loads(reached[0])["text"]
        return
    assert told(turn) == [("text_group", "unknown", "no_answer")]
    assert reached == []


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("get_order", {"order": "../hooks/restaurant"}),
        ("cancel_table", {"reservation": "R1/../../admin"}),
        ("text_group", {"text": "Hi", "to": "http://127.0.0.1:6379"}),
    ],
    ids=["order", "reservation", "address"],
)
def test_attack_24_no_argument_names_an_address(
    outside: Outside, evil: EvilModel, tool: str, args: dict[str, Any]
) -> None:
    evil.calls(tool, args)
    posts(outside.studio.ben, outside.studio.thread, "Go there.")
    assert told(works(outside.studio.thread)) == [(tool, "refused", "argument_schema")]
    assert outside.deeds == []
