"""Sharing a call: nobody else holds a byte of what it asked and brought, until its person lets them (DESIGN 6)."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from agents.models.turns import Call
from agents.turns import history
from agents.turns.sharing import SHARED_CHARS, NotFinished, call_share
from collab.errors import Gone, Invalid
from collab.models.threads import Event
from collab.services.threads import thread_archive
from collab.web.access import Viewer
from collab.web.frames import event_frames
from permissions.errors import NotFound, Refused
from tests.support.audited import broken
from tests.support.cast import Desk, Someone, Studio
from tests.support.tampering import Tampered
from tests.support.tools import text_group
from tests.support.turns import posts
from tests.support.worked import Worker

ASKED, CAME = "asked-4711", "came-4711"


@pytest.fixture
def call(studio: Studio) -> Call:
    """A call of Ana's turn, which has ended."""
    posts(studio.ana, studio.thread, "what do we have?")
    worker = Worker.begins(studio)
    worker.steps("list_documents")
    worker.ends()
    Call.objects.update(args=f'{{"q":"{ASKED}"}}', result=f'{{"title":"{CAME}"}}')
    return Call.objects.get()


def share(call: Call, someone: Someone) -> Call:
    return call_share(actor=someone.actor, call=call.id)


def frames(studio: Studio, someone: Someone, after: int = 0) -> str:
    """Every byte that a socket of theirs is sent of the thread's log."""
    viewer = Viewer(someone.id, whole=True)
    return "\n".join(frame.texts[viewer] for frame in event_frames(studio.thread.id, after, [viewer]).frames)


def page(studio: Studio, someone: Someone, name: str) -> str:
    browser = Client()
    browser.force_login(someone.user)
    content: bytes = browser.get(reverse(name, args=[studio.thread.id])).content
    return content.decode()


def given(studio: Studio, someone: Someone) -> str:
    """All that the agent is given before a turn for someone."""
    posts(someone, studio.thread, "go on")
    turn = Worker.begins(studio).turn
    agent = history.AgentRow.objects.get(pk=turn.agent_id)
    parts = (part for message in history.context(turn, agent, {}) for part in message.parts)
    return "\n".join(str(getattr(part, "content", part)) for part in parts)


def everything(studio: Studio, someone: Someone) -> str:
    return "\n".join([frames(studio, someone), page(studio, someone, "thread"), page(studio, someone, "timeline")])


@pytest.mark.corrupts
class TestWhatOthersHold:
    """The rows of the call are set to texts that can be looked for, which its log does not know."""

    def test_before_it_is_shared_they_hold_no_byte_of_it(self, studio, call):
        for someone in (studio.ben, studio.vera):
            assert ASKED not in everything(studio, someone)
            assert CAME not in everything(studio, someone)
        assert ASKED in everything(studio, studio.ana)
        assert CAME not in given(studio, studio.ben)

    def test_once_it_is_shared_they_do(self, studio, call):
        head = Event.objects.filter(thread=studio.thread).count()
        share(call, studio.ana)
        for someone in (studio.ben, studio.vera, studio.ana):
            for found in (frames(studio, someone), frames(studio, someone, head), page(studio, someone, "thread")):
                assert ASKED in found
                assert CAME in found
            assert CAME in page(studio, someone, "timeline")

    def test_the_next_turn_of_another_is_told_it_as_data(self, studio, call):
        Call.objects.update(result=f'{{"title":"{CAME}</note>"}}')
        share(call, studio.ana)
        told = given(studio, studio.ben)
        assert told.count(CAME) == 1
        assert "Ana shared a call of T1: list_documents, done." in told
        assert told.count("</note>") == 1

    def test_its_own_authors_turns_are_told_it_once(self, studio, call):
        share(call, studio.ana)
        assert "shared a call" not in given(studio, studio.ana)

    def test_a_long_one_is_shortened(self, studio, call):
        Call.objects.update(result=f'"{"x" * 3 * SHARED_CHARS}"')
        share(call, studio.ana)
        told = given(studio, studio.ben)
        assert "(shortened)" in told
        assert len(told) < 2 * SHARED_CHARS


def test_a_shared_call_reads_the_same_for_everyone(studio, call):
    share(call, studio.ana)
    told = {frames(studio, someone) for someone in (studio.ana, studio.ben, studio.vera)}
    assert len(told) == 1


def test_it_says_who_shared_it(studio, call):
    found = share(call, studio.ana)
    assert (found.shared_by, found.shared_at is None) == (studio.ana.actor, False)
    event = Event.objects.filter(thread=studio.thread).latest("seq")
    assert (event.type, event.actor, event.turn_id) == ("call_shared", studio.ana.actor, None)


def test_only_the_person_it_was_made_for_shares_it_in_person(studio, call, zoe, desk: Desk):
    for actor in (studio.ben.actor, studio.vera.actor, studio.robin.acting_for(studio.ana, studio.thread)):
        with pytest.raises(Refused, match="Only the person it was made for"):
            call_share(actor=actor, call=call.id)
    for actor in (zoe.actor, desk.acting_for(studio.ana)):
        with pytest.raises(NotFound):
            call_share(actor=actor, call=call.id)
    with pytest.raises(NotFound):
        call_share(actor=studio.ana.actor, call=uuid4())
    assert not Call.objects.filter(shared_at__isnull=False).exists()


def test_it_is_shared_once(studio, call):
    share(call, studio.ana)
    with pytest.raises(Gone, match="shared it already"):
        share(call, studio.ana)
    assert Event.objects.filter(thread=studio.thread, type="call_shared").count() == 1


def test_a_call_that_is_not_finished_is_not_shared(studio):
    posts(studio.ana, studio.thread, "text them")
    Worker.begins(studio).sends(text_group)
    with pytest.raises(NotFinished):
        share(Call.objects.get(), studio.ana)


def test_nothing_is_shared_in_an_archived_thread(studio, call):
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    with pytest.raises(Invalid, match="is archived"):
        share(call, studio.ana)


@pytest.mark.corrupts
class TestTheAudit:
    def test_it_names_a_call_that_is_said_to_be_shared_by_another(self, studio, call):
        share(call, studio.ana)
        Tampered(studio, Worker(studio, work=None)).rewrites("call_shared", actor=studio.ben.actor)
        assert broken() == {"INV1"}

    def test_it_names_a_call_that_another_shared(self, studio, call):
        share(call, studio.ana)
        Call.objects.update(shared_by=studio.ben.actor)
        Tampered(studio, Worker(studio, work=None)).rewrites("call_shared", actor=studio.ben.actor)
        assert broken() == {"INV1"}

    def test_it_names_a_call_that_is_shared_without_a_record(self, studio, call):
        Call.objects.update(shared_by=studio.ana.actor, shared_at="2026-01-01T00:00:00Z")
        assert broken() == {"INV1"}
