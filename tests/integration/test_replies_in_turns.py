"""What people read of a turn, held to what its calls came to (DESIGN 9 and 10; REPLIES; FAILURES H11, J8, K)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from agents.models.turns import Question, Turn
from agents.turns import live
from agents.turns.spoken import earlier_calls
from collab.models.proposals import Proposal
from permissions.actors import Source
from permissions.roles import CHANGE_DOCUMENT
from permissions.services import grant_take
from tests.support.cast import Studio
from tests.support.turns import Puppet, Stage, posts, replies, turns, until

pytestmark = pytest.mark.django_db(transaction=True)

RAISE = {"document": "Launch plan", "edits": [{"find": "Budget: 900.", "replace": "Budget: 950."}], "version": 1}
STALE = {**RAISE, "edits": [{"find": "Budget: 800.", "replace": "Budget: 950."}]}
UNTRUE = "I've changed the Launch plan."


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of all live frames."""
    frames: list[str] = []
    monkeypatch.setattr(live.doorbell, "live", lambda thread, frame: frames.append(frame["text"]))
    return frames


def asks(studio: Studio, puppet: Puppet) -> None:
    posts(studio.ana, studio.thread, "raise the budget")
    puppet.is_asked()


def test_a_claim_that_a_refused_call_was_done_is_shown_to_nobody_and_kept_nowhere(
    studio: Studio, puppet: Puppet, stage: Stage, shown: list[str]
) -> None:
    grant_take(by=studio.ana.actor, holder=studio.robin.user, codename=CHANGE_DOCUMENT, obj=studio.workspace)
    grant_take(by=studio.ana.actor, holder=studio.robin.user, codename="propose_document", obj=studio.workspace)
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    puppet.says(UNTRUE)
    stage.settles()
    (reply,) = replies(studio.thread)
    assert reply.startswith("I couldn't make the change: Robin may not change")
    assert "".join(shown) == reply
    assert UNTRUE not in turns(studio.thread)[0].history


def test_a_claim_made_beside_a_call_waits_for_what_becomes_of_it(
    studio: Studio, puppet: Puppet, stage: Stage, shown: list[str]
) -> None:
    asks(studio, puppet)
    puppet.says(UNTRUE, calls=[("edit_document", STALE)])
    told = puppet.is_asked()
    assert UNTRUE not in told.words
    assert shown
    assert UNTRUE not in "".join(shown)
    puppet.says("Tell me the passage.")
    stage.settles()
    (reply,) = replies(studio.thread)
    assert reply.startswith("I couldn't make the change: ")
    assert reply.endswith("\n\nTell me the passage.")
    assert "".join(shown) == reply


def test_a_true_claim_stands_as_it_was_written(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    said = "I've changed the Launch plan: the budget is 950. Is there anything else?"
    puppet.says(said)
    stage.settles()
    assert replies(studio.thread) == [said]


def test_a_write_nobody_told_of_is_told_once(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    puppet.says("Is Friday still right?")
    stage.settles()
    assert replies(studio.thread) == ["Is Friday still right?\n\nLaunch plan is at version 2."]


def test_an_edit_that_was_only_suggested_is_not_told_as_made(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    grant_take(by=studio.ana.actor, holder=studio.robin.user, codename=CHANGE_DOCUMENT, obj=studio.workspace)
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    puppet.says("I've edited the Launch plan.")
    stage.settles()
    (reply,) = replies(studio.thread)
    assert "edited" not in reply
    assert "was suggested; a person must accept it." in reply


def test_a_question_and_a_reason_say_no_more_than_the_record(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    grant_take(by=studio.ana.actor, holder=studio.robin.user, codename=CHANGE_DOCUMENT, obj=studio.workspace)
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE, rationale="I have archived the document. The caterer asked for it.")
    puppet.is_asked()
    puppet.calls("ask_person", question="I've created the document. Which day?")
    until(Question.objects.exists)
    stage.settles()
    assert Proposal.objects.get().rationale == "Not done: archive document. The caterer asked for it."
    assert Question.objects.get().text == "Not done: create document. Which day?"


def test_what_an_earlier_turn_did_may_be_told_by_a_later_one(studio: Studio, puppet: Puppet, stage: Stage) -> None:
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    puppet.says("I've changed the Launch plan.")
    stage.settles()
    posts(studio.ben, studio.thread, "what happened?")
    puppet.is_asked()
    puppet.says("I have edited the Launch plan.")
    stage.settles()
    assert replies(studio.thread)[1:] == ["I have edited the Launch plan."]


def test_what_was_whole_of_a_broken_reply_is_shown_checked(
    studio: Studio, puppet: Puppet, stage: Stage, shown: list[Any]
) -> None:
    asks(studio, puppet)
    puppet.says("I've archived the Launch plan. It was old. And then I", calls=[("ask_person", "{")])
    puppet.is_asked()
    puppet.breaks(RuntimeError("gone"))
    stage.settles()
    (reply,) = replies(studio.thread)
    assert "I've archived" not in reply
    assert reply.startswith("Not done: archive document.")


def test_of_another_persons_calls_a_reply_is_held_to_what_everyone_is_told(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    puppet.says("Is Friday still right?")
    stage.settles()
    for someone in (studio.ben, studio.ana):
        posts(someone, studio.thread, "what happened?")
        puppet.is_asked()
        puppet.says("I looked.")
        stage.settles()
    _, for_ben, for_ana = turns(studio.thread)
    (to_ben,), (to_ana,) = earlier_calls(for_ben), earlier_calls(for_ana)
    assert (to_ben.name, to_ben.outcome, to_ben.args, to_ben.result) == ("edit_document", "done", {}, None)
    assert (to_ana.args, to_ana.result["version"]) == (RAISE, 2)


@pytest.mark.corrupts
def test_of_what_one_source_asked_for_the_turn_of_another_is_told_no_more_than_everyone(
    studio: Studio, puppet: Puppet, stage: Stage
) -> None:
    asks(studio, puppet)
    puppet.calls("edit_document", **RAISE)
    puppet.is_asked()
    puppet.says("Is Friday still right?")
    stage.settles()
    posts(studio.ben, studio.thread, "what happened?")
    puppet.is_asked()
    puppet.says("I looked.")
    stage.settles()
    for turn, owner in zip(turns(studio.thread), (studio.ana, studio.ben), strict=True):
        Turn.objects.filter(pk=turn.pk).update(origin=Source(uuid4(), owner.id), on_behalf_of=None)
    (told,) = earlier_calls(turns(studio.thread)[1])
    assert (told.name, told.args, told.result) == ("edit_document", {}, None)
