"""Leases, fencing, abandonment and the windows around a turn's end (DESIGN 6, Leases and the sweep, Ending)."""

from __future__ import annotations

import asyncio
from threading import Thread as OsThread

import pytest
from django.conf import settings
from django.db import connection
from pydantic_ai.messages import ModelResponse, ToolCallPart

from agents.errors import LeaseLost
from agents.models.turns import Call
from agents.tools import gate
from agents.tools.reuse import done_after_boundary
from agents.turns import boundary, history, lease, start, sweep
from agents.turns.boundary import Work
from agents.turns.runner import Runner
from agents.turns.services import turn_stop
from agents.turns.start import Started, start_next
from collab import log
from collab.models.documents import Document
from collab.models.threads import Message, Thread
from collab.services.threads import thread_create
from tests.support.cast import Studio
from tests.support.tools import text_group
from tests.support.turns import Puppet, Stage, posts, replies, took, turns, types, until
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db(transaction=True)

EDIT = {"document": "Launch plan", "edits": [{"find": "900", "replace": "950"}]}


@pytest.fixture
def lapse(clock) -> object:
    """Let every lease lapse, as for a process that was stopped for longer than its lease."""
    return lambda: clock(settings.ACCORD_LEASE_SECONDS + 1)


def work_on(started: Started) -> Work:
    return Work(started.turn, started.workspace, started.names, history.load(started.turn.history))


def call(work: Work, tool: str = "edit_document", args: dict | None = None, number: int = 1) -> object:
    """Carry out a call as the runner does, without its event loop."""

    part = ToolCallPart(tool, args or EDIT, tool_call_id=f"c{number}")
    return asyncio.run(gate.carry_out(work, part, step=work.turn.steps + 1, number=number))


def test_a_thread_whose_lease_is_live_starts_nothing_more(studio: Studio, started: Started):
    posts(studio.ben, studio.thread, "me too")
    assert start_next(studio.thread.id) is None
    assert len(turns(studio.thread)) == 1


def test_a_lost_lease_writes_nothing(studio: Studio, started: Started, lapse):
    work = work_on(started)
    lapse()
    assert start_next(studio.thread.id) is not None
    before = types(studio.thread)
    work.text = "I raised it."
    with pytest.raises(LeaseLost):
        call(work)
    with pytest.raises(LeaseLost):
        boundary.reach(work)
    with pytest.raises(LeaseLost):
        boundary.fail(work, reason="limit", because="")
    with pytest.raises(LeaseLost):
        lease.renew(studio.thread.id, started.turn.lease_epoch)
    assert types(studio.thread) == before
    assert Document.objects.get(pk=studio.document.id).version == 1
    assert replies(studio.thread) == []


def test_a_turn_that_ended_writes_nothing_more(studio: Studio, started: Started):
    work = work_on(started)
    boundary.fail(work, reason="limit", because="Its time was up.")
    with pytest.raises(LeaseLost):
        call(work)
    assert Document.objects.get(pk=studio.document.id).version == 1


def test_an_abandoned_turn_continues_for_the_same_author_from_its_last_boundary(
    studio: Studio, started: Started, lapse
):
    work = work_on(started)
    work.messages.append(ModelResponse(parts=[ToolCallPart("list_documents", {}, tool_call_id="c1")]))
    told = call(work, "list_documents", {})
    work.text, work.returns = "Let me see.", [told]
    boundary.reach(work)
    lapse()
    continued = start_next(studio.thread.id)
    assert continued is not None
    first, second = turns(studio.thread)
    assert (first.status, first.reason) == ("failed", "abandoned")
    assert (second.continues_id, second.on_behalf_of, second.attempt) == (first.id, studio.ana.actor, 2)
    assert history.load(second.history) == work.messages
    assert (second.text, second.steps) == ("Let me see.", 1)
    assert took(first) == ["raise the budget"]
    assert log.verify(studio.thread.id) is None


def test_a_continued_turn_reuses_the_call_its_lineage_made_after_the_boundary(studio: Studio, started: Started, lapse):
    call(work_on(started))
    lapse()
    continued = start_next(studio.thread.id)
    assert continued is not None
    again = work_on(continued)
    again.orphans = done_after_boundary(started.turn.id, continued.turn.steps)
    told = call(again)
    assert told.content["version"] == 2
    assert Document.objects.get(pk=studio.document.id).version == 2
    assert Call.objects.count() == 1
    call(again, args={"document": "Launch plan", "edits": [{"append": "More."}]}, number=2)
    assert Document.objects.get(pk=studio.document.id).version == 3


def test_what_was_only_told_again_is_not_done_again_by_the_next_turn_either(
    studio: Studio, started: Started, lapse, clock
):
    call(work_on(started))
    lapse()
    second = start_next(studio.thread.id)
    assert second is not None
    again = work_on(second)
    again.orphans = done_after_boundary(started.turn.id, second.turn.steps)
    call(again)
    clock(2 * (settings.ACCORD_LEASE_SECONDS + 1))
    third = start_next(studio.thread.id)
    assert third is not None
    once_more = work_on(third)
    once_more.orphans = done_after_boundary(second.turn.id, third.turn.steps)
    call(once_more)
    assert Document.objects.get(pk=studio.document.id).version == 2
    assert Call.objects.count() == 1


