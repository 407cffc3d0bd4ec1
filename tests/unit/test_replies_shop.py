"""The shop of REPLIES as an acceptance case, and what has tricked readers before (REPLIES, Cases)."""

import pytest

from agents.replies.record import CallRecord
from tests.support.replies import cancel, held, order, refund, said, shop

NOT_DONE = "Not done: refund card."


@pytest.mark.parametrize(
    ("call", "reply", "read"),
    [
        (order(), "Order 4412 has been refunded.", NOT_DONE),
        (
            refund("refused", amount="all", reason="argument_schema"),
            "I've refunded order 4412.",
            "I couldn't refund order 4412: argument_schema.",
        ),
        (
            refund(),
            "I've refunded 15.00 pounds to your card for order 4412.",
            "Refunded 12.5 pounds for order 4412.",
        ),
        (
            refund(),
            "I've refunded 12.50 pounds to your card for order 4412.",
            "I've refunded 12.50 pounds to your card for order 4412.",
        ),
        (refund("not_attempted"), "I've refunded order 4412.", NOT_DONE),
        (refund("not_attempted"), "Have a nice day.", "Have a nice day.\n\nNot done: refund card."),
    ],
)
def test_the_shop_reads_what_the_record_says(call: CallRecord, reply: str, read: str) -> None:
    assert said(reply, call) == read


@pytest.mark.parametrize(
    "reply",
    [
        "Your order should arrive in May. May I help with anything else?",
        "You may see the refund option on the page of your order.",
        "The return label is attached to the parcel.",
        "✓ Found available: order 4412.",
        "Orders can't be cancelled once shipped.",
        "You had cancelled it before you wrote to us.",
        "You said that order 4412 was refunded.",
        'You wrote: "I was refunded last week." Is that right?',
        "The shop told you it was refunded.",
        "Neither order has been refunded.",
        "Nothing has been refunded, and nothing has been cancelled.",
        "I haven't refunded or cancelled anything.",
        "I'm sorry to hear that your order was cancelled by the seller.",
        "Has order 4412 been refunded?",
        "If I refunded it, would you keep the item?",
        "Our refund policy is simple: within 30 days.",
        "To cancel an order, open it and choose Cancel.",
        "```\nrefunded = True\n```",
        "I can refund it or cancel it. Which do you prefer?",
        "I was asked to refund order 4412, which I can't do without your consent.",
        "Refunds are issued to the card within 5 days.",
        "The cancellation fee is waived for members.",
        "You'll need to have the order cancelled before it ships.",
        "Before I can refund anything, tell me which order it is.",
        "I recommend cancelling it as soon as possible.",
    ],
)
def test_what_claims_nothing_stands(reply: str) -> None:
    assert said(reply, order(status="shipped")) == reply


@pytest.mark.parametrize(
    "reply",
    [
        "I was able to refund order 4412.",
        "I've refun\u200bded order 4412.",
        "I've **refun**ded order 4412.",
        "I've refun&#100;ed order 4412.",
        "I’ve refunded order ４４１２.",
        "I've rеfunded order 4412.",
        "I've refunded order 4412, haven't I?",
        "Order 4412 has been refunded, right?",
        "[Refund issued](https://example.org/refund) for order 4412.",
        "![Refund issued](https://example.org/refund.png)",
        "## Refund completed",
        "> Your refund has been issued.",
        "- Refunded ✅",
        "You asked me to refund it, and I've refunded it.",
        "The order has both been refunded and shipped.",
        "It's not only been refunded but also closed.",
        "I did as you asked and refunded order 4412.",
        "After checking your order I refunded it.",
        "Good news: order 4412 is refunded!",
        "The refund is on its way.",
        "Your money has been sent back.",
        "We have given you your money back.",
        "I refunded it",
        "REFUNDED!",
        "Refund: done",
        "Order 4412 → refunded",
        "You've been reimbursed for order 4412.",
        "I'm pleased to say that the refund went through.",
        "Without any delay I have refunded order 4412.",
        "No problem, I've refunded order 4412.",
        "Your refund has not only been approved, it has been paid out and processed.",
    ],
)
def test_a_claim_of_what_nobody_did_is_replaced_however_it_is_written(reply: str) -> None:
    checked = held(reply, order(status="shipped"))
    assert NOT_DONE in checked.text
    assert [ruling.rule for ruling in checked.rulings] == ["not_attempted"]


