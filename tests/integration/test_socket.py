"""The socket of a thread, spoken to as a browser does (DESIGN 9, docs/protocol.md)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from collab import commands, doorbell
from collab.db import in_db
from collab.models.threads import Message
from collab.protocol import Close
from collab.services.messages import message_post
from collab.services.workspaces import member_remove, member_role_set
from collab.web import accepting, hub
from permissions.roles import Role
from tests.support.cast import Someone, Studio
from tests.support.sockets import Sockets

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def sockets(studio: Studio) -> AsyncIterator[Sockets]:
    async with Sockets() as opened:
        yield opened


async def test_a_socket_is_welcomed_with_what_its_person_may_do(sockets: Sockets, studio: Studio) -> None:
    vera = await sockets.connect(studio.vera, studio.thread.id)
    await vera.hello()
    welcome = vera.seen[0]
    assert welcome["type"] == "welcome"
    assert welcome["viewer"]["name"] == "Vera"
    assert welcome["viewer"]["role"] == "viewer"
    assert welcome["viewer"]["may"]["comment"]["ok"] is False
    assert "Vera" in welcome["viewer"]["may"]["comment"]["because"]
    assert welcome["thread"]["title"] == "Launch dinner"
    assert welcome["running"] is None


async def test_a_socket_is_told_the_moment_by_the_databases_clock(
    sockets: Sockets, studio: Studio, clock: Callable[[float], None]
) -> None:
    clock(86_400)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.hello()
    ahead = datetime.fromisoformat(ana.seen[0]["at"]) - datetime.now(UTC)
    assert timedelta(hours=23) < ahead <= timedelta(days=1)


async def test_the_whole_log_is_sent_once_and_in_order(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    caught_up = await ana.hello()
    assert ana.seqs() == list(range(1, studio.thread.head_seq + 1))
    assert caught_up["seq"] == studio.thread.head_seq


async def test_a_post_reaches_everyone_with_its_text_and_is_acknowledged_once(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ana.hello(studio.thread.head_seq)
    await ben.hello(studio.thread.head_seq)
    answer = await ana.command("message_post", text="Dinner for *twelve*, please.")
    event = await ben.until("event", event="message_posted")
    assert answer["type"] == "result"
    assert answer["data"]["seq"] == event["seq"] == studio.thread.head_seq + 1
    assert event["actor"]["name"] == "Ana"
    (item,) = event["items"]
    assert item["text"] == "Dinner for *twelve*, please."
    assert "<em>twelve</em>" in item["html"]
    assert item["state"] == "waits"


async def test_a_command_sent_again_is_answered_and_not_repeated(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.hello(studio.thread.head_seq)
    first = await ana.command("message_post", id="once", text="Book the hall.")
    await ana.leave()
    back = await sockets.connect(studio.ana, studio.thread.id)
    again = await back.command("message_post", id="once", text="Book the hall.")
    other = await back.command("message_post", id="once", text="Book the barn.")
    assert again == first
    assert (other["type"], other["code"]) == ("refused", "command_id_reused")
    assert await in_db(Message.objects.count) == 1


async def test_commands_of_one_socket_are_carried_out_in_the_order_sent(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.hello(studio.thread.head_seq)
    for number in range(10):
        await ana.send(type="command", id=f"n{number}", name="message_post", args={"text": str(number)})
    answers = [await ana.until("result") for _ in range(10)]
    assert [answer["id"] for answer in answers] == [f"n{number}" for number in range(10)]
    seqs = [answer["data"]["seq"] for answer in answers]
    assert seqs == sorted(seqs)


async def test_a_refused_command_says_why_and_stores_nothing(sockets: Sockets, studio: Studio) -> None:
    vera = await sockets.connect(studio.vera, studio.thread.id)
    await vera.hello(studio.thread.head_seq)
    refused = await vera.command("message_post", id="mine", text="Hello?")
    assert (refused["type"], refused["code"]) == ("refused", "forbidden")
    assert "Vera" in refused["because"]
    assert await in_db(Message.objects.count) == 0
    await in_db(
        member_role_set, actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.vera.id, role=Role.EDITOR
    )
    again = await vera.command("message_post", id="mine", text="Hello?")
    assert again["type"] == "result"


async def test_a_command_of_another_thread_is_refused(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    answer = await ana.command("thread_rename", thread=str(uuid4()), title="Mine")
    assert (answer["type"], answer["code"]) == ("refused", "invalid")


async def test_a_handler_that_breaks_is_refused_and_the_socket_stays(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(actor: Any, args: Any) -> commands.Result:
        raise RuntimeError("no such luck")

    monkeypatch.setitem(commands.HANDLERS, "breaks", commands.Handler(commands.Args, broken))
    ana = await sockets.connect(studio.ana, studio.thread.id)
    answer = await ana.command("breaks")
    assert (answer["type"], answer["code"]) == ("refused", "failed")
    assert "no such luck" not in answer["because"]
    assert "no such luck" in caplog.text
    assert (await ana.command("message_post", text="Still here."))["type"] == "result"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "not_json"),
        ("[" * 40 + "]" * 40, "too_deep"),
        ('{"type": "ping", "type": "ping"}', "duplicate_key"),
        ("[]", "bad_frame"),
        ('{"type": "shout"}', "bad_frame"),
        ('{"type": "hello"}', "bad_frame"),
        ('{"type": "hello", "after_seq": "1"}', "bad_frame"),
        ('{"type": "ping", "extra": 1}', "bad_frame"),
        ('{"type": "command", "id": "", "name": "x", "args": {}}', "bad_frame"),
    ],
)
async def test_a_malformed_frame_is_refused_and_the_socket_stays(
    sockets: Sockets, studio: Studio, text: str, code: str
) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.socket.send_to(text_data=text)
    assert (await ana.until("refused"))["code"] == code
    await ana.send(type="ping")
    await ana.until("pong")


async def test_a_binary_frame_is_refused_and_the_socket_stays(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.socket.send_to(bytes_data=b"\x00\x01")
    assert (await ana.until("refused"))["code"] == "not_text"
    assert await ana.settled()


async def test_a_malformed_command_is_refused_by_its_id(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.socket.send_to(text_data=json.dumps({"type": "command", "id": "mine", "name": "message_post"}))
    assert (await ana.until("refused"))["id"] == "mine"


async def test_an_oversized_frame_closes_the_socket(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.socket.send_to(text_data='{"type": "ping"}' + " " * 65_536)
    assert await ana.closed() == Close.TOO_LONG


async def test_a_flood_of_frames_closes_the_socket(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "FRAMES", 5)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    for _ in range(6):
        await ana.send(type="ping")
    assert await ana.closed() == Close.TOO_MANY


@pytest.mark.parametrize("after_seq", [-1, 1_000_000])
async def test_a_cursor_outside_the_log_is_refused_and_another_hello_may_follow(
    sockets: Sockets, studio: Studio, after_seq: int
) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.send(type="hello", after_seq=after_seq)
    welcome = await ana.until("welcome")
    assert (await ana.until("refused"))["code"] == "bad_cursor"
    assert (await ana.hello(welcome["head_seq"]))["seq"] == welcome["head_seq"]
    assert ana.seqs() == []


async def test_resuming_brings_exactly_what_was_missed(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    last = (await ana.hello())["seq"]
    await ana.leave()
    for number in range(250):
        await in_db(
            message_post,
            actor=studio.ben.actor,
            thread=studio.thread.id,
            content="x",
            client_id=f"m{number}",
            kind="comment",
        )
    back = await sockets.connect(studio.ana, studio.thread.id)
    await back.hello(last)
    assert back.seqs() == list(range(last + 1, last + 251))


async def test_a_client_that_wants_the_newest_events_is_told_which_it_is_not_sent(
    sockets: Sockets, studio: Studio
) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.send(type="hello", after_seq=0, at_most=2)
    head = (await ana.until("welcome"))["head_seq"]
    skipped = await ana.until("skipped")
    assert skipped == {"type": "skipped", "after_seq": 0, "upto_seq": head - 2}
    await ana.until("caught_up")
    assert ana.seqs() == [head - 1, head]


async def test_a_client_that_missed_no_more_than_it_wants_is_sent_all_of_it(sockets: Sockets, studio: Studio) -> None:
    ana = await sockets.connect(studio.ana, studio.thread.id)
    head = studio.thread.head_seq
    await ana.send(type="hello", after_seq=head - 2, at_most=2)
    await ana.until("caught_up")
    assert ana.seqs() == [head - 1, head]
    assert not [frame for frame in ana.seen if frame["type"] == "skipped"]


async def test_who_is_not_signed_in_is_closed(sockets: Sockets, studio: Studio) -> None:
    nobody = await sockets.connect(None, studio.thread.id)
    assert await nobody.closed() == Close.NOT_SIGNED_IN


async def test_a_stranger_and_a_thread_that_is_not_there_get_the_same_answer(
    sockets: Sockets, studio: Studio, zoe: Someone
) -> None:
    stranger = await sockets.connect(zoe, studio.thread.id)
    nowhere = await sockets.connect(zoe, uuid4())
    elsewhere = await sockets.attempt(zoe, "/ws/other/")
    assert elsewhere is not None
    assert await stranger.closed() == await nowhere.closed() == await elsewhere.closed() == Close.NOT_FOUND
    assert stranger.seen == nowhere.seen == elsewhere.seen == []


async def test_another_protocol_is_closed(sockets: Sockets, studio: Studio) -> None:
    old = await sockets.connect(studio.ana, studio.thread.id, subprotocols=("accord.v0",))
    assert await old.closed() == Close.BAD_SUBPROTOCOL


@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
async def test_another_origin_is_denied_before_anything_is_read(
    sockets: Sockets, studio: Studio, origin: str | None
) -> None:
    assert await sockets.attempt(studio.ana, f"/ws/threads/{studio.thread.id}/", origin=origin) is None


async def test_too_many_sockets_of_one_person_are_closed(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "SOCKETS_A_PERSON", 1)
    first = await sockets.connect(studio.ana, studio.thread.id)
    second = await sockets.connect(studio.ana, studio.thread.id)
    assert await second.closed() == Close.TOO_MANY
    await first.settled()


async def test_more_commands_a_minute_than_allowed_are_told_when_to_come_back(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "COMMANDS_A_MINUTE", 2)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    for text in ("one", "two"):
        assert (await ana.command("message_post", text=text))["type"] == "result"
    busy = await ana.command("message_post", text="three")
    assert busy["type"] == "busy"
    assert 0 < busy["retry_after"] <= 60
    assert await in_db(Message.objects.count) == 2


async def test_who_loses_their_view_sees_nothing_after_it(sockets: Sockets, studio: Studio) -> None:
    ben = await sockets.connect(studio.ben, studio.thread.id)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    await ana.hello(studio.thread.head_seq)
    await in_db(member_remove, actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
    await ana.command("message_post", text="Ben must not read this.")
    await ana.until("event", event="message_posted")
    assert await ben.closed() == Close.NOT_FOUND
    assert "Ben must not read this." not in json.dumps(ben.seen)


async def test_no_frame_follows_a_revocation_even_if_its_ring_is_lost(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = await sockets.connect(studio.ben, studio.thread.id)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    await ana.hello(studio.thread.head_seq)
    monkeypatch.setattr(hub.Hub, "_recheck", _never)
    await in_db(member_remove, actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
    await ana.command("message_post", text="Ben must not read this.")
    assert await ben.closed() == Close.NOT_FOUND
    assert "Ben must not read this." not in json.dumps(ben.seen)


async def _never(*_: Any) -> None:
    return None


async def test_who_may_do_less_is_told_at_once(sockets: Sockets, studio: Studio) -> None:
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    await in_db(
        member_role_set, actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER
    )
    rights = await ben.until("rights")
    assert rights["viewer"]["role"] == "viewer"
    assert rights["viewer"]["may"]["start_turn"]["ok"] is False


async def test_signing_out_closes_the_sockets_of_that_session_only(sockets: Sockets, studio: Studio) -> None:
    here = await sockets.connect(studio.ana, studio.thread.id)
    there = await sockets.connect(studio.ana, studio.thread.id)
    await here.hello(studio.thread.head_seq)
    await there.hello(studio.thread.head_seq)
    await in_db(Session.objects.filter(session_key=here.session).delete)
    doorbell.person_signed_out(studio.ana.id)
    assert await here.closed() == Close.NOT_SIGNED_IN
    await there.settled()


async def test_signing_out_on_a_page_closes_its_sockets_at_once(sockets: Sockets, studio: Studio) -> None:
    browser = Client()
    await in_db(browser.force_login, studio.ana.user)
    session = browser.cookies["sessionid"].value
    here = await sockets.connect(studio.ana, studio.thread.id, session=session)
    there = await sockets.connect(studio.ana, studio.thread.id)
    await here.hello(studio.thread.head_seq)
    await in_db(browser.logout)
    assert await here.closed() == Close.NOT_SIGNED_IN
    await there.settled()


async def test_a_failure_while_a_frame_is_answered_tells_the_client_to_resume(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise ConnectionError("the database is away")

    monkeypatch.setattr(hub.Hub, "joined", broken)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.send(type="hello", after_seq=0)
    assert await ana.closed() == Close.RESUME
    assert "the database is away" in caplog.text


async def test_a_deactivated_person_is_closed(sockets: Sockets, studio: Studio) -> None:
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    studio.ben.user.is_active = False
    await in_db(studio.ben.user.save)
    doorbell.person_signed_out(studio.ben.id)
    assert await ben.closed() == Close.NOT_SIGNED_IN


async def test_a_changed_password_closes_sockets_signed_in_with_the_old_one(sockets: Sockets, studio: Studio) -> None:
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    studio.ben.user.set_password("another one entirely")
    await in_db(studio.ben.user.save)
    doorbell.person_signed_out(studio.ben.id)
    assert await ben.closed() == Close.NOT_SIGNED_IN
