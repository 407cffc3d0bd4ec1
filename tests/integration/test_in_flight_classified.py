"""What a message means for the turn it comes during: the model says, or its author by button (DESIGN 6, In flight)."""

from __future__ import annotations

import pytest

from agents.models.agents import Agent
from agents.models.turns import Turn
from agents.turns.holding import message_mean, messages_let_go
from collab.commands import run
from collab.errors import CollabError, Gone, Invalid
from collab.models.threads import Message
from collab.reads import build
from collab.services.messages import message_cancel
from permissions.errors import NotFound, Refused
from tests.support.cast import Desk, Someone, Studio
from tests.support.turns import Puppet, Stage, posts, replies, took, turns, types, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def classifies(studio: Studio) -> None:
    Agent.objects.filter(pk=studio.robin.id).update(classify=True)


def says(puppet: Puppet, meaning: str) -> None:
    """Answer what a message means; the model is asked that after its step."""
    asked = puppet.is_asked()
    assert "Say what it means for this work" in asked.words
    puppet.calls("message_means", meaning=meaning)


def during(studio: Studio, puppet: Puppet, text: str, meaning: str) -> Message:
    """Post something while a turn for Ana works, and take that to its next boundary."""
    posts(studio.ana, studio.thread, "book a table for Friday")
    puppet.is_asked()
    message = posts(studio.ana, studio.thread, text)
    puppet.calls("list_documents")
    says(puppet, meaning)
    return message


def held(studio: Studio, puppet: Puppet) -> Message:
    """Have a message of Ana's held while her turn works on."""
    message = during(studio, puppet, "hm, Sam", "unclear")
    puppet.is_asked()
    message.refresh_from_db()
    assert message.held_at is not None
    return message


def ends(puppet: Puppet, stage: Stage, *texts: str) -> None:
    for text in texts:
        puppet.says(text)
    stage.settles()


def test_what_adds_joins(studio: Studio, puppet: Puppet, stage: Stage):
    during(studio, puppet, "also tell Sam", "adds")
    assert "also tell Sam" in puppet.is_asked().words
    ends(puppet, stage, "Both.")
    assert [took(turn) for turn in turns(studio.thread)] == [["book a table for Friday", "also tell Sam"]]


def test_what_is_independent_waits_and_is_asked_about_once(studio: Studio, puppet: Puppet, stage: Stage):
    message = during(studio, puppet, "what is the time?", "independent")
    puppet.is_asked()
    message.refresh_from_db()
    assert (message.meant, message.waits) == ("independent", True)
    puppet.calls("list_documents")
    assert "Say what it means" not in puppet.is_asked().words
    puppet.says("Booked nothing.")
    assert "what is the time?" in puppet.is_asked().words
    ends(puppet, stage, "Noon.")
    assert [took(turn) for turn in turns(studio.thread)] == [["book a table for Friday"], ["what is the time?"]]


def test_the_tokens_of_asking_are_counted(studio: Studio, puppet: Puppet, stage: Stage):
    during(studio, puppet, "what is the time?", "independent")
    puppet.is_asked()
    spent = Turn.objects.get().input_tokens
    assert spent > 0
    ends(puppet, stage, "One.", "Two.")
    assert Turn.objects.get(number=1).input_tokens > spent