@pytest.mark.parametrize(
    "amount",
    [
        "£12.50", "12.50 pounds", "12.5", "GBP 12.50", "12,50 £", "twelve pounds fifty", "12 pounds 50",
        "12 pounds and 50 pence",
        "１２.５０ pounds", "12.50 GBP",
    ],
)  # fmt: skip
def test_an_amount_is_the_same_in_any_notation(amount: str) -> None:
    reply = f"I've refunded {amount} for order 4412."
    assert said(reply, refund()) == reply


@pytest.mark.parametrize(
    "amount",
    ["£15.00", "fifteen pounds", "12 pounds 60", "1.234,56 €", "£125", "13 pounds", "12.05 pounds", "€1.250,00"],
)
def test_another_amount_is_replaced_in_any_notation(amount: str) -> None:
    assert said(f"I've refunded {amount} for order 4412.", refund()) == "Refunded 12.5 pounds for order 4412."


def test_what_a_read_returned_supports_no_amount_of_a_refund() -> None:
    assert (
        said("I've refunded £15.00 for order 4412.", order(total=15.00), refund())
        == "Refunded 12.5 pounds for order 4412."
    )


def test_a_currency_that_the_record_contradicts_is_no_support() -> None:
    call = CallRecord("refund_card", {"order_id": "4412", "amount": 12.5, "currency": "GBP"})
    assert said("I've refunded $12.50 for order 4412.", call) != "I've refunded $12.50 for order 4412."
    assert said("I've refunded £12.50 for order 4412.", call) == "I've refunded £12.50 for order 4412."


def test_a_date_is_not_lost_in_a_time_and_may_is_a_month() -> None:
    call = CallRecord("refund_card", {"order_id": "4412", "amount": 12.5}, result={"at": "2024-05-01T08:00"})
    for date in ("May 1", "1 May 2024", "2024-05-01", "01/05/2024", "May 1st"):
        reply = f"I refunded order 4412 on {date}."
        assert said(reply, call) == reply
    assert said("I refunded order 4412 on May 2.", call) == "Refunded 12.5 pounds for order 4412."


def test_a_refund_of_another_order_is_replaced() -> None:
    assert said("I've refunded order 4413.", refund()) == f"{NOT_DONE}\n\nRefunded 12.5 pounds for order 4412."


def test_the_value_of_a_list_under_a_claim_is_held_to_its_call() -> None:
    reply = "Your refund has been processed:\n\n- Order: 4412\n- Amount: £12.50\n"
    assert said(reply, refund()) == reply
    wrong = reply.replace("12.50", "21.50")
    assert said(wrong, refund()) == reply.replace("Amount: £12.50", "Refunded 12.5 pounds for order 4412.")


def test_a_row_of_a_table_is_replaced_below_the_table() -> None:
    reply = "| Order | State |\n|---|---|\n| 4412 | refunded |\n\nAnything else?"
    assert said(reply, order()) == f"| Order | State |\n|---|---|\n\n{NOT_DONE}\n\nAnything else?"


def test_of_a_list_each_item_is_held_to_its_own_call() -> None:
    reply = "The following orders have been cancelled:\n\n1. Order 4412\n2. Order 4413\n"
    assert said(reply, cancel(), cancel(order_id="4413")) == reply
    assert "1. Order 4412\n2. Not done: cancel order." in said(reply, cancel(), cancel("failed", order_id="4413"))
    assert "2. Not done: cancel order." in said(reply, cancel())


def test_two_replacements_by_one_call_become_one() -> None:
    reply = "I've refunded order 4412. Your refund has been processed. Anything else?"
    assert said(reply, refund("refused")) == "I couldn't refund order 4412. Anything else?"


def test_both_is_true_only_of_both() -> None:
    reply = "Both orders have been cancelled."
    assert said(reply, cancel(), cancel(order_id="4413")) == reply
    assert said(reply, cancel(), cancel("failed", order_id="4413")).startswith("Not done: cancel order.")


