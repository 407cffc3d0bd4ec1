"""The hub: what it makes up for, what a slow reader costs, who is here, and live text (DESIGN 9)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from collab import doorbell, reads
from collab.db import in_db
from collab.models.threads import Presence
from collab.protocol import Close
from collab.services.documents import document_edit
from collab.services.messages import message_post
from collab.services.threads import thread_create, thread_focus_set
from collab.web import hub as hubs
from collab.web import unread
from collab.web.hub import hub
from collab.web.presence import people_here
from permissions.services import grant_give
from tests.support.cast import Someone, Studio
from tests.support.sockets import Connection, Sockets

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def sockets(studio: Studio) -> AsyncIterator[Sockets]:
    async with Sockets() as opened:
        yield opened


@pytest.fixture
async def watcher(sockets: Sockets, studio: Studio) -> Connection:
    """Ana, caught up."""
    connection = await sockets.connect(studio.ana, studio.thread.id)
    await connection.hello(studio.thread.head_seq)
    return connection


@pytest.fixture
def turn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A running turn: the pieces of its text so far, of which this process has the snapshot."""
    pieces: list[str] = []

    def snapshot(thread_id: Any) -> dict[str, Any] | None:
        return live(0, "".join(pieces)) if pieces else None

    monkeypatch.setattr(reads, "SNAPSHOTS", [snapshot])
    return pieces


def live(offset: int, text: str) -> dict[str, Any]:
    return {"turn": "t1", "offset": offset, "text": text, "block": 0, "html": [f"<p>{text}</p>"]}


async def post(studio: Studio, text: str, someone: Someone | None = None) -> int:
    """Post a comment and return its seq."""
    posted = await in_db(
        message_post,
        actor=(someone or studio.ben).actor,
        thread=studio.thread.id,
        content=text,
        client_id=text[:80],
        kind="comment",
    )
    return posted.seq


async def test_a_lost_ring_is_made_up_for(watcher: Connection, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbell, "_post", lambda group, message: None)
    seq = await post(studio, "nobody rang")
    await hub()._compare()
    assert (await watcher.until("event"))["seq"] == seq


async def test_a_ring_that_comes_twice_or_late_or_too_early_sends_each_event_once(
    watcher: Connection, studio: Studio
) -> None:
    seq = await post(studio, "rung often")
    await watcher.until("event")
    served = hub()._served[studio.thread.id]
    for rung in (seq, seq - 1, seq + 50, seq):
        await served.ring(rung)
    later = await post(studio, "and on")
    await watcher.until("event", seq=later)
    assert watcher.seqs() == [seq, later]


async def test_a_group_that_the_layer_forgot_is_joined_again(watcher: Connection, studio: Studio) -> None:
    here = hub()
    await here._layer.group_discard(doorbell.thread_group(studio.thread.id), here._channel)
    await here._rejoin()
    seq = await post(studio, "heard again")
    assert (await watcher.until("event"))["seq"] == seq


async def test_without_the_layer_sockets_are_served_all_the_same(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "get_channel_layer", Away)
    monkeypatch.setattr(hubs._State, "hub", None)
    monkeypatch.setattr(hubs, "COMPARE_SECONDS", 0.05)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.hello(studio.thread.head_seq)
    seq = await post(studio, "nobody can ring")
    assert (await ana.until("event"))["seq"] == seq


class Away:
    """A channel layer that nothing can be asked of."""

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: Any) -> None:
            raise ConnectionError("no redis")

        return fail


async def test_a_thread_hears_nothing_of_another(watcher: Connection, studio: Studio) -> None:
    other = await in_db(thread_create, actor=studio.ana.actor, workspace=studio.workspace.id, title="Budget")
    await in_db(
        message_post, actor=studio.ben.actor, thread=other.id, content="secret sums", client_id="m1", kind="comment"
    )
    seq = await post(studio, "here")
    await watcher.until("event", seq=seq)
    assert "secret sums" not in json.dumps(watcher.seen)


async def test_joining_while_others_write_brings_each_event_once(sockets: Sockets, studio: Studio) -> None:
    first = await sockets.connect(studio.ana, studio.thread.id)
    await first.hello()
    second = await sockets.connect(studio.ben, studio.thread.id)
    await second.send(type="hello", after_seq=0)
    for number in range(20):
        last = await post(studio, f"n{number}")
    await first.until("event", seq=last)
    if last not in second.seqs():
        await second.until("event", seq=last)
    assert second.seqs() == list(range(1, last + 1))
    assert first.seqs() == list(range(1, last + 1))


