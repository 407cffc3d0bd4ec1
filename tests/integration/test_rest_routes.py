"""Every address of the API held against every client (FAILURES H4, H5; promise 10). What is not in the tables fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.urls import get_resolver, reverse

from collab import commands
from collab.services.workspaces import workspace_create
from permissions.roles import Role
from tests.integration.test_routes import COMMANDS, args_of
from tests.support import cast
from tests.support.rest import BASE, Caller, caller, refusal
from tests.support.rest_routes import CLIENTS, METHOD, NAMES, NIL, NO, READS, SHOWN, TOKEN, Read, browsers
from tests.support.scene import Scene, nowhere, scene
from tests.support.tools import book_boat, registered, reserve_table
from tests.support.world import changed, world

pytestmark = pytest.mark.django_db

TOUCHED_BY_ASKING = ("agents_accesstoken",)
"""A token's last use is noted, whatever it is used for."""

OURS = ("vera", "ben", "ana", "desk")

DOES = {"call_check"}
"""What a client does that may only view."""

WRITES = DOES | {
    "message_post", "message_post comment", "question_answer", "thread_create", "thread_focus_set",
    "document_create markdown", "document_save", "document_archive", "document_restore", "document_restore_version",
}  # fmt: skip
"""What a client does that may change documents, and whose person may."""

SETTLES = {"proposal_accept", "proposals_accept", "proposal_reject"}
"""Robin suggested it for Ana: her clients are of its chain, Ben's and Desk are not."""

DONE = {
    "vera": DOES,
    "ben": WRITES | SETTLES | {"timer_set"},
    "ana": WRITES | {"timer_set", "timer_cancel"},
    "desk": WRITES | SETTLES,
}
"""What each client's commands come to, about things of Ana's; all others are refused. Nothing here is managing, and
nothing is what people do in person."""


@dataclass(frozen=True, slots=True)
class Callers:
    """A scene, and every client that calls."""

    played: Scene
    clients: Mapping[str, Caller]

    def answered(self, who: str, read: Read, ids: Mapping[str, UUID]) -> Any:
        names = {**NAMES, **{name: str(id) for name, id in ids.items()}}
        address = reverse(f"api:{read.name}", args=[names[arg] for arg in read.args])
        return self.clients[who].get(address.removeprefix(BASE), **read.asks)


@pytest.fixture
def callers(studio: cast.Studio, zoe: cast.Someone) -> Iterator[Callers]:
    with registered(reserve_table, book_boat):
        played = scene(studio)
        own = workspace_create(actor=zoe.actor, name="Hers")
        yield Callers(
            played,
            {
                "nobody": Caller(),
                "zoe": caller(studio, zoe, name="Zoe's", role=None, within=[own]),
                "blind": caller(studio, studio.ana, name="Blind", role=None),
                "vera": caller(studio, studio.vera, name="Vera's"),
                "ben": caller(studio, studio.ben, name="Ben's"),
                "ana": caller(studio, studio.ana, name="Ana's"),
                "desk": caller(studio, None),
            },
        )


def test_every_address_of_the_api_is_in_the_tables() -> None:
    (space,) = [found for found in get_resolver().url_patterns if getattr(found, "namespace", "") == "api"]
    names = {found.name for found in space.url_patterns}
    assert {name for name, *_ in browsers()} == names
    assert {read.name for read in READS} | {"phrasing_restored"} == {
        name for name in names if not name.startswith("command_")
    }


def test_every_read_shows_each_client_what_the_table_says(callers: Callers) -> None:
    found, before = {}, world(TOUCHED_BY_ASKING)
    for read in READS:
        answers = {who: callers.answered(who, read, callers.played.ids) for who in CLIENTS}
        found[str(read)] = {who: _said(answer) for who, answer in answers.items()}
    assert found == {str(read): dict(zip(CLIENTS, read.outcomes, strict=True)) for read in READS}
    assert not changed(before, world(TOUCHED_BY_ASKING))


def test_what_a_client_may_not_see_is_byte_for_byte_what_is_not_there(callers: Callers) -> None:
    for read in READS:
        for who in ("zoe", "blind"):
            here = callers.answered(who, read, callers.played.ids)
            if here.status_code == 404:
                not_here = callers.answered(who, read, nowhere(callers.played.ids))
                assert here.content == not_here.content, (str(read), who)
                assert {*here.headers} == {*not_here.headers}, (str(read), who)


@pytest.mark.parametrize("who", ["zoe", "blind"])
def test_a_client_is_told_of_a_command_about_what_it_may_not_see_what_it_is_told_where_nothing_is(
    callers: Callers, who: str
) -> None:
    before = world(TOUCHED_BY_ASKING)
    for sent in COMMANDS:
        answers = [
            callers.clients[who].command(sent.name, **args_of(sent, ids))
            for ids in (callers.played.ids, nowhere(callers.played.ids))
        ]
        if sent.name == "read_mark_set":
            assert {refusal(answer) for answer in answers} == {(403, "forbidden")}
        else:
            assert {refusal(answer) for answer in answers} == {(404, "not_found")}, str(sent)
        assert answers[0].content == answers[1].content, str(sent)
    assert not changed(before, world(TOUCHED_BY_ASKING))


def test_each_client_does_what_the_table_says_and_is_refused_everything_else(callers: Callers) -> None:
    told = {str(sent): {who: _outcome(callers, who, sent) for who in OURS} for sent in COMMANDS}
    assert told == {name: {who: SHOWN if name in DONE[who] else NO for who in OURS} for name in told}


def test_without_a_token_no_command_does_anything(callers: Callers) -> None:
    before = world()
    for name in commands.HANDLERS:
        assert refusal(callers.clients["nobody"].command(name)) == (401, "unauthenticated"), name
    assert not changed(before, world())


def test_a_client_that_may_only_view_does_nothing_for_an_owner(callers: Callers) -> None:
    viewer = caller(callers.played.studio, callers.played.studio.ana, name="Viewer", role=Role.VIEWER)
    before = world(TOUCHED_BY_ASKING)
    for sent in COMMANDS:
        if sent.name not in DOES:
            assert refusal(viewer.command(sent.name, **args_of(sent, callers.played.ids)))[0] == 403, str(sent)
    assert not changed(before, world(TOUCHED_BY_ASKING))


def _outcome(callers: Callers, who: str, sent: Any) -> str:
    """Send a command, say what came of it, and put everything back as it was."""
    with transaction.atomic():
        answer = callers.clients[who].command(sent.name, **args_of(sent, callers.played.ids))
        transaction.set_rollback(True)
    return _said(answer)


def _said(answer: Any) -> str:
    match answer.status_code:
        case 200:
            return SHOWN
        case 401:
            return TOKEN
        case 403:
            return NO
        case 404:
            return NIL
        case 405:
            return METHOD
    raise AssertionError(f"nobody expects {answer.status_code}: {answer.content}")
