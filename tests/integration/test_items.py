"""Items: what a page and a frame show of each entity, to whom, and at what cost (docs/protocol.md)."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from collab import reads
from collab.models.documents import Document
from collab.models.threads import Message
from collab.protocol import SERVER_FRAME
from collab.reads import Item
from collab.services.documents import document_create, document_edit
from collab.services.messages import message_cancel, message_post, notice_post
from collab.services.proposals import proposal_accept
from collab.services.threads import thread_mode_set
from collab.web.access import Viewer, admission
from collab.web.frames import event_frames, page_items
from permissions.actors import Actor, System
from permissions.errors import NotFound
from permissions.services import grant_give
from tests.support.cast import Someone, Studio
from tests.support.worked import Worker


def of(items: list[Item], name: str) -> list[Item]:
    return [item for item in items if item["item"] == name]


def shown(studio: Studio, viewer: Actor, name: str) -> list[Item]:
    """Return the items of one name on the thread's page."""
    studio.thread.refresh_from_db()
    return of(page_items(viewer, studio.thread)["items"], name)


def post(studio: Studio, someone: Someone, text: str, kind: str = "message") -> Message:
    return message_post(actor=someone.actor, thread=studio.thread.id, content=text, client_id=text[:50], kind=kind)


@pytest.fixture
def suggested(studio: Studio) -> UUID:
    """A change that Robin suggested for Ana."""
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    written = document_edit(
        actor=studio.robin.acting_for(studio.ana, studio.thread),
        document=studio.document.id,
        edits=[{"find": "Budget: 900.", "replace": "Budget: 1200."}],
        rationale="Twelve guests.",
    )
    assert written.proposal is not None
    return written.proposal.id


def test_a_page_shows_each_entity_once_as_it_is(studio: Studio) -> None:
    post(studio, studio.ana, "Dinner?")
    message_cancel(actor=studio.ana.actor, message=Message.objects.get().id)
    (message,) = shown(studio, studio.ben.actor, "message")
    assert (message["text"], message["state"], message["author"]["name"]) == ("Dinner?", "cancelled", "Ana")
    (thread,) = shown(studio, studio.ben.actor, "thread")
    assert (thread["title"], thread["agent"]["name"]) == ("Launch dinner", "Robin")
    (document,) = shown(studio, studio.ben.actor, "document")
    assert (document["title"], document["version"]) == ("Launch plan", 1)


def test_a_page_and_the_socket_show_the_same(studio: Studio, suggested: UUID) -> None:
    for text in ("one", "two"):
        post(studio, studio.ben, text)
    notice_post(actor=System(), thread=studio.thread.id, content="Doors open at 8.", client_id="n1")
    proposal_accept(actor=studio.ben.actor, proposal=suggested)
    viewer = Viewer(studio.ana.id, whole=True)
    live: dict[tuple[str, str], Item] = {}
    for frame in event_frames(studio.thread.id, 0, [viewer]).frames:
        read = json.loads(frame.texts[viewer])
        SERVER_FRAME.validate_python(read)
        live.update({(item["item"], item["id"]): item for item in read["items"]})
    studio.thread.refresh_from_db()
    page = page_items(studio.ana.actor, studio.thread)["items"]
    fresh = {(item["item"], item["id"]): json.loads(json.dumps(item)) for item in page}
    assert live == fresh


def test_a_waiting_message_is_on_the_page_however_old_it_is(studio: Studio) -> None:
    waiting = post(studio, studio.ana, "First of all")
    for number in range(12):
        post(studio, studio.ben, f"c{number}", "comment")
    studio.thread.refresh_from_db()
    page = page_items(studio.ben.actor, studio.thread, limit=5)
    texts = [item["text"] for item in of(page["items"], "message")]
    assert texts == ["c7", "c8", "c9", "c10", "c11", "First of all"]
    assert page["first_seq"] == studio.thread.head_seq - 4
    earlier = page_items(studio.ben.actor, studio.thread, before=page["first_seq"], limit=5)
    assert [item["text"] for item in of(earlier["items"], "message")] == ["c2", "c3", "c4", "c5", "c6"]
    first = page_items(studio.ben.actor, studio.thread, before=waiting.seq, limit=5)
    assert (first["first_seq"], first["head_seq"]) == (1, studio.thread.head_seq)


def test_a_page_costs_the_same_however_much_it_shows(studio: Studio, queries: Any) -> None:
    def cost() -> int:
        studio.thread.refresh_from_db()
        with queries() as sent:
            page_items(studio.ben.actor, studio.thread)
        return len(sent)

    post(studio, studio.ana, "m0")
    few = cost()
    for number in range(1, 20):
        post(studio, studio.ana if number % 2 else studio.ben, f"m{number}")
        document_create(
            actor=studio.ana.actor,
            workspace=studio.workspace.id,
            title=f"D{number}",
            kind="markdown",
            text="x",
            thread=studio.thread.id,
        )
    assert cost() == few


