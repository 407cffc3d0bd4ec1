"""``GET /api/v1/stream/<thread>``: following a thread with server-sent events (DESIGN 9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.layers import get_channel_layer

from agents.clients.rest import following
from agents.clients.rest.bell import bell
from agents.clients.rest.cursors import cursor
from agents.clients.rest.stream import STREAMS_A_CLIENT
from agents.clients.services import client_enable, token_revoke
from collab import doorbell
from collab.db import in_db
from collab.services.documents import document_edit
from collab.services.messages import message_post
from collab.services.threads import thread_create
from tests.support.cast import Someone, Studio
from tests.support.clients import Connected, connected
from tests.support.streams import Streamed, Streams

pytestmark = pytest.mark.django_db(transaction=True)

Opening = Callable[..., Awaitable[Streamed]]


@pytest.fixture
async def streams(studio: Studio) -> AsyncIterator[Streams]:
    async with Streams() as opened:
        yield opened


@pytest.fixture
async def desk_of_ana(studio: Studio, streams: Streams) -> Connected:
    return await in_db(connected, studio, studio.ana)


async def posts(studio: Studio, text: str = "Hello.") -> int:
    message = await in_db(
        message_post, actor=studio.ana.actor, thread=studio.thread.id, content=text, client_id=str(uuid4()),
        kind="comment",
    )  # fmt: skip
    return int(message.seq)


async def caught_up(streams: Streams, client: Connected, studio: Studio, **how: Any) -> Streamed:
    found = await streams.open(client, studio.thread.id, **how)
    assert found.status == 200, await found.body()
    await found.until("caught_up")
    return found


async def test_it_says_what_comes_next_and_where_to_go_on(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio)
    assert found.headers["content-type"].startswith("text/event-stream")
    assert found.seqs() == []
    seq = await posts(studio, "Dinner at eight?")
    said = await found.until("event")
    assert (said.data["seq"], said.data["event"], said.id) == (seq, "message_posted", cursor(studio.thread.id, seq))
    assert said.data["items"][0]["text"] == "Dinner at eight?"
    assert "html" not in said.data["items"][0]


async def test_whoever_was_cut_off_goes_on_behind_what_they_had_and_misses_nothing(studio, streams, desk_of_ana):
    first = await caught_up(streams, desk_of_ana, studio)
    await posts(studio)
    last = await first.until("event")
    await first.leave()
    missed = [await posts(studio) for _ in range(3)]
    again = await caught_up(streams, desk_of_ana, studio, last=last.id)
    assert again.seqs() == missed


async def test_a_cursor_in_the_query_does_the_same(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio, query=f"after={cursor(studio.thread.id, 0)}")
    assert found.seqs() == list(range(1, found.seqs()[-1] + 1))


async def test_a_cursor_of_another_thread_is_refused_and_says_nothing_of_either(studio, streams, desk_of_ana):
    other = await in_db(thread_create, actor=studio.ana.actor, workspace=studio.workspace.id, title="Other")
    refused = await streams.open(desk_of_ana, studio.thread.id, last=cursor(other.id, 1))
    body = await refused.body()
    assert (refused.status, body["code"]) == (422, "bad_cursor")
    assert str(other.id) not in str(body)


@pytest.mark.parametrize("last", ["nonsense", cursor(UUID(int=0), 1), "é" * 10])
async def test_what_is_no_cursor_is_refused(studio, streams, desk_of_ana, last):
    refused = await streams.open(desk_of_ana, studio.thread.id, last=last)
    assert (refused.status, (await refused.body())["code"]) == (422, "bad_cursor")


async def test_without_a_token_or_rights_it_is_refused_as_everywhere(studio, streams, desk_of_ana, zoe):
    nobody = await streams.open(None, studio.thread.id)
    assert (nobody.status, nobody.headers["www-authenticate"]) == (401, "Bearer")
    blind = await in_db(connected, studio, studio.ana, name="Blind", role=None)
    here, nowhere = [await streams.open(blind, id) for id in (studio.thread.id, uuid4())]
    assert here.status == nowhere.status == 404
    assert await here.body() == await nowhere.body()


async def test_what_is_asked_wrongly_is_refused(studio, streams, desk_of_ana):
    for how, status in ((("nothing", {}), 404), ((studio.thread.id, {"query": "x=1"}), 422),
                        ((studio.thread.id, {"method": "POST"}), 405)):  # fmt: skip
        refused = await streams.open(desk_of_ana, how[0], **how[1])
        assert refused.status == status
        assert (await refused.body())["status"] == status


async def test_a_token_that_is_revoked_ends_it_before_the_next_word(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio)
    await in_db(token_revoke, actor=studio.ana.actor, token=desk_of_ana.token.pk)
    await posts(studio, "not for them")
    said = await found.next()
    assert (said.name, said.data["code"]) == ("end", "unauthenticated")
    await found.ended()
    assert "not for them" not in str(found.seen)


async def test_a_client_that_loses_its_grants_is_told_no_more(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio)
    await in_db(
        client_enable, actor=studio.ana.actor, workspace=studio.workspace.id, client=desk_of_ana.row.pk, role=None
    )
    await posts(studio, "not for them")
    said = await found.next()
    assert (said.name, said.data["code"]) == ("end", "not_found")
    await found.ended()
    assert "not for them" not in str(found.seen)


async def test_text_of_a_running_turn_streams_to_it_from_where_it_has_it(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio)
    turn = str(uuid4())

    def live(offset: int, text: str) -> None:
        doorbell.live(studio.thread.id, {"turn": turn, "offset": offset, "text": text, "block": 0, "html": ["<p>"]})

    live(0, "The hall ")
    assert (await found.until("live")).data == {"turn": turn, "offset": 0, "text": "The hall "}
    live(30, "after a gap")
    live(9, "is free.")
    assert (await found.until("live")).data["text"] == "is free."


async def test_a_token_that_is_revoked_ends_it_while_text_streams(studio, streams, desk_of_ana, monkeypatch):
    monkeypatch.setattr(following, "LOOKS_SECONDS", 0.2)
    found = await caught_up(streams, desk_of_ana, studio)
    await in_db(token_revoke, actor=studio.ana.actor, token=desk_of_ana.token.pk)
    for _ in range(50):
        doorbell.live(studio.thread.id, {"turn": "T", "offset": 0, "text": "Word. ", "block": 0, "html": []})
        await asyncio.sleep(0.02)
    assert (await found.until("end")).data["code"] == "unauthenticated"


async def test_a_document_that_changed_elsewhere_is_told(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio)
    await in_db(
        document_edit, actor=studio.ana.actor, document=studio.document.id, edits=[{"find": "900", "replace": "950"}]
    )
    said = await found.until("document_changed")
    assert (said.data["document"], said.data["version"]) == (str(studio.document.id), 2)


async def test_a_ring_that_was_lost_is_made_up_for(studio, streams, desk_of_ana, monkeypatch):
    found = await caught_up(streams, desk_of_ana, studio)
    await asyncio.sleep(3.5)  # so that the heads are known
    monkeypatch.setattr(doorbell, "_post", lambda *_: None)
    seq = await posts(studio)
    assert (await found.until("event")).data["seq"] == seq


async def test_it_ends_once_it_has_said_as_much_as_it_may_and_is_resumed(studio, streams, desk_of_ana, monkeypatch):
    monkeypatch.setattr(following, "MOST_BYTES", 600)
    for _ in range(5):
        await posts(studio, "x" * 300)
    first = await streams.open(desk_of_ana, studio.thread.id, last=cursor(studio.thread.id, 0))
    await first.ended()
    second = await streams.open(desk_of_ana, studio.thread.id, last=first.seen[-1].id)
    assert first.seqs()
    assert (await second.until("event")).data["seq"] == first.seqs()[-1] + 1


async def test_a_client_has_so_many_at_once_and_no_more(studio, streams, desk_of_ana):
    opened = [await caught_up(streams, desk_of_ana, studio) for _ in range(STREAMS_A_CLIENT)]
    refused = await streams.open(desk_of_ana, studio.thread.id)
    assert (refused.status, (await refused.body())["code"]) == (429, "busy")
    await opened[0].leave()
    assert (await streams.open(desk_of_ana, studio.thread.id)).status == 200


async def test_nor_more_when_it_opens_them_all_at_once(studio, streams, desk_of_ana):
    opened = await asyncio.gather(*(streams.open(desk_of_ana, studio.thread.id) for _ in range(STREAMS_A_CLIENT + 3)))
    assert sorted(one.status for one in opened) == [200] * STREAMS_A_CLIENT + [429] * 3


async def test_what_happens_before_its_process_hears_the_layer_is_told_as_soon_as_it_does(
    studio, streams, desk_of_ana, monkeypatch
):
    layer, hears = get_channel_layer(), asyncio.Event()
    made = layer.new_channel

    async def later(*args: Any) -> str:
        await hears.wait()
        return await made(*args)

    monkeypatch.setattr(layer, "new_channel", later)
    found = await caught_up(streams, desk_of_ana, studio)
    seq = await posts(studio)
    hears.set()
    async with asyncio.timeout(10):
        assert (await found.until("event")).data["seq"] == seq


async def test_nothing_runs_once_nobody_listens(studio, streams, desk_of_ana):
    found = await caught_up(streams, desk_of_ana, studio)
    assert bell()._tasks
    await found.leave()
    assert not bell()._tasks


async def test_two_clients_each_read_what_is_theirs(studio: Studio, streams: Streams, ben: Someone) -> None:
    """Whoever may not act on a proposal is told so on the same event."""
    mine = await in_db(connected, studio, studio.ana, name="Mine")
    his = await in_db(connected, studio, ben, name="His")
    both = [await caught_up(streams, client, studio) for client in (mine, his)]
    proposer = await in_db(lambda: mine.actor)
    await in_db(
        document_edit, actor=proposer, document=studio.document.id, thread=studio.thread.id, propose=True,
        edits=[{"find": "900", "replace": "950"}],
    )  # fmt: skip
    items = [
        next(item for item in (await one.until("event")).data["items"] if item["item"] == "proposal") for one in both
    ]
    assert [item["may"]["accept"]["ok"] for item in items] == [False, True]
