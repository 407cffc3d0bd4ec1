"""A database that is away, and a log that a later version wrote: come back soon, and never "it failed" (FAILURES C9,
C10, C12)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from collab import commands
from collab.db import in_db
from collab.log import append, thread_locked
from collab.models.threads import Message
from collab.protocol import Close
from collab.web import consumers, views
from tests.support.cast import Studio
from tests.support.sockets import Sockets

pytestmark = pytest.mark.django_db(transaction=True)

AWAY = [OperationalError("no route to db.internal"), InterfaceError("connection already closed")]


@pytest.fixture
async def sockets(studio: Studio) -> AsyncIterator[Sockets]:
    async with Sockets() as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class LaterThreadChanged:
    """A known event as a later version might write it, against the rule: with a field that this one does not know."""

    type: ClassVar[str] = "thread_changed"
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class LaterTurnEnded:
    """The same, of a type whose further entities are looked up."""

    type: ClassVar[str] = "turn_ended"
    usage: int


def answered(studio: Studio, monkeypatch: pytest.MonkeyPatch, error: Exception) -> Any:
    """Ask for the thread's page as Ana while reading it raises this."""

    def raises(*_: object) -> None:
        raise error

    client = Client(raise_request_exception=False)
    client.force_login(studio.ana.user)
    monkeypatch.setattr(views.selectors, "thread_for", raises)
    return client.get(f"/t/{studio.thread.id}/")


@pytest.mark.parametrize("error", AWAY)
def test_a_page_that_meets_a_database_that_is_away_says_when_to_come_back(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    answer = answered(studio, monkeypatch, error)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "cannot reach its database" in answer.content.decode()
    assert "internal" not in answer.content.decode()


def test_a_page_that_fails_otherwise_says_that_it_failed(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = answered(studio, monkeypatch, ValueError("a fault of ours"))
    assert (answer.status_code, "Retry-After" in answer) == (500, False)


async def test_a_command_whose_answer_the_database_lost_is_to_be_sent_again_and_is_carried_out_once(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = commands.run

    def lost(*args: Any) -> None:
        run(*args)
        raise OperationalError("the connection broke off as it was committed")

    ana = await sockets.connect(studio.ana, studio.thread.id)
    await ana.hello()
    with monkeypatch.context() as patched:
        patched.setattr(commands, "run", lost)
        first = await ana.command("message_post", id="m1", text="Hello.")
    again = await ana.command("message_post", id="m1", text="Hello.")
    assert (first["type"], first["retry_after"]) == ("busy", consumers.AWAY_SECONDS)
    assert again["type"] == "result"
    assert await Message.objects.acount() == 1


@pytest.mark.parametrize("accepted", [False, True])
async def test_a_socket_that_meets_a_database_that_is_away_is_told_to_resume(
    sockets: Sockets, studio: Studio, monkeypatch: pytest.MonkeyPatch, accepted: bool
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("no route to db.internal")

    if accepted:
        monkeypatch.setattr(consumers, "_admitted", away)
    else:
        monkeypatch.setattr("channels.auth._get_user_session_key", away)
    ana = await sockets.connect(studio.ana, studio.thread.id)
    assert await ana.closed() == Close.RESUME


@pytest.mark.corrupts
async def test_events_of_a_shape_that_is_not_known_are_sent_on_and_the_timeline_says_so(
    sockets: Sockets, studio: Studio
) -> None:
    def later() -> None:
        with thread_locked(studio.thread.id) as locked:
            events: list[Any] = [LaterThreadChanged("title", "asked"), LaterTurnEnded(12)]
            for event in events:
                append(locked, event, actor=studio.ana.actor)

    await in_db(later)
    ben = await sockets.connect(studio.ben, studio.thread.id)
    await ben.hello()
    assert [(frame["event"], frame["data"], frame["items"]) for frame in ben.events()[-2:]] == [
        ("thread_changed", {"what": "title", "why": "asked"}, []),
        ("turn_ended", {"usage": 12}, []),
    ]
    page = await in_db(_timeline, studio)
    assert page.count("Something this page does not know") == 2


def _timeline(studio: Studio) -> str:
    client = Client()
    client.force_login(studio.ana.user)
    return client.get(f"/t/{studio.thread.id}/timeline/").content.decode()
