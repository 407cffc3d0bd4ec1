"""An agent's reply rules are the last thing a reply passes (REPLIES 10)."""

from dataclasses import replace

import pytest

from agents.replies.rules import ReplyRules, passes_luhn
from agents.replies.stream import CheckedStream
from tests.support.replies import held, refund, said, shop

STRICT = ReplyRules(
    never_show=frozenset({"email", "phone", "card"}),
    never_say=("as an AI model",),
    never_offer=("discount",),
    required=("Calls may be recorded.",),
)


def ruled(text: str, rules: ReplyRules = STRICT) -> str:
    """Return what a person reads of a reply under reply rules."""
    return said(text, setting=replace(shop(), rules=rules)).removesuffix("\n\nCalls may be recorded.")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Write to ana@example.org.", "Write to [address withheld]."),
        ("Ring 020 7946 0958 or +351 21 123 4567 today.", "Ring [number withheld] or [number withheld] today."),
        ("Your card 4111 1111 1111 1111 is fine.", "Your card [card number withheld] is fine."),
        ("Your card ４１１１ 1111-1111-1111 is fine.", "Your card [card number withheld] is fine."),
        ("Your order 4111 1111 1111 1112 is fine.", "Your order 4111 1111 1111 1112 is fine."),
        ("Order 4412 has two items.", "Order 4412 has two items."),
    ],
)
def test_personal_data_of_a_kind_never_shown_is_withheld(text: str, read: str) -> None:
    assert ruled(text) == read


@pytest.mark.parametrize("text", ["As an AI model, I have no body. ", "As  an **AI** model I see nothing. "])
def test_a_span_with_a_phrase_never_said_is_left_out(text: str) -> None:
    assert ruled(f"Hello. {text}What else?") == "Hello. What else?"


def test_only_an_offer_of_what_is_not_on_offer_is_left_out() -> None:
    assert ruled("I can give you a discount. What else?") == "What else?"
    assert ruled("The discount ended in May. What else?") == "The discount ended in May. What else?"


def test_a_required_sentence_stands_once_at_the_end() -> None:
    setting = replace(shop(), rules=STRICT)
    assert said("Hello.", setting=setting) == "Hello.\n\nCalls may be recorded."
    assert said("Hello. Calls may be recorded.", setting=setting) == "Hello. Calls may be recorded."
    assert [ruling.rule for ruling in held("Hello.", setting=setting).rulings] == ["required"]


def test_the_rules_hold_for_what_is_streamed() -> None:
    setting = replace(shop(), rules=STRICT)
    text = "Hello. Write to ana@example.org. As an AI model, I refunded it. Bye."
    stream = CheckedStream(setting, calls=[refund()])
    assert stream.feed(text) == ["Hello. "]
    rest = "".join(stream.close())
    assert f"Hello. {rest}" == said(text, refund(), setting=setting)
    assert "ana@" not in rest
    assert stream.text == f"Hello. {rest}"


def test_without_rules_nothing_is_looked_for() -> None:
    text = "Write to ana@example.org or ring 020 7946 0958."
    assert ruled(text, ReplyRules()) == text


@pytest.mark.parametrize(
    ("number", "passes"), [("4111111111111111", True), ("4111111111111112", False), ("79927398713", True)]
)
def test_a_card_number_checks_out_by_its_last_digit(number: str, passes: bool) -> None:
    assert passes_luhn(number) is passes