def test_a_proposal_says_who_may_accept_it_and_why(studio: Studio, suggested: UUID) -> None:
    for_ana, for_ben, for_vera = (
        shown(studio, someone.actor, "proposal")[0] for someone in (studio.ana, studio.ben, studio.vera)
    )
    assert for_ana["may"] == {
        "accept": {"ok": True, "because": "You can accept: Robin proposed it for you."},
        "reject": True,
        "withdraw": True,
    }
    assert for_ben["may"]["accept"]["ok"] is True
    assert for_ben["may"]["withdraw"] is False
    assert for_vera["may"]["accept"]["ok"] is False
    assert for_vera["may"]["accept"]["because"]


def test_a_proposal_shows_its_diff_and_counts_on_its_document(studio: Studio, suggested: UUID) -> None:
    (proposal,) = shown(studio, studio.ben.actor, "proposal")
    (changed,) = [line for line in proposal["diff"] if line["op"] == "change"]
    assert ("del", "900") in changed["spans"]
    assert ("ins", "1200") in changed["spans"]
    assert (proposal["change"], proposal["state"], proposal["rationale"]) == ("edit", "open", "Twelve guests.")
    assert (proposal["proposer"]["name"], proposal["proposer"]["for"]["name"]) == ("Robin", "Ana")
    assert shown(studio, studio.ben.actor, "document")[0]["open_proposals"] == 1


def test_a_proposed_title_stands_beside_the_one_that_is(studio: Studio, suggested: UUID) -> None:
    document_edit(
        actor=studio.robin.acting_for(studio.ana, studio.thread), document=studio.document.id, title="Spring launch",
        thread=studio.thread.id, propose=True,
    )  # fmt: skip
    change, renaming = shown(studio, studio.ben.actor, "proposal")
    assert change["renames"] is None
    assert renaming["renames"] == {"was": "Launch plan", "title": "Spring launch"}


def test_a_settled_proposal_may_not_be_accepted_again(studio: Studio, suggested: UUID) -> None:
    proposal_accept(actor=studio.ben.actor, proposal=suggested)
    (proposal,) = shown(studio, studio.ana.actor, "proposal")
    assert (proposal["state"], proposal["resolver"]["name"]) == ("accepted", "Ben")
    assert proposal["may"]["accept"]["ok"] is False
    assert shown(studio, studio.ana.actor, "document")[0]["open_proposals"] == 0


def test_who_sees_the_thread_only_sees_no_document_and_no_change_to_one(
    studio: Studio, suggested: UUID, zoe: Someone
) -> None:
    grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
    assert shown(studio, zoe.actor, "thread")
    assert shown(studio, zoe.actor, "document") == []
    assert shown(studio, zoe.actor, "proposal") == []
    guest, member = Viewer(zoe.id, whole=False), Viewer(studio.ben.id, whole=True)
    for frame in event_frames(studio.thread.id, 0, [guest, member]).frames:
        items = json.loads(frame.texts[guest])["items"]
        assert {item["item"] for item in items} <= {"thread"}


def test_a_grant_on_a_document_shows_it_to_who_sees_the_thread_only(studio: Studio, zoe: Someone) -> None:
    for obj in (studio.thread, Document.objects.get(pk=studio.document.id)):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=obj)
    assert [item["title"] for item in shown(studio, zoe.actor, "document")] == ["Launch plan"]


def test_an_admission_says_whether_a_person_sees_the_whole_workspace(studio: Studio, zoe: Someone) -> None:
    grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
    assert admission(zoe.id, studio.thread).viewer.whole is False
    assert admission(studio.vera.id, studio.thread).viewer.whole is True
    assert admission(zoe.id, studio.thread).json["role"] is None


def test_a_stranger_has_no_admission(studio: Studio, zoe: Someone) -> None:
    with pytest.raises(NotFound):
        admission(zoe.id, studio.thread)


def test_of_an_agents_event_its_person_alone_reads_more(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reads.BUILDERS, "message", reads.Builder(_private, reads.Reading.PERSON))
    post(studio, studio.ana, "for Ana")
    Worker.begins(studio).ends("It is done.")
    posted = Message.objects.latest("seq").seq
    ana, ben = Viewer(studio.ana.id, whole=True), Viewer(studio.ben.id, whole=True)
    frame = event_frames(studio.thread.id, posted - 1, [ana, ben]).frames[0]
    assert json.loads(frame.texts[ana])["items"][0]["for"] == str(studio.ana.actor)
    assert json.loads(frame.texts[ben])["items"][0]["for"] == "None"


def _private(viewer: Actor | None, ids: Any) -> list[Item]:
    return [{"item": "message", "id": str(id), "for": str(viewer)} for id in ids]


def test_an_event_nobody_registered_has_no_items(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(reads.EVENT_ITEMS, "message_posted")
    post(studio, studio.ana, "unknown")
    viewer = Viewer(studio.ana.id, whole=True)
    frame = event_frames(studio.thread.id, studio.thread.head_seq, [viewer]).frames[-1]
    assert json.loads(frame.texts[viewer])["items"] == []