def test_a_turn_stopped_at_a_boundary_keeps_what_its_last_calls_did(studio: Studio, started: Started):
    work = work_on(started)
    work.messages.append(ModelResponse(parts=[ToolCallPart("edit_document", EDIT, tool_call_id="c1")]))
    told = call(work)
    work.returns = [told]
    turn_stop(actor=studio.ana.actor, turn=started.turn.id)
    assert boundary.reach(work) is False
    (stopped,) = turns(studio.thread)
    assert stopped.status == "stopped"
    assert history.load(stopped.history)[-1].parts == [told]


def test_a_piece_of_work_is_continued_a_few_times_at_most_and_the_thread_goes_on(
    studio: Studio, started: Started, clock
):
    for lapses in range(1, start.MOST_ATTEMPTS + 1):
        clock(lapses * (settings.ACCORD_LEASE_SECONDS + 1))
        start_next(studio.thread.id)
    found = turns(studio.thread)
    assert [turn.attempt for turn in found] == [1, 2, 3]
    assert {turn.status for turn in found} == {"failed"}
    posts(studio.ben, studio.thread, "and me")
    after = start_next(studio.thread.id)
    assert after is not None
    assert after.turn.on_behalf_of == studio.ben.actor


def test_nothing_continues_an_abandoned_turn_that_was_stopped(studio: Studio, started: Started, lapse):
    turn_stop(actor=studio.ana.actor, turn=started.turn.id)
    lapse()
    assert start_next(studio.thread.id) is None
    assert [turn.status for turn in turns(studio.thread)] == ["stopped"]


def test_calls_that_were_sent_by_an_abandoned_turn_are_unknown(studio: Studio, started: Started, lapse):
    work = work_on(started)
    row = Worker(studio, work).sends(text_group)
    lapse()
    start_next(studio.thread.id)
    row.refresh_from_db()
    assert (row.outcome, row.reason) == ("unknown", "abandoned")


def test_a_turn_that_fails_before_it_starts_takes_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch):
    message = posts(studio.ana, studio.thread, "hello")
    before = types(studio.thread)
    with monkeypatch.context() as patched:
        patched.setattr(history, "opening", _raises)
        with pytest.raises(RuntimeError):
            start_next(studio.thread.id)
    message.refresh_from_db()
    assert (message.waits, message.taken_by) == (True, None)
    assert types(studio.thread) == before
    assert start_next(studio.thread.id) is not None


def test_a_step_of_the_sweep_that_fails_keeps_no_thread_from_being_woken(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
):
    posts(studio.ana, studio.thread, "hello")
    monkeypatch.setattr(sweep, "actions_expire", _raises)
    assert sweep.due_threads() == [studio.thread.id]


def test_the_sweep_finds_what_nobody_woke_for(studio: Studio, lapse):
    assert sweep.due_threads() == []
    posts(studio.ana, studio.thread, "hello")
    assert sweep.due_threads() == [studio.thread.id]
    start_next(studio.thread.id)
    assert sweep.due_threads() == []
    lapse()
    assert sweep.due_threads() == [studio.thread.id]


def test_threads_in_which_nothing_can_begin_yet_keep_no_other_from_being_woken(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweep, "AT_ONCE", 1)
    for title in ("one", "two"):
        stuck = thread_create(
            actor=studio.ana.actor, workspace=studio.workspace.id, title=title, agent_id=studio.robin.id
        )
        posts(studio.ana, stuck, "hello")
        Thread.objects.filter(pk=stuck.pk).update(agent_id=None)
    posts(studio.ana, studio.thread, "hello")
    assert any(sweep.due_threads() == [studio.thread.id] for _ in range(100))


WINDOWS = ("before the last boundary", "inside it", "after its commit", "while its runner ends")


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("who", ["ana", "ben"])
def test_a_message_sent_in_any_window_around_a_turns_end_is_taken_once_and_in_order(
    studio: Studio, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch, window: str, who: str
):
    someone = getattr(studio, who)
    reach, work = boundary.reach, Runner.work
    sent: list[OsThread] = []

    def send() -> None:
        if sent:
            return
        sender = OsThread(target=_post_and_close, args=(someone, studio))
        sender.start()
        sent.append(sender)
        if window != "inside it":  # inside, the thread's lock is held: the sender waits for the commit
            sent[0].join()

    def reaching(work):
        if window == "before the last boundary":
            send()
        if window == "inside it":
            with log.thread_locked(work.turn.thread_id):
                send()
                result = reach(work)
        else:
            result = reach(work)
        if window == "after its commit":
            send()
        return result

    async def working(self):
        await work(self)
        if window == "while its runner ends":
            await asyncio.to_thread(send)

    monkeypatch.setattr(boundary, "reach", reaching)
    monkeypatch.setattr(Runner, "work", working)
    posts(studio.ana, studio.thread, "first")
    for reply in ("one", "two"):
        puppet.says(reply)
    until(lambda: bool(sent))
    sent[0].join()
    until(lambda: "two" in "".join(replies(studio.thread)))
    stage.settles()
    assert Message.objects.filter(content="second", waits=False, taken_by__isnull=False).count() == 1
    assert sum(took(turn).count("second") for turn in turns(studio.thread)) == 1
    assert [text for turn in turns(studio.thread) for text in took(turn)] == ["first", "second"]
    assert log.verify(studio.thread.id) is None


def _post_and_close(someone, studio: Studio) -> None:
    posts(someone, studio.thread, "second")
    connection.close()


def _raises(*_: object) -> None:
    raise RuntimeError("the process fails here")