async def test_a_socket_that_never_acknowledges_is_closed_and_told_to_resume(
    watcher: Connection, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "CLOSE_BYTES", 20_000)
    for number in range(10):
        await post(studio, f"{number} " + "long " * 1000)
    assert await watcher.closed() == Close.RESUME
    assert len(json.dumps(watcher.seen)) < 40_000


async def test_a_socket_that_acknowledges_is_sent_everything(
    watcher: Connection, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "CLOSE_BYTES", 40_000)
    for number in range(10):
        seq = await post(studio, f"{number} " + "long " * 1000)
        await watcher.until("event", seq=seq)
        await watcher.send(type="ack", seq=seq)
        await watcher.settled()
    assert len(watcher.seqs()) == 10


async def test_catching_up_waits_for_its_reader(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "PACE_BYTES", 20_000)
    for number in range(20):
        last = await post(studio, f"{number} " + "long " * 500)
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.send(type="hello", after_seq=0)
    while last not in ben.seqs():
        frame = await ben.next()
        if frame["type"] == "event":
            await ben.send(type="ack", seq=frame["seq"])
    await ben.until("caught_up")
    assert ben.seqs() == list(range(1, last + 1))


async def test_a_reader_that_does_not_read_while_catching_up_is_closed(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "PACE_BYTES", 5_000)
    monkeypatch.setattr("collab.web.socket.ACK_SECONDS", 0.05)
    for number in range(5):
        await post(studio, f"{number} " + "long " * 500)
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.send(type="hello", after_seq=0)
    assert await ben.closed() == Close.RESUME


async def test_live_text_reaches_everyone_in_order(watcher: Connection, studio: Studio) -> None:
    doorbell.live(studio.thread.id, live(0, "Dinner "))
    doorbell.live(studio.thread.id, live(7, "is booked."))
    frames = [await watcher.until("live") for _ in range(2)]
    assert [(frame["offset"], frame["text"]) for frame in frames] == [(0, "Dinner "), (7, "is booked.")]


async def test_who_joins_a_running_turn_gets_its_text_so_far(sockets: Sockets, studio: Studio, turn: list[str]) -> None:
    turn.append("Dinner is ")
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    assert (await ben.until("live"))["text"] == "Dinner is "
    doorbell.live(studio.thread.id, live(10, "booked."))
    assert (await ben.until("live"))["offset"] == 10


async def test_a_gap_in_live_text_is_healed_by_a_snapshot(watcher: Connection, studio: Studio, turn: list[str]) -> None:
    turn += ["Dinner ", "is booked."]
    doorbell.live(studio.thread.id, live(7, "is booked."))
    frame = await watcher.until("live")
    assert (frame["offset"], frame["text"]) == (0, "Dinner is booked.")


