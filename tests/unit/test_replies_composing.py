"""Replies composed from phrasings, and how a reading is shown (REPLIES, Composers and The check)."""

from __future__ import annotations

from dataclasses import replace

from agents.replies.cases import case_of, setting_of
from agents.replies.composing import NOTHING_CHANGED, TemplateStream
from agents.replies.mending import Setting
from agents.replies.phrasings import phrasings_of
from agents.replies.record import CallRecord, Record
from agents.replies.rules import ReplyRules
from agents.replies.showing import shown
from agents.replies.words import compile_words, tool_words

GET = CallRecord("get_order", {"order_id": "4412"}, "done", {"total": 15.0}, effect="read")
REFUND = CallRecord("refund_card", {"order_id": "4412", "amount": 12.5}, "done", effect="write")
BAD = CallRecord(
    "refund_card", {"order_id": "4412", "amount": "all"}, "refused", reason="argument_schema", effect="write"
)
SAID, SAID_BAD = "Refunded 12.5 pounds for order 4412.", "I couldn't refund order 4412: argument_schema."

SHOP = Setting(
    compile_words([tool_words("get_order", ["order_id"]), tool_words("refund_card", ["order_id", "amount"])]),
    phrasings_of(
        {
            "refund_card": {
                "done": "Refunded {argument.amount} pounds for order {argument.order_id}.",
                "refused": "I couldn't refund order {argument.order_id}{because}.",
            }
        }
    ),
)


def streamed(stream: TemplateStream, *responses: tuple[str, list[CallRecord]]) -> str:
    """Let responses with their calls through a stream, and return what it showed."""
    found: list[str] = []
    for text, calls in responses:
        found += stream.feed(text)
        for call in calls:
            found += stream.respond([call])
        found += stream.respond()
    found += stream.close()
    assert "".join(found) == stream.text
    return stream.text


def test_an_approved_refund_reads_its_phrasing_whatever_the_model_wrote() -> None:
    assert streamed(TemplateStream(SHOP), ("", [GET]), ("I've refunded 15.", [REFUND]), ("All sorted.", [])) == SAID


def test_each_write_is_told_of_once_in_order_also_where_a_later_one_replaced_it() -> None:
    assert streamed(TemplateStream(SHOP), ("", [BAD, GET]), ("", [REFUND])) == f"{SAID_BAD}\n\n{SAID}"


def test_a_turn_without_writes_says_that_nothing_was_changed_and_once() -> None:
    stream = TemplateStream(SHOP)
    assert streamed(stream, ("Order 4412 has been refunded.", [GET])) == NOTHING_CHANGED
    assert stream.close() == []


def test_a_turn_that_goes_on_from_another_says_only_what_is_new() -> None:
    stream = TemplateStream(SHOP, shown=SAID)
    stream.remember(calls=[REFUND])
    stream.drop()
    assert stream.break_off([BAD]) == [f"\n\n{SAID_BAD}"]
    assert stream.close() == []


def test_a_continued_turn_whose_writes_were_told_to_nobody_does_not_deny_them() -> None:
    stream = TemplateStream(SHOP)
    stream.remember(calls=[REFUND])
    assert stream.close() == []


def test_the_reply_rules_hold_for_phrasings_too() -> None:
    rules = ReplyRules(never_say=("pounds",), required=("We keep records.",))
    stream = TemplateStream(replace(SHOP, rules=rules))
    assert streamed(stream, ("", [REFUND, BAD])) == f"{SAID_BAD}\n\nWe keep records."
    assert [ruling.rule for ruling in stream.rulings] == ["reply_rule", "required"]


def test_a_reading_is_shown_span_by_span_with_the_calls_it_is_held_to() -> None:
    found = shown("I've refunded 15.00 pounds.\n\nShall I refund it?", Record([REFUND], [BAD]), SHOP)
    first, second = found.spans
    (reading,) = first.readings
    assert (reading.word, reading.act, reading.tools, reading.calls) == (
        "refunded", "done", ("refund_card",), ("call 1 (done)",),
    )  # fmt: skip
    assert [(fault.rule, fault.tool, fault.call) for fault in first.faults] == [
        ("values", "refund_card", "call 1 (done)")
    ]
    assert [reading.act for reading in second.readings] == ["question"]
    assert second.faults == ()
    assert found.text == f"{SAID}\n\nShall I refund it?"


def test_a_reply_that_speaks_of_too_much_is_shown_as_unread() -> None:
    case = case_of({"calls": [{"name": "refund_card"}], "reply": "I've refunded it. " * 600})
    found = shown(case.reply, case.record, setting_of([case]))
    assert (found.is_read, found.spans) == (False, ())
    assert [ruling.rule for ruling in found.rulings] == ["unread"]
