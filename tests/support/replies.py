"""Replies and calls for the tests of the reply check: the shop of REPLIES, and checks that read as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.replies.check import check
from agents.replies.mending import Checked, Setting
from agents.replies.phrasings import phrasings_of
from agents.replies.record import CallRecord, Outcome, Record
from agents.replies.words import compile_words, tool_words

SHOP = {"get_order": ["order_id"], "refund_card": ["order_id", "amount"], "cancel_order": ["order_id"]}
PHRASINGS = {
    "refund_card": {
        "done": "Refunded {argument.amount} pounds for order {argument.order_id}.",
        "refused": "I couldn't refund order {argument.order_id}{because}.",
    }
}


def shop(*, own_phrasings: bool = True) -> Setting:
    """Return the setting of a shop that reads orders, refunds cards and cancels orders."""
    words = compile_words([tool_words(name, arguments) for name, arguments in SHOP.items()])
    return Setting(words, phrasings_of(PHRASINGS if own_phrasings else {}, SHOP))


def refund(outcome: Outcome = "done", *, order_id: str = "4412", amount: Any = 12.50, reason: str = "") -> CallRecord:
    """Return a call of refund_card."""
    return CallRecord("refund_card", {"order_id": order_id, "amount": amount}, outcome, None, reason)


def cancel(outcome: Outcome = "done", *, order_id: str = "4412") -> CallRecord:
    """Return a call of cancel_order."""
    return CallRecord("cancel_order", {"order_id": order_id}, outcome)


def order(order_id: str = "4412", **result: Any) -> CallRecord:
    """Return a call of get_order that found an order."""
    return CallRecord("get_order", {"order_id": order_id}, "done", {"order_id": order_id, **result})


def held(text: str, *calls: CallRecord, earlier: Sequence[CallRecord] = (), setting: Setting | None = None) -> Checked:
    """Return a reply held to a turn's calls."""
    return check(text, Record(calls, earlier), setting or shop())


def said(text: str, *calls: CallRecord, earlier: Sequence[CallRecord] = (), setting: Setting | None = None) -> str:
    """Return what a person reads of a reply held to a turn's calls."""
    return held(text, *calls, earlier=earlier, setting=setting).text
