"""Commands: carried out once, whoever sends them again, and nothing stored of what is refused (DESIGN 9)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from collab import commands
from collab.errors import Gone, Invalid, Reused
from collab.models.threads import Command, Message
from permissions.actors import Actor
from permissions.errors import Refused
from tests.support.cast import Studio


class Note(commands.Args):
    text: str


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command ``note`` that keeps what it was told."""
    kept: list[str] = []

    def note(actor: Actor, args: Note) -> commands.Result:
        kept.append(args.text)
        return {"id": args.command_id, "count": len(kept)}

    monkeypatch.setitem(commands.HANDLERS, "note", commands.Handler(Note, note))
    return kept


def test_a_command_returns_what_its_handler_returns(studio: Studio, notes: list[str]) -> None:
    assert commands.run(studio.ana.actor, "note", "n1", {"text": "x"}) == {"id": "n1", "count": 1}


def test_sent_again_it_is_answered_and_not_carried_out(studio: Studio, notes: list[str]) -> None:
    first = commands.run(studio.ana.actor, "note", "n1", {"text": "x"})
    assert commands.run(studio.ana.actor, "note", "n1", {"text": "x"}) == first
    assert notes == ["x"]


def test_a_read_mark_moves_only_forward_so_nothing_is_kept_of_the_command(studio: Studio) -> None:
    args = {"thread": str(studio.thread.id), "seq": 1}
    for _ in range(2):
        assert commands.run(studio.ana.actor, "read_mark_set", "r1", args) == {"seq": 1}
    assert not Command.objects.exists()


def test_an_id_used_for_something_else_is_refused(studio: Studio, notes: list[str]) -> None:
    commands.run(studio.ana.actor, "note", "n1", {"text": "x"})
    with pytest.raises(Reused):
        commands.run(studio.ana.actor, "note", "n1", {"text": "y"})
    assert notes == ["x"]


def test_two_people_may_use_the_same_id(studio: Studio, notes: list[str]) -> None:
    commands.run(studio.ana.actor, "note", "n1", {"text": "hers"})
    commands.run(studio.ben.actor, "note", "n1", {"text": "his"})
    assert notes == ["hers", "his"]


def test_a_refusal_stores_nothing_so_the_id_may_be_tried_again(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = iter([Gone("Ben was faster."), None])

    def picky(actor: Actor, args: Note) -> commands.Result:
        if refusal := next(refusals):
            raise refusal
        return {"done": True}

    monkeypatch.setitem(commands.HANDLERS, "picky", commands.Handler(Note, picky))
    with pytest.raises(Gone):
        commands.run(studio.ana.actor, "picky", "n1", {"text": "x"})
    assert Command.objects.count() == 0
    assert commands.run(studio.ana.actor, "picky", "n1", {"text": "x"}) == {"done": True}


@pytest.mark.parametrize(
    ("name", "id", "body"),
    [
        ("nothing", "n1", {}),
        ("note", "", {"text": "x"}),
        ("note", "a b", {"text": "x"}),
        ("note", "n" * 101, {"text": "x"}),
        ("note", "n1", {}),
        ("note", "n1", {"text": 1}),
        ("note", "n1", {"text": "x", "more": 1}),
        ("note", "n1", {"text": "x", "command_id": "other"}),
    ],
)
def test_what_is_not_a_valid_command_is_refused(
    studio: Studio, notes: list[str], name: str, id: str, body: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as refusal:
        commands.run(studio.ana.actor, name, id, body)
    assert refusal.value.because
    assert notes == []


def test_a_posted_message_carries_the_commands_id(studio: Studio) -> None:
    body = {"thread": str(studio.thread.id), "text": "Hello."}
    commands.run(studio.ana.actor, "message_post", "mine", body)
    assert Message.objects.get().client_id == "mine"


def test_a_command_is_refused_as_its_service_refuses(studio: Studio) -> None:
    body = {"thread": str(studio.thread.id), "text": "Hello."}
    with pytest.raises(Refused):
        commands.run(studio.vera.actor, "message_post", "mine", body)


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_carried_out_and_both_get_its_answer(studio: Studio, notes: list[str]) -> None:
    together = Barrier(2)

    def send() -> commands.Result:
        together.wait(timeout=10)
        try:
            return commands.run(studio.ana.actor, "note", "n1", {"text": "x"})
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        sent = [pool.submit(send) for _ in range(2)]
    assert [answer.result() for answer in sent] == [{"id": "n1", "count": 1}] * 2
    assert notes == ["x"]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("thread_rename", {"title": "Dinner at nine"}),
        ("thread_mode_set", {"mode": "suggest"}),
        ("thread_answers_set", {"answers": "when mentioned"}),
        ("thread_focus_set", {"document": None}),
        ("thread_archive", {"archived": True}),
        ("read_mark_set", {"seq": 1}),
        ("document_create", {"title": "Menu", "kind": "markdown", "text": "Soup"}),
    ],
)
def test_each_command_of_a_thread_does_what_it_says(studio: Studio, name: str, body: dict[str, Any]) -> None:
    result = commands.run(studio.ana.actor, name, "c1", {"thread": str(studio.thread.id), **body})
    assert result
    studio.thread.refresh_from_db()
    changed = {
        "title": studio.thread.title == "Dinner at nine",
        "mode": studio.thread.mode == "suggest",
        "answers": studio.thread.answers == "when mentioned",
        "archived": studio.thread.archived_at is not None,
    }
    wanted = {name for name in changed if name in body and name != "text"} - ({"title"} if "kind" in body else set())
    assert {name for name, is_so in changed.items() if is_so} == wanted


def test_a_document_is_saved_put_away_and_brought_back(studio: Studio) -> None:
    document = {"document": str(studio.document.id), "thread": str(studio.thread.id)}
    saved = commands.run(
        studio.ben.actor,
        "document_save",
        "c1",
        {**document, "text": "# New\n", "base_version": studio.document.version},
    )
    assert saved["version"] == studio.document.version + 1
    commands.run(studio.ben.actor, "document_archive", "c2", document)
    studio.document.refresh_from_db()
    assert studio.document.archived_at is not None
    commands.run(studio.ben.actor, "document_restore", "c3", document)
    studio.document.refresh_from_db()
    assert studio.document.archived_at is None
