"""The audit has teeth: whatever row is changed behind the services' backs, it names the rule that no longer holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db.models import F

from agents.models.turns import Call, Question, Turn
from collab.models.documents import Revision
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message, Thread
from permissions.ids import new_id
from permissions.models import GrantChange
from tests.support.audited import broken, findings
from tests.support.cast import Studio
from tests.support.tampering import Tampered
from tests.support.worked import worked

Change = Callable[[Tampered], object]


pytestmark = pytest.mark.corrupts


@pytest.fixture
def worked_in(studio: Studio) -> Tampered:
    """A thread in which everything has happened."""
    return Tampered(studio, worked(studio))


def test_nothing_is_wrong_with_a_thread_that_services_wrote(worked_in: Tampered):
    assert findings() == []


def _stray(thread: Tampered) -> None:
    stray = thread.message("people only").get()
    stray.pk, stray.seq, stray.client_id = new_id(), 900, "stray"
    stray.save(force_insert=True)


def _taken_again(thread: Tampered) -> None:
    earlier = str(thread.message("raise the budget").get().id)
    thread.retells("message_taken", messages=[earlier])


def _swapped(thread: Tampered) -> None:
    first, second = (str(thread.message(text).get().id) for text in ("invite them", "all of them"))
    thread.retells("turn_started", 4, took=[second, first])


def _not_the_oldest(thread: Tampered) -> None:
    skipped, taken = thread.message("invite them").get(), str(thread.message("all of them").get().id)
    Message.objects.filter(pk=skipped.pk).update(waits=True, taken_by=None, taken_as=None)
    thread.retells("turn_started", 4, took=[taken])


def _later_reply(thread: Tampered) -> None:
    thread.retells("question_answered", message=str(thread.message("in the evening").get().id))


def _acts_after_its_end(thread: Tampered) -> None:
    thread.rewrites("call_started", 3, turn_id=thread.turn_of("turn_started", 0))


def _suggests(thread: Tampered) -> None:
    thread.rewrites("focus_changed", type="mode_changed", data='{"mode":"suggest"}')


def _own_proposal(thread: Tampered) -> None:
    thread.rewrites("proposal_resolved", 1, actor=thread.studio.ana.actor)
    Proposal.objects.filter(state="rejected").update(resolver=thread.studio.ana.actor)


def _resolved_again(thread: Tampered) -> None:
    thread.retells("proposal_resolved", 1, proposal=thread.event("proposal_resolved", 0).data.split('"')[3])


def _ends_again(thread: Tampered) -> None:
    ended = thread.event("turn_ended", 1)
    thread.rewrites("message_posted", 10, type="turn_ended", turn_id=ended.turn_id, actor=ended.actor, data=ended.data)


CORRUPTIONS: dict[str, tuple[str, Change]] = {
    "a message is given another author": (
        "INV1", lambda thread: thread.message("raise the budget").update(author=thread.studio.ben.actor)),
    "a post is given another author": (
        "INV1", lambda thread: thread.rewrites("message_posted", 0, actor=thread.studio.ben.actor)),
    "a turn's start is for another": (
        "INV1", lambda thread: thread.rewrites("turn_started", 0, actor=thread.robin_for_ben)),
    "a turn's row is for another": (
        "INV1", lambda thread: Turn.objects.filter(number=1).update(on_behalf_of=thread.studio.ben.actor)),
    "a turn's row is for no one": (
        "INV1", lambda thread: Turn.objects.filter(number=1).update(on_behalf_of=None)),
    "a turn changes whom it is for": (
        "INV1", lambda thread: thread.rewrites("call_ended", 0, actor=thread.robin_for_ben)),
    "an effect of a turn is for another": (
        "INV1", lambda thread: thread.rewrites("document_changed", 0, actor=thread.robin_for_ben)),
    "an answer is another's": (
        "INV1", lambda thread: Question.objects.update(answered_by=thread.studio.ben.actor)),
    "a turn resumes for who did not answer": (
        "INV1", lambda thread: thread.rewrites("question_answered", actor=thread.studio.ben.actor)),
    "a message is lost": (
        "INV2", lambda thread: thread.removes(thread.message("raise the budget"))),
    "a message that nobody posted": ("INV2", _stray),
    "a taken message is open": (
        "INV2", lambda thread: thread.message("invite them").update(waits=True, taken_by=None, taken_as=None)),
    "a taken message has no end": (
        "INV2", lambda thread: thread.message("invite them").update(taken_by=None, taken_as=None)),
    "a message is taken by another turn than it says": (
        "INV2", lambda thread: thread.message("invite them").update(taken_by=thread.turn_of("turn_started", 0))),
    "a message is taken as something else": (
        "INV2", lambda thread: thread.message("to 950").update(taken_as="prompt")),
    "a message is taken twice": ("INV2", _taken_again),
    "a waiting message is forgotten": (
        "INV2", lambda thread: thread.message("me next").update(waits=False)),
    "a waiting message is taken by nobody's record": (
        "INV2", lambda thread: thread.message("me next").update(
            waits=False, taken_by=thread.last.turn.id, taken_as="steer")),
    "a cancelled message waits": (
        "INV2", lambda thread: thread.message("forget it").update(cancelled_at=None, waits=True)),
    "a message that was passed over is not": (
        "INV2", lambda thread: thread.message("and cancel the venue").update(passed_over=None)),
    "a comment waits for a turn": (
        "INV2", lambda thread: thread.message("people only").update(waits=True)),
    "a turn takes in another order": ("INV3", _swapped),
    "a turn takes past a waiting message": ("INV3", _not_the_oldest),
    "a later message is the reply": ("INV3", _later_reply),
    "two turns run at once": (
        "INV4", lambda thread: thread.rewrites("turn_ended", 0, type="forgotten")),
    "a lease's epoch goes back": (
        "INV4", lambda thread: thread.rewrites("turn_started", 4, lease_epoch=1)),
    "a turn writes in another's epoch": (
        "INV4", lambda thread: thread.rewrites("document_changed", 0, lease_epoch=2)),
    "a turn acts after its end": ("INV4", _acts_after_its_end),
    "a change is made before anyone had the right": (
        "INV5", lambda thread: thread.rewrites("document_changed", 0, grants_epoch=1)),
    "a change is made with a right nobody gave": (
        "INV5", lambda thread: thread.removes(
            GrantChange.objects.filter(account=thread.studio.robin.id, codename="change_document"))),
    "a right was taken before the change": (
        "INV5", lambda thread: thread.rewrites("document_changed", 1, grants_epoch=5)),
    "a change is decided in an epoch that never was": (
        "INV5", lambda thread: thread.rewrites("document_changed", 1, grants_epoch=900)),
    "a viewer posts": (
        "INV5", lambda thread: thread.rewrites("message_posted", 0, actor=thread.studio.vera.actor)),
    "an agent changes a document in suggest mode": ("INV5", _suggests),
    "a revision is by another": (
        "INV5", lambda thread: Revision.objects.filter(version=2).update(actor=thread.studio.ana.actor)),
    "a revision without an event": (
        "INV5", lambda thread: thread.rewrites("document_changed", 0, type="forgotten")),
    "somebody rejects their own proposal": ("INV8", _own_proposal),
    "a proposal is resolved twice": ("INV8", _resolved_again),
    "a proposal is resolved without a record": (
        "INV8", lambda thread: Proposal.objects.filter(state="open").update(
            state="accepted", resolver=thread.studio.ben.actor, resolved_at=F("proposed_at"))),
    "a rejected proposal is an accepted one": (
        "INV8", lambda thread: Proposal.objects.filter(state="rejected").update(state="accepted")),
    "a proposal is said to be another's": (
        "INV8", lambda thread: Proposal.objects.filter(state="open").update(proposer=thread.studio.ben.actor)),
    "an event is gone": (
        "INV12", lambda thread: thread.removes(Event.objects.filter(pk=thread.event("message_taken").pk))),
    "the last event is gone": (
        "INV12", lambda thread: thread.removes(Event.objects.filter(seq=F("thread__head_seq")))),
    "the head is another": (
        "INV12", lambda thread: Thread.objects.update(head_seq=F("head_seq") + 1)),
    "the head's hash is another": (
        "INV12", lambda thread: Thread.objects.update(head_hash="0" * 64)),
    "a turn that ended runs": (
        "INV15", lambda thread: Turn.objects.filter(number=3).update(status="failed")),
    "a turn that runs has ended": (
        "INV15", lambda thread: Turn.objects.filter(number=5).update(status="completed")),
    "a turn ends twice": ("INV15", _ends_again),
    "a turn begins at another place": (
        "INV15", lambda thread: Turn.objects.filter(number=1).update(seq=1)),
    "a turn ends with a call open": (
        "INV15", lambda thread: thread.rewrites("call_ended", 0, type="forgotten")),
    "a turn is resumed with its call open": (
        "INV15", lambda thread: thread.rewrites("call_ended", 1, type="forgotten")),
    "a call ends otherwise than it says": (
        "INV15", lambda thread: Call.objects.filter(turn__number=1).update(outcome="failed")),
    "a call is lost": (
        "INV15", lambda thread: thread.removes(Call.objects.filter(turn__number=5))),
    "a question is answered that was not asked": (
        "INV15", lambda thread: thread.retells("turn_paused", questions=[])),
    "an event says something else": (
        "chain", lambda thread: thread.spoils("call_ended", 0, data='{"call":"","outcome":"failed"}')),
    "an event is by another": (
        "chain", lambda thread: thread.spoils("call_ended", 0, actor=thread.robin_for_ben)),
    "an event happened at another time": (
        "chain", lambda thread: thread.spoils("call_ended", 0, at="2020-01-01T00:00:00Z")),
    "an event follows another": (
        "chain", lambda thread: thread.spoils("call_ended", 0, prev_hash="1" * 64)),
    "somebody's words are changed": (
        "chain", lambda thread: thread.message("raise the budget").update(content="lower the budget")),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "change"), CORRUPTIONS.values(), ids=CORRUPTIONS.keys())
def test_a_row_that_is_changed_breaks_the_rule_that_is_named(worked_in: Tampered, rule: str, change: Change):
    change(worked_in)
    found = broken()
    assert rule in found
    assert "chain" not in found or rule in {"chain", "INV12"}


def test_a_text_that_was_erased_with_its_salt_breaks_nothing(worked_in: Tampered):
    worked_in.message("raise the budget").update(content="", salt="")
    assert findings() == []


def test_an_event_of_a_later_version_breaks_nothing(worked_in: Tampered):
    worked_in.rewrites("focus_changed", type="weather_changed", data='{"to":"rain"}')
    assert findings() == []


def test_data_that_is_no_json_is_named_and_the_audit_goes_on(worked_in: Tampered):
    worked_in.spoils("turn_started", 0, data="not json")
    assert {"chain", "INV2"} <= broken()


def test_what_waits_for_long_where_a_turn_could_take_it_is_a_note(worked_in: Tampered):
    worked_in.last.ends()
    waiting = worked_in.message("me next")
    waiting.update(posted_at="2020-01-01T00:00:00Z")
    notes = [found for found in findings() if found.is_note]
    assert [(note.rule, note.seq) for note in notes] == [("INV2", waiting.get().seq)]
