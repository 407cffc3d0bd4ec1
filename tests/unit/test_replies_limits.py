"""What a model writes is checked in time that grows with its length, and nothing hides in too much (REPLIES)."""

import pytest

from agents.replies.evidence import evidence_of
from agents.replies.judging import MOST_TIED, MOST_VERBS
from tests.support.replies import held, order, refund, said

LONG = 100_000
PATTERNS = [
    "refunded ", "refunded, ", "refunded. ", "**refunded** ", "[refund](a) ", "[", "[a](", "&amp;", "| refunded |\n",
    "- Refunded £1\n", "re\u200bfunded ", "if refunded ", '"refunded" you ', "Refunded:\n", "```\n", "> ", "完成了。",
    "Not done: refund card. ", "x", "*", "1,", "one ", "a1-", "May 2 ", "@", "ending in ", "£1", "1 pound ",
    ", ", "- ", "twenty-", "not ", "has been ",
]  # fmt: skip


@pytest.mark.timeout(30)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_long_reply_of_one_pattern_is_checked(pattern: str) -> None:
    text = f"I've refunded order 4412 {pattern * (LONG // len(pattern))}"
    assert (
        "Refunded 12.5 pounds for order 4412." in said(text, refund("done"), order()) or "refunded order 4412" in text
    )
    evidence_of({"text": text}, text)


def test_a_span_with_more_verbs_than_are_read_is_replaced() -> None:
    text = f"{'Not refunded, ' * MOST_VERBS}and refunded."
    assert [ruling.rule for ruling in held(text, order()).rulings] == ["unread"]
    assert said(text, order()) == "Not done: refund card."


def test_a_reply_that_speaks_of_more_actions_than_are_read_gives_way_to_what_was_done() -> None:
    text = "Hello. " + "I'm asking about the refund. Refunded it? " * MOST_TIED + "I've cancelled order 4412."
    checked = held(text, refund("done"), order())
    assert checked.text == "Hello. Refunded 12.5 pounds for order 4412."
    assert [ruling.rule for ruling in checked.rulings] == ["unread"]


def test_more_values_than_are_read_support_no_claim() -> None:
    text = "I've refunded order 4412: " + ", ".join(f"£{number}.10" for number in range(200))
    assert said(text, refund("done")) == "Refunded 12.5 pounds for order 4412."
