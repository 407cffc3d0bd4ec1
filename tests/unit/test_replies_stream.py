"""What is streamed is the checked reply, however the text arrives (REPLIES, Streaming)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.replies.check import check
from agents.replies.record import OUTCOMES, CallRecord, Record
from agents.replies.stream import CheckedStream
from tests.support.replies import cancel, order, refund, shop

SHOP = shop()
fragments = st.sampled_from(
    [
        "I've refunded order 4412. ",
        "I've refunded 15.00 pounds for order 4412.",
        "Your refund couldn't be processed. ",
        "Here are the details:\n",
        "- Order 4412: £12.50\n",
        "- Refunded\n",
        "1. Order 4413 cancelled\n",
        "| Order | State |\n|---|---|\n",
        "| 4412 | refunded |\n",
        "Which one do you mean? ",
        "Hello Ana. ",
        "```\nrefunded\n```\n",
        "> refunded\n",
        "O pedido foi reembolsado com sucesso. ",
        "完成了。",
        "\n\n",
        " ",
        "# Refund issued\n",
        "Not done: refund card.",
        "I'll refund it, ",
        "and I have cancelled order 4412",
        "e.g. ",
        "£12.50",
    ]
)
texts = st.lists(fragments | st.text(max_size=6), max_size=14).map("".join)
calls = st.lists(
    st.builds(refund, st.sampled_from(OUTCOMES))
    | st.builds(cancel, st.sampled_from(OUTCOMES))
    | st.just(order(status="shipped")),
    max_size=3,
)


def streamed(text: str, cuts: list[int], made: list[CallRecord]) -> str:
    """Return what leaves a stream that is fed a text in parts, its calls ending the response."""
    stream = CheckedStream(SHOP, calls=made)
    edges = [0, *sorted(cuts), len(text)]
    shown = [part for start, end in pairwise(edges) for part in stream.feed(text[start:end])]
    return "".join([*shown, *stream.close()])


@given(texts, calls, st.data())
def test_what_is_streamed_is_the_whole_reply_checked_wherever_it_is_cut(
    text: str, made: list[CallRecord], data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert streamed(text, cuts, made) == check(text, Record(made), SHOP).text


@given(texts, calls)
def test_a_checked_reply_checked_again_is_unchanged(text: str, made: list[CallRecord]) -> None:
    once = check(text, Record(made), SHOP)
    again = check(once.text, Record(made), SHOP)
    assert again.text == once.text
    assert again.rulings == ()


@given(texts, calls)
def test_a_reply_nothing_was_done_to_is_what_was_written(text: str, made: list[CallRecord]) -> None:
    checked = check(text, Record(made), SHOP)
    assert checked.text == text or checked.rulings


def test_a_span_that_speaks_of_nothing_leaves_before_the_response_ends() -> None:
    stream = CheckedStream(SHOP)
    assert stream.feed("Hello Ana. How are you today? I've ref") == ["Hello Ana. ", "How are you today? "]
    assert stream.feed("unded order 4412. Bye.") == []
    assert stream.close() == ["Not done: refund card. Bye."]


def test_what_is_said_before_a_call_is_held_to_what_became_of_it() -> None:
    stream = CheckedStream(SHOP)
    stream.feed("I'm refunding that now.")
    assert stream.respond([refund("refused", reason="argument_schema")]) == [
        "I couldn't refund order 4412: argument_schema."
    ]
    stream.feed("Is there anything else?")
    assert stream.close() == ["Is there anything else?"]


def test_a_write_that_the_turn_told_of_in_an_earlier_response_is_not_added() -> None:
    stream = CheckedStream(SHOP)
    stream.feed("I've refunded order 4412.")
    assert stream.respond([refund()]) == ["I've refunded order 4412."]
    stream.feed("Anything else?")
    assert stream.close() == ["Anything else?"]


def test_a_write_no_response_told_of_is_added_when_the_turn_closes() -> None:
    stream = CheckedStream(SHOP)
    stream.respond([refund()])
    stream.feed("Anything else?")
    assert "".join(stream.close()) == "Anything else?\n\nRefunded 12.5 pounds for order 4412."


def test_a_response_that_is_asked_for_again_leaves_nothing_of_its_held_text() -> None:
    stream = CheckedStream(SHOP)
    stream.feed("I've refunded order 4412.")
    stream.drop()
    stream.feed("Hello.")
    assert stream.close() == ["Hello."]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_rulings_of_a_stream_hold_no_text(outcome: str) -> None:
    stream = CheckedStream(SHOP)
    stream.feed("I've refunded 99.00 pounds for order 4412.")
    stream.respond([refund(outcome)])
    assert [(ruling.tool, ruling.action) for ruling in stream.rulings] == [("refund_card", "replaced")]