def test_anothers_message_is_never_put_to_the_model(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    posts(studio.ben, studio.thread, "actually, cancel all")
    posts(studio.ana, studio.thread, "also tell Sam")
    puppet.calls("list_documents")
    assert "Say what it means" not in puppet.is_asked().words
    ends(puppet, stage, "One.", "Two.", "Three.")
    until(lambda: len(replies(studio.thread)) == 3)
    assert [len(took(turn)) for turn in turns(studio.thread)] == [1, 1, 1]


@pytest.mark.parametrize(
    "answer",
    [("message_means", {"meaning": "perhaps"}), ("message_means", {}), ("message_means", "no json"), ("other", {})],
    ids=["no-meaning", "empty", "no-json", "another-tool"],
)
def test_a_nonsensical_answer_is_unclear(studio: Studio, puppet: Puppet, stage: Stage, answer: tuple[str, object]):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    message = posts(studio.ana, studio.thread, "hm")
    puppet.calls("list_documents")
    puppet.is_asked()
    puppet.says("Well.", calls=[answer])
    puppet.is_asked()
    message.refresh_from_db()
    assert message.held_at is not None
    ends(puppet, stage, "Done.")


def test_a_model_that_fails_to_answer_leaves_it_unclear_and_the_turn_goes_on(
    studio: Studio, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    message = posts(studio.ana, studio.thread, "hm")
    puppet.calls("list_documents")
    puppet.is_asked()
    puppet.breaks(ValueError("the service is away"))
    puppet.is_asked()
    message.refresh_from_db()
    assert message.held_at is not None
    ends(puppet, stage, "Done.")
    assert turns(studio.thread)[0].status == "completed"


def test_a_held_message_waits_for_no_turn_until_its_author_says_it_adds(studio: Studio, puppet: Puppet, stage: Stage):
    message = held(studio, puppet)
    message_mean(actor=studio.ana.actor, message=message.id, meant="adds")
    puppet.calls("list_documents")
    assert "hm, Sam" in puppet.is_asked().words
    ends(puppet, stage, "Both.")
    assert [took(turn) for turn in turns(studio.thread)] == [["book a table for Friday", "hm, Sam"]]


def test_what_it_means_when_the_work_is_over_just_waits(studio: Studio, puppet: Puppet, stage: Stage):
    message = held(studio, puppet)
    ends(puppet, stage, "Booked nothing.")
    assert len(turns(studio.thread)) == 1
    found = message_mean(actor=studio.ana.actor, message=message.id, meant="revises")
    assert found.meant == "independent"
    assert "hm, Sam" in puppet.is_asked().words
    ends(puppet, stage, "Yes.")
    first, second = turns(studio.thread)
    assert (first.status, took(second), second.revises_id) == ("completed", ["hm, Sam"], None)


def test_only_its_author_in_person_says_what_it_means_and_once(
    studio: Studio, puppet: Puppet, stage: Stage, zoe: Someone, desk: Desk
):
    message = held(studio, puppet)
    for actor in (studio.ben.actor, studio.vera.actor, studio.robin.acting_for(studio.ana, studio.thread)):
        with pytest.raises(Refused, match="Only its author, in person"):
            message_mean(actor=actor, message=message.id, meant="adds")
    for actor in (zoe.actor, desk.acting_for(None)):
        with pytest.raises(NotFound):
            message_mean(actor=actor, message=message.id, meant="adds")
    with pytest.raises(Invalid):
        message_mean(actor=studio.ana.actor, message=message.id, meant="unclear")
    message_mean(actor=studio.ana.actor, message=message.id, meant="independent")
    with pytest.raises(Gone):
        message_mean(actor=studio.ana.actor, message=message.id, meant="adds")
    ends(puppet, stage, "One.", "Two.")


def test_by_command_it_means_one_of_three(studio: Studio, puppet: Puppet, stage: Stage):
    message = held(studio, puppet)
    for meant in ("unclear", "", None, 3):
        with pytest.raises((CollabError, ValueError)):
            run(studio.ana.actor, "message_mean", f"bad {meant}", {"message": str(message.id), "meant": meant})
    args = {"message": str(message.id), "meant": "independent"}
    done = run(studio.ana.actor, "message_mean", "good", args)
    assert (done["meant"], done["seq"]) == ("independent", message.seq)
    ends(puppet, stage, "One.", "Two.")


def test_a_held_message_can_be_cancelled(studio: Studio, puppet: Puppet, stage: Stage):
    message = held(studio, puppet)
    assert message_cancel(actor=studio.ana.actor, message=message.id).held_at is None
    with pytest.raises(Gone):
        message_mean(actor=studio.ana.actor, message=message.id, meant="adds")
    ends(puppet, stage, "Done.")
    assert len(turns(studio.thread)) == 1


def test_a_held_message_shows_that_it_is_and_why(studio: Studio, puppet: Puppet, stage: Stage):
    message = held(studio, puppet)
    (shown,) = build(studio.ben.actor, [("message", message.id)])
    assert (shown["state"], shown["because"]) == ("held", "Robin cannot tell whether this adds to what it does.")
    ends(puppet, stage, "Done.")


def test_what_nobody_explains_within_a_day_waits_for_a_turn_of_its_own(
    studio: Studio, puppet: Puppet, stage: Stage, clock
):
    message = held(studio, puppet)
    ends(puppet, stage, "Done.")
    messages_let_go()
    message.refresh_from_db()
    assert message.held_at is not None
    clock(24 * 3600 + 60)
    messages_let_go()
    assert "hm, Sam" in puppet.is_asked().words
    ends(puppet, stage, "Yes.")
    assert took(turns(studio.thread)[1]) == ["hm, Sam"]
    assert types(studio.thread).count("message_released") == 1


def test_what_the_model_said_counts_only_for_messages_that_still_wait(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    message = posts(studio.ana, studio.thread, "actually, Saturday")
    puppet.calls("list_documents")
    puppet.is_asked()
    message_cancel(actor=studio.ana.actor, message=message.id)
    puppet.calls("message_means", meaning="revises")
    puppet.is_asked()
    ends(puppet, stage, "Done.")
    message.refresh_from_db()
    assert (message.meant, turns(studio.thread)[0].status) == ("", "completed")