async def test_a_snapshot_is_asked_of_the_process_that_runs_the_turn(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted: list[tuple[str, str]] = []
    sending = doorbell._post

    def note(group: str, message: doorbell.Message) -> None:
        posted.append((group, message["type"]))
        sending(group, message)

    monkeypatch.setattr(doorbell, "_post", note)
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    await ben.settled()
    assert (doorbell.RUNNERS, "snapshot_wanted") in posted


async def test_live_text_skips_a_slow_reader_who_gets_a_snapshot_later(
    watcher: Connection, studio: Studio, turn: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "PACE_BYTES", 5_000)
    seq = await post(studio, "long " * 1500)
    await watcher.until("event", seq=seq)
    turn.append("Dinner ")
    doorbell.live(studio.thread.id, live(0, "Dinner "))
    later = await post(studio, "short")
    await watcher.until("event", seq=later)
    assert [frame for frame in watcher.seen if frame["type"] == "live"] == []
    await watcher.send(type="ack", seq=later)
    await watcher.settled()
    turn.append("is booked.")
    doorbell.live(studio.thread.id, live(7, "is booked."))
    assert (await watcher.until("live"))["text"] == "Dinner is booked."


async def test_who_is_here_is_shown_and_changes_as_people_come_and_go(
    watcher: Connection, sockets: Sockets, studio: Studio
) -> None:
    await watcher.until("presence", here=[_shown(studio.ana, 1)])
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello(studio.thread.head_seq)
    await watcher.until("presence", here=[_shown(studio.ana, 1), _shown(studio.ben, 2)])
    await ben.leave()
    await watcher.until("presence", here=[_shown(studio.ana, 1)])


async def test_a_second_window_of_one_person_does_not_make_them_leave(
    watcher: Connection, sockets: Sockets, studio: Studio
) -> None:
    second = await sockets.connect(studio.ana, studio.thread.id)
    await second.hello(studio.thread.head_seq)
    await second.leave()
    assert await in_db(Presence.objects.filter(user=studio.ana.user).count) == 1


async def test_who_is_said_to_have_left_but_has_a_socket_here_is_here(watcher: Connection, studio: Studio) -> None:
    await watcher.until("presence", here=[_shown(studio.ana, 1)])
    await in_db(Presence.objects.all().delete)
    doorbell.presence_changed(studio.thread.id)
    await watcher.until("presence", here=[])
    await watcher.until("presence", here=[_shown(studio.ana, 1)])


async def test_who_was_not_renewed_is_not_here(
    watcher: Connection, studio: Studio, clock: Callable[[float], None]
) -> None:
    await watcher.until("presence", here=[_shown(studio.ana, 1)])
    clock(60.0)
    assert await in_db(people_here, studio.thread.id) == []
    await hub()._renew()
    assert await in_db(people_here, studio.thread.id) == [_shown(studio.ana, 1)]


def _shown(someone: Someone, hue: int) -> dict[str, Any]:
    return {"id": str(someone.id), "name": someone.name, "hue": hue}


async def test_a_document_changed_elsewhere_is_told_to_the_threads_that_follow_it(
    watcher: Connection, studio: Studio
) -> None:
    await in_db(
        document_edit, actor=studio.ben.actor, document=studio.document.id, edits=[{"append": "Music at nine."}]
    )
    frame = await watcher.until("document_changed")
    assert frame["version"] == studio.document.version + 1
    assert frame["items"][0]["version"] == frame["version"]
    assert watcher.seqs() == []


async def test_a_lost_ring_of_a_document_is_made_up_for(
    watcher: Connection, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doorbell, "_post", lambda group, message: None)
    await in_db(
        document_edit, actor=studio.ben.actor, document=studio.document.id, edits=[{"append": "Music at nine."}]
    )
    await hub()._compare()
    assert (await watcher.until("document_changed"))["version"] == studio.document.version + 1


async def test_who_may_see_the_thread_only_reads_nothing_of_its_documents(
    sockets: Sockets, studio: Studio, zoe: Someone
) -> None:
    for codename in ("view", "comment"):
        await in_db(grant_give, by=studio.ana.actor, holder=zoe.user, codename=codename, obj=studio.thread)
    guest = await sockets.connect(zoe, studio.thread.id)
    member = await sockets.connect(studio.ben, studio.thread.id)
    await guest.hello()
    await member.hello()
    edit = [{"append": "Music at nine."}]
    await in_db(document_edit, actor=studio.ben.actor, document=studio.document.id, thread=studio.thread.id, edits=edit)
    seen = [await socket.until("event", event="document_changed") for socket in (guest, member)]
    assert [[item["item"] for item in frame["items"]] for frame in seen] == [[], ["document"]]
    assert "Launch plan" not in json.dumps(guest.seen)


async def test_a_hub_without_sockets_runs_nothing(watcher: Connection, studio: Studio) -> None:
    here = hub()
    assert here._tasks
    await watcher.leave()
    assert (here._tasks, here._served) == (set(), {})


async def test_a_new_socket_starts_a_stopped_hub(watcher: Connection, sockets: Sockets, studio: Studio) -> None:
    await watcher.leave()
    back = await sockets.connect(studio.ana, studio.thread.id)
    await back.hello(studio.thread.head_seq)
    seq = await post(studio, "heard")
    assert (await back.until("event"))["seq"] == seq


async def test_the_focus_of_a_thread_travels_with_the_document(watcher: Connection, studio: Studio) -> None:
    await in_db(thread_focus_set, actor=studio.ana.actor, thread=studio.thread.id, document=None)
    await in_db(thread_focus_set, actor=studio.ana.actor, thread=studio.thread.id, document=studio.document.id)
    await watcher.until("event", event="focus_changed")
    shown = await watcher.until("event", event="focus_changed")
    assert [item["item"] for item in shown["items"]] == ["thread", "document"]
