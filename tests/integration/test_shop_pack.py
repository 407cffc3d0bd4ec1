"""The shop's tools through the call path, against the fake world (DESIGN 7; REPLIES, The shop)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import ValidationError

from agents.replies.record import OUTCOMES, CallRecord
from agents.tools.contract import NotDone, ToolContext
from agents.tools.registry import SETTING, TOOLS
from agents.tools.shop import tools as shop
from tests.support.cast import Studio
from tests.support.fake_world import Fake, packs_enabled, world_beside
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, turns

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fake(tmp_path: Path, studio: Studio) -> Iterator[Fake]:
    packs_enabled(studio)
    with world_beside(tmp_path / "world.jsonl") as running:
        yield running


def context(studio: Studio, key: str = "k") -> ToolContext:
    acting = studio.robin.acting_for(studio.ana, studio.thread)
    return ToolContext(
        actor=acting, workspace=studio.workspace.id, thread=studio.thread.id, turn=uuid4(), said=str, key=key
    )


def asks(studio: Studio, puppet: Puppet, stage: Stage, reply: str, tool: str, **args: object) -> str:
    """Have Robin make a call for Ana and say something, and return what she reads."""
    posts(studio.ana, studio.thread, "my parcel is lost")
    puppet.calls(tool, **args)
    puppet.says(reply)
    stage.settles()
    return replies(studio.thread)[-1]


def test_an_order_that_was_only_read_was_not_refunded(studio: Studio, fake: Fake, puppet: Puppet, stage: Stage):
    read = asks(studio, puppet, stage, "Order 4412 has been refunded.", "get_order", order="4412")
    assert read == "Not done: refund card."
    assert fake.deeds == []


def test_an_amount_that_is_none_is_refused_and_the_reply_says_so(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage
):
    read = asks(studio, puppet, stage, "I've refunded order 4412.", "refund_card", order="4412", amount="all")
    assert read.startswith("I couldn't refund order 4412: ")
    assert outcomes(turns(studio.thread)[0]) == [("refund_card", "refused", "argument_schema")]


def test_a_refund_waits_for_a_persons_consent_even_where_a_person_asked_for_it(
    studio: Studio, fake: Fake, puppet: Puppet, stage: Stage
):
    asks(studio, puppet, stage, "I've refunded 12.50 pounds.", "refund_card", order="4412", amount=12.5)
    assert fake.deeds == []
    (call,) = outcomes(turns(studio.thread)[0])
    assert call[0] == "refund_card"
    assert call[1] != "done"


def test_a_refund_is_made_once_for_its_key_and_never_more_than_was_paid(studio: Studio, fake: Fake):
    first, second = (
        asyncio.run(shop.refund_card.fn(context(studio), order="4412", amount=Decimal("12.5"))) for _ in range(2)
    )
    assert first == second == {"refund": "F1", "order": "4412", "amount": "12.50", "currency": "GBP"}
    with pytest.raises(NotDone, match=r"Only 0\.00"):
        asyncio.run(shop.refund_card.fn(context(studio, "other"), order="4412", amount=Decimal(1)))
    assert fake.deeds == ["refund"]
    assert asyncio.run(shop.get_order.fn(context(studio), order="4412"))["remaining"] == "0.00"


def test_an_order_that_does_not_exist_is_a_certain_failure(studio: Studio, fake: Fake):
    with pytest.raises(NotDone, match="There is no order 9"):
        asyncio.run(shop.get_order.fn(context(studio), order="9"))


@pytest.mark.parametrize(
    "args",
    [
        {"order": "4412", "amount": 0},
        {"order": "4412", "amount": -1},
        {"order": "4412", "amount": 12.505},
        {"order": "4412", "amount": "1e9"},
        {"order": "../ledger", "amount": 1},
        {"order": "", "amount": 1},
    ],
    ids=[f"number {number}" for number in range(6)],
)
def test_arguments_that_are_out_of_bounds_are_refused(args: dict[str, object]):
    with pytest.raises(ValidationError):
        shop.refund_card.args.model_validate_json(json.dumps(args))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_of_a_refund_has_a_sentence_with_nothing_left_unfilled(outcome: str):
    record = CallRecord("refund_card", args={"order": "4412", "amount": 12.5}, outcome=outcome, effect="write")
    said = SETTING.phrasings.say(SETTING.words.tools[TOOLS["refund_card"].name], record)
    assert said
    assert "{" not in said
