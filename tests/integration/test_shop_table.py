"""The table of REPLIES, The shop: each row through the real shop pack, the reader and the fake world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.actions.services import action_approve, action_decline
from agents.models.actions import PendingAction
from agents.models.agents import Agent
from agents.world.places import Places
from tests.support.cast import Studio
from tests.support.fake_world import Fake, packs_enabled, world_beside
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, turns

pytestmark = pytest.mark.django_db(transaction=True)

LOST = "my parcel is lost"
UNREAD = "I didn't recognise anything in that. I can get order or refund card. Which do you mean?"
REFUNDED = "Refunded 12.5 pounds for order 4412."
NOT_DONE = "Not done: refund card."
WAITS = "Once you confirm, I will refund 12.5 pounds for order 4412."


@pytest.fixture
def fake(tmp_path: Path, studio: Studio) -> Iterator[Fake]:
    """A shop whose agent reads what people ask."""
    packs_enabled(studio, ("get_order", "refund_card"))
    Agent.objects.update(reader="on", on_unread="model")
    with world_beside(tmp_path / "world.jsonl") as running:
        yield running


def says(studio: Studio, stage: Stage, text: str) -> str:
    """Have Ana say something that the reader answers, and return what she reads."""
    posts(studio.ana, studio.thread, text)
    stage.settles()
    return replies(studio.thread)[-1]


def answered(studio: Studio, puppet: Puppet, stage: Stage, reply: str, tool: str, **args: object) -> str:
    """Have Ana say twice that her parcel is lost and the model then make a call and say something."""
    says(studio, stage, LOST)
    posts(studio.ana, studio.thread, LOST)
    puppet.calls(tool, **args)
    puppet.says(reply)
    stage.settles()
    return replies(studio.thread)[-1]


def asked_to_refund(studio: Studio, puppet: Puppet, stage: Stage) -> PendingAction:
    """Have the model ask for a refund of 12.50."""
    assert answered(studio, puppet, stage, "One moment.", "refund_card", order="4412", amount=12.5).endswith(WAITS)
    return PendingAction.objects.get()


def test_words_that_nothing_reads_are_asked_about_once_and_the_model_is_given_the_next(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage
) -> None:
    assert says(studio, stage, LOST) == UNREAD
    assert turns(studio.thread)[0].input_tokens == 0
    posts(studio.ana, studio.thread, LOST)
    assert LOST in puppet.is_asked().words
    puppet.says("Which order is it?")
    stage.settles()
    assert replies(studio.thread) == [UNREAD, "Which order is it?"]


def test_where_they_are_asked_each_time_no_model_is_asked(studio: Studio, fake: Fake, stage: Stage) -> None:
    Agent.objects.update(on_unread="ask")
    assert [says(studio, stage, LOST) for _ in range(3)] == [UNREAD] * 3
    assert [turn.input_tokens for turn in turns(studio.thread)] == [0] * 3


def test_an_order_that_was_only_read_was_not_refunded(studio: Studio, fake: Fake, puppet: Puppet, stage: Stage) -> None:
    assert answered(studio, puppet, stage, "Order 4412 has been refunded.", "get_order", order="4412") == NOT_DONE


def test_an_amount_that_is_none_is_refused(studio: Studio, fake: Fake, puppet: Puppet, stage: Stage) -> None:
    read = answered(studio, puppet, stage, "I've refunded order 4412.", "refund_card", order="4412", amount="all")
    assert read == "I couldn't refund order 4412: argument_schema."


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("I've refunded 15.00 pounds to your card for order 4412.", REFUNDED),
        ("I've refunded 12.50 pounds to your card for order 4412.", None),
    ],
)
def test_an_approved_refund_is_told_with_the_amount_that_was_refunded(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage, written: str, read: str | None
) -> None:
    action = asked_to_refund(studio, puppet, stage)
    assert fake.deeds == []
    action_approve(actor=studio.ana.actor, action=action.id)
    puppet.says(written)
    stage.settles()
    assert replies(studio.thread)[-1] == (read or written)
    assert fake.deeds == ["refund"]


def test_a_declined_refund_is_never_told_as_made(studio: Studio, fake: Fake, puppet: Puppet, stage: Stage) -> None:
    action_decline(actor=studio.ana.actor, action=asked_to_refund(studio, puppet, stage).id)
    posts(studio.ana, studio.thread, "and now?")
    puppet.says("Order 4412 has been refunded.")
    stage.settles()
    assert replies(studio.thread)[-1] == NOT_DONE
    assert fake.deeds == []


def test_an_order_of_which_nothing_was_refunded_is_not_told_as_refunded(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = {"order": "4412", "paid": "12.50", "refunded": "0.00", "currency": "GBP"}
    monkeypatch.setattr(Places, "order", lambda places, number: order)
    assert answered(studio, puppet, stage, "Order 4412 has been refunded.", "get_order", order="4412") == NOT_DONE


class TestRead:
    """What the reader reads is called without a model."""

    def test_a_plain_request_is_called_and_still_needs_its_consent(
        self, studio: Studio, fake: Fake, stage: Stage, puppet: Puppet
    ) -> None:
        assert says(studio, stage, "please refund 12.50 for order 4412") == WAITS
        (turn,) = turns(studio.thread)
        assert outcomes(turn) == [("refund_card", "pending_confirmation", "consent")]
        assert turn.input_tokens == 0
        action_approve(actor=studio.ana.actor, action=PendingAction.objects.get().id)
        puppet.says("I've refunded 15.00 pounds.")
        stage.settles()
        assert replies(studio.thread)[-1] == REFUNDED

    def test_a_read_tells_that_it_was_made(self, studio: Studio, fake: Fake, stage: Stage) -> None:
        assert says(studio, stage, "get order 4412") == "Done: get order with order 4412."

    def test_it_is_checked_like_any_call(self, studio: Studio, fake: Fake, stage: Stage) -> None:
        assert says(studio, stage, "get order 9") == "I couldn't read order 9: There is no order 9."

    def test_it_is_off_until_someone_turns_it_on(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        posts(studio.ana, studio.thread, "list all documents")
        puppet.is_asked()
        puppet.says("There is one.")
        stage.settles()
        assert replies(studio.thread) == ["There is one."]


class TestComposed:
    """With the composer ``template`` the same is read, whatever the model writes."""

    @pytest.fixture(autouse=True)
    def composed(self, fake: Fake) -> None:
        Agent.objects.update(composer="template")

    def test_words_that_nothing_reads_are_asked_about(self, studio: Studio, stage: Stage) -> None:
        assert says(studio, stage, LOST) == UNREAD

    def test_an_approved_refund_is_told_by_its_phrasing(self, studio: Studio, puppet: Puppet, stage: Stage) -> None:
        assert says(studio, stage, "refund 12.50 for order 4412") == WAITS
        action_approve(actor=studio.ana.actor, action=PendingAction.objects.get().id)
        puppet.says("I've refunded 15.00 pounds.")
        stage.settles()
        assert replies(studio.thread)[-1] == REFUNDED

    def test_a_read_that_was_asked_for_is_told(self, studio: Studio, stage: Stage) -> None:
        assert says(studio, stage, "get order 4412") == "Done: get order with order 4412."