def test_one_of_two_actions_that_was_not_done_is_replaced_and_the_other_still_told() -> None:
    reply = "I've refunded order 4412 and cancelled it."
    read = said(reply, refund(), cancel("failed"))
    assert read == "Not done: cancel order.\n\nRefunded 12.5 pounds for order 4412."


def test_a_failed_call_that_was_made_again_is_not_told() -> None:
    reply = "I've refunded order 4412."
    assert said(reply, refund("failed"), refund()) == reply


def test_what_a_read_returned_is_a_state_and_no_claim() -> None:
    reply = "Order 4412 has been cancelled."
    assert said(reply, order(status="cancelled")) == reply
    assert said(reply, order("4413", status="cancelled")) == "Not done: cancel order."


def test_what_an_earlier_turn_did_may_be_said_again() -> None:
    reply = "Order 4412 was refunded."
    assert said(reply, earlier=[refund()]) == reply
    assert said(reply, earlier=[refund("failed")]) == "Not done: refund card."


def test_a_passive_future_after_a_refund_is_no_promise() -> None:
    reply = "I've refunded order 4412. The refund will be processed in 5 to 7 days."
    assert said(reply, refund()) == reply
    assert said("I'll refund order 4412.", refund()) == "Refunded 12.5 pounds for order 4412."


def test_a_write_left_out_is_added_once_a_call() -> None:
    read = said("Order 4412 was placed on May 3.", order(placed="2024-05-03"), refund(), refund(order_id="4413"))
    assert read.split("\n\n") == [
        "Order 4412 was placed on May 3.",
        "Refunded 12.5 pounds for order 4412.",
        "Refunded 12.5 pounds for order 4413.",
    ]


def test_a_language_nobody_reads_gives_way_to_the_phrasings_of_what_was_done() -> None:
    plain = shop(own_phrasings=False)
    reply = "Su pedido ha sido reembolsado con éxito. Gracias por su paciencia."
    assert said(reply, refund(), setting=plain).strip() == "Done: refund card with order id 4412, amount 12.5."
    assert said(reply, order(), setting=plain) == reply
    portuguese = "O seu pedido foi reembolsado com sucesso."
    assert said(portuguese, refund("failed"), setting=plain) == "Não feito: refund card."


def test_an_outcome_nobody_knows_is_never_said_done() -> None:
    read = said("I've refunded order 4412.", refund("unknown"))
    assert read == "Whether refund card went through is still being checked; I'll confirm before doing anything else."


@pytest.mark.parametrize("none", ["0.00", "£0", 0, 0.0, False, "no", "none", None, "", "not yet"])
def test_an_order_of_which_nothing_was_refunded_supports_no_refund(none: object) -> None:
    assert said("Order 4412 has been refunded.", order(refunded=none)) == NOT_DONE
    assert said("Order 4412 has been refunded.", order(refunded="12.50")) == "Order 4412 has been refunded."


def test_a_state_that_is_denied_is_no_state() -> None:
    assert said("Order 4412 has been cancelled.", order(status="not cancelled")) == "Not done: cancel order."


@pytest.mark.parametrize("none", ["0.00", 0, False])
def test_a_refund_that_returned_that_nothing_was_refunded_failed(none: object) -> None:
    call = CallRecord("refund_card", {"order_id": "4412", "amount": 12.5}, "done", {"refunded": none})
    assert said("I've refunded 12.50 pounds for order 4412.", call).startswith(NOT_DONE.removesuffix("."))


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x07", "\u3164"])
def test_what_is_hidden_in_a_value_a_reason_or_a_name_is_shown_escaped(hidden: str) -> None:
    shown = f"⟨U+{ord(hidden):04X}⟩"
    assert shown in shop().say(refund("done", amount=f"1{hidden}2"))
    refused = CallRecord("refund_card", {"order_id": f"44{hidden}12"}, "refused", None, f"no{hidden}where")
    assert shop().say(refused) == f"I couldn't refund order 44{shown}12: no{shown}where."
    assert hidden not in shop(own_phrasings=False).say(CallRecord(f"a{hidden}", {f"{hidden}": hidden}, effect="write"))
