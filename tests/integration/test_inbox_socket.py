"""The inbox's socket: how much waits is told at once, as it changes, and to nobody it is not told to (DESIGN 5, 9)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.test import Client

from agents.models.turns import Question
from agents.turns.services import question_answer
from collab import doorbell
from collab.db import in_db
from collab.protocol import Close
from collab.services.documents import document_edit
from collab.services.proposals import proposal_accept, proposal_withdraw
from collab.services.threads import thread_archive
from collab.services.workspaces import member_add, member_remove, member_role_set
from collab.web import hub as hubs
from collab.web import inbox_socket, unread
from collab.web.hub import SOCKETS_A_PERSON, hub
from permissions.models import User
from permissions.roles import Role
from tests.integration.test_hub import Away
from tests.support.cast import Someone, Studio
from tests.support.scene import scene
from tests.support.sockets import PATIENCE, Connection, Sockets

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/ws/inbox/"


@pytest.fixture
async def sockets(studio: Studio) -> AsyncIterator[Sockets]:
    async with Sockets() as opened:
        yield opened


async def opened(sockets: Sockets, someone: Someone | None, **options: Any) -> Connection:
    connection = await sockets.attempt(someone, PATH, **options)
    assert connection is not None, "the connection was denied"
    return connection


async def proposed(studio: Studio, amount: str = "950", whom: Someone | None = None) -> Any:
    """Have Robin propose, for Ana unless it is for someone else."""
    written = await in_db(
        document_edit, actor=studio.robin.acting_for(whom or studio.ana, studio.thread), document=studio.document.id,
        thread=studio.thread.id, propose=True, edits=[{"find": "900", "replace": amount}],
    )  # fmt: skip
    return written.proposal.id


async def test_how_much_waits_is_told_at_once(sockets: Sockets, studio: Studio) -> None:
    await proposed(studio)
    ben, vera = await opened(sockets, studio.ben), await opened(sockets, studio.vera)
    one = {"type": "inbox", "count": 1, "threads": {str(studio.thread.id): 1}, "for_others": 0}
    assert await ben.next() == one
    assert await vera.next() == {"type": "inbox", "count": 0, "threads": {}, "for_others": 0}


async def test_a_proposal_raises_everyones_who_may_accept_it_and_its_end_lowers_them(
    sockets: Sockets, studio: Studio
) -> None:
    people = [await opened(sockets, someone) for someone in (studio.ana, studio.ben)]
    for person in people:
        await person.until("inbox", count=0)
    proposal = await proposed(studio)
    for person in people:
        await person.until("inbox", count=1)
    await in_db(proposal_accept, actor=studio.ben.actor, proposal=proposal)
    for person in people:
        await person.until("inbox", count=0, threads={})


async def test_what_was_proposed_for_one_who_may_not_accept_it_waits_for_others(
    sockets: Sockets, studio: Studio
) -> None:
    await in_db(
        member_role_set, actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id,
        role=Role.CONTRIBUTOR,
    )  # fmt: skip
    ben = await opened(sockets, studio.ben)
    await ben.until("inbox", for_others=0)
    proposal = await proposed(studio, whom=studio.ben)
    await ben.until("inbox", for_others=1, count=0)
    await in_db(proposal_withdraw, actor=studio.ben.actor, proposal=proposal)
    await ben.until("inbox", for_others=0, count=0)


async def test_a_question_waits_until_it_is_answered(sockets: Sockets, studio: Studio) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=0)
    played = await in_db(scene, studio)
    paused = await ana.until("inbox", count=3)
    asked = str((await in_db(Question.objects.select_related("turn").get)).turn.thread_id)
    assert paused["threads"][asked] == 1
    await in_db(question_answer, actor=studio.ben.actor, question=played.ids["question"], answer="Friday.")
    answered = await ana.until("inbox", count=2)
    assert answered["threads"] == {thread: 1 for thread in paused["threads"] if thread != asked}


async def test_an_archived_thread_holds_nothing_that_waits(sockets: Sockets, studio: Studio) -> None:
    await proposed(studio)
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=1)
    await in_db(thread_archive, actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    await ana.until("inbox", count=0)


async def test_grants_that_come_and_go_are_told_at_once(sockets: Sockets, studio: Studio, zoe: Someone) -> None:
    await proposed(studio)
    watching = await opened(sockets, zoe)
    await watching.until("inbox", count=0)
    add = {"actor": studio.ana.actor, "workspace": studio.workspace.id}
    await in_db(member_add, **add, username=zoe.user.username, role=Role.EDITOR)
    await watching.until("inbox", count=1)
    await proposed(studio, "960")
    await watching.until("inbox", count=2)
    await in_db(member_remove, **add, user=zoe.id)
    await watching.until("inbox", count=0, threads={})


async def test_a_burst_is_counted_again_once_and_ends_with_what_is_true(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=0)
    counted = 0
    real = inbox_socket._counted

    def counting(person: Any) -> Any:
        nonlocal counted
        counted += 1
        return real(person)

    monkeypatch.setattr(inbox_socket, "_counted", counting)
    amounts = [str(950 + number) for number in range(12)]
    for amount in amounts:
        await proposed(studio, amount)
    await ana.until("inbox", count=len(amounts))
    assert counted < len(amounts)


async def test_all_windows_of_a_person_are_told_the_same(sockets: Sockets, studio: Studio) -> None:
    first = await opened(sockets, studio.ana)
    await first.until("inbox", count=0)
    await proposed(studio)
    await first.until("inbox", count=1)
    second = await opened(sockets, studio.ana)
    assert (await second.next())["count"] == 1


async def test_a_lost_ring_is_made_up_for(sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=0)
    monkeypatch.setattr(doorbell, "_post", lambda group, message: None)
    await proposed(studio)
    await hub()._recount()
    await ana.until("inbox", count=1)


async def test_without_the_layer_it_is_counted_now_and_then(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "get_channel_layer", Away)
    monkeypatch.setattr(hubs._State, "hub", None)
    monkeypatch.setattr(hubs, "RECOUNT_SECONDS", 0.05)
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=0)
    await proposed(studio)
    await ana.until("inbox", count=1)


async def test_a_count_that_failed_is_counted_again(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failures = inbox_socket._counted, [OSError("the database is away")]

    def failing(person: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(person)

    monkeypatch.setattr(inbox_socket, "_counted", failing)
    ana = await opened(sockets, studio.ana)
    while failures:
        await asyncio.sleep(0.01)
    await hub()._recount()
    await ana.until("inbox", count=0)


@pytest.mark.parametrize("how", ["sign out", "deactivate", "new password"])
async def test_it_closes_with_the_session(sockets: Sockets, studio: Studio, how: str) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=0)
    await in_db(ENDS[how], studio.ana.user, ana.session)
    await hub()._check()
    await proposed(studio, whom=studio.ben)
    assert await ana.closed() == Close.NOT_SIGNED_IN
    assert [frame["count"] for frame in ana.seen] == [0]


def _signed_out(user: User, session: str) -> None:
    browser = Client()
    browser.cookies["sessionid"] = session
    browser.logout()


def _deactivated(user: User, session: str) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def _with_a_new_password(user: User, session: str) -> None:
    user.set_password("another one")
    user.save()


ENDS: dict[str, Callable[[User, str], None]] = {
    "sign out": _signed_out,
    "deactivate": _deactivated,
    "new password": _with_a_new_password,
}


async def test_nobody_without_a_session_is_told_anything(sockets: Sockets, studio: Studio) -> None:
    nobody = await opened(sockets, None)
    assert await nobody.closed() == Close.NOT_SIGNED_IN
    assert nobody.seen == []


async def test_it_speaks_one_protocol_and_to_known_origins_only(sockets: Sockets, studio: Studio) -> None:
    other = await opened(sockets, studio.ana, subprotocols=("accord.v0",))
    assert await other.closed() == Close.BAD_SUBPROTOCOL
    for origin in ("http://elsewhere.example", None):
        assert await sockets.attempt(studio.ana, PATH, origin=origin) is None


async def test_it_takes_no_command_and_survives_bad_frames(sockets: Sockets, studio: Studio) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox")
    refused = await ana.command("proposal_accept", id="c1", proposal=str(studio.thread.id))
    assert (refused["type"], refused["code"]) == ("refused", "no_commands")
    await ana.socket.send_to(text_data="{")
    await ana.until("refused", id=None)
    await ana.send(type="ack", seq=0, frames=3)
    await ana.settled()


async def test_a_frame_that_is_too_long_ends_it(sockets: Sockets, studio: Studio) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.socket.send_to(text_data=json.dumps({"type": "ping", "x": "x" * 70_000}))
    assert await ana.closed() == Close.TOO_LONG


async def test_a_reader_that_never_acknowledges_is_closed(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "CLOSE_FRAMES", 1)
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox", count=0)
    await proposed(studio)
    assert await ana.closed() == Close.RESUME


async def test_a_person_has_so_many_and_those_of_threads_count_apart(sockets: Sockets, studio: Studio) -> None:
    for _ in range(SOCKETS_A_PERSON):
        await opened(sockets, studio.ana)
    beyond = await opened(sockets, studio.ana)
    assert await beyond.closed() == Close.TOO_MANY
    await (await sockets.connect(studio.ana, studio.thread.id)).hello()


async def test_the_hub_forgets_who_left(sockets: Sockets, studio: Studio) -> None:
    ana = await opened(sockets, studio.ana)
    await ana.until("inbox")
    here = hub()
    await asyncio.wait_for(ana.leave(), PATIENCE)
    assert here.inboxes._readers == {}
    assert here._tasks == set()
