"""What each of an agent's reply settings does, shown on an example that is run with them (REPLIES). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import phonenumbers

from agents.replies.check import check
from agents.replies.composing import TemplateStream
from agents.replies.mending import Setting
from agents.replies.phrasings import phrasings_of
from agents.replies.record import CallRecord, Record
from agents.replies.requests import Askable, question, read_request
from agents.replies.rules import ReplyRules
from agents.replies.slots import Slot
from agents.replies.words import compile_words, tool_words

_ORDER, _AMOUNT = "order", "amount"
_REFUNDED = {"done": "Refunded {argument.amount} pounds for order {argument.order}."}
_CALLS = (
    CallRecord("refund_card", {_ORDER: "4412", _AMOUNT: 12.5}),
    CallRecord("refund_card", {_ORDER: "4413", _AMOUNT: 2.5}),
)
_READ = ("refund 12.50 for order 4412", "my parcel is lost")
_WRITTEN = "I've refunded 12.50 for order 4412 and 2.50 for order 4413."
_TOTAL = "I've refunded both orders: 15.00 in total."


@dataclass(frozen=True, slots=True)
class Example:
    """An example of one setting: what is given, and what becomes of it.

    Attributes:
        setting: the setting's name.
    """

    setting: str
    given: str
    becomes: str


@dataclass(frozen=True, slots=True)
class Speech:
    """An agent's reply settings, by the names of REPLIES."""

    composer: str
    derived: str
    reader: str
    on_unread: str
    rules: ReplyRules


def examples(setting: Setting, speech: Speech) -> list[Example]:
    """Return an example of each setting, run with it.

    Args:
        setting: the derived and the rules in it are those of ``speech``.
    """
    shop = _shop(setting)
    composed = TemplateStream(shop)
    told = "".join(composed.respond(_CALLS))
    written = _read(shop, _WRITTEN, *_CALLS)
    return [
        Example("composer", f"The model writes: {_WRITTEN}", told if speech.composer == "template" else written),
        Example("derived", _TOTAL, _read(shop, _TOTAL, *_CALLS)),
        *_of_requests(speech),
        *(Example(name, given, _read(shop, given)) for name, given in _of_rules(speech.rules)),
    ]


def _read(setting: Setting, text: str, *calls: CallRecord) -> str:
    return check(text, Record(calls), setting).text or "(nothing)"


def _shop(setting: Setting) -> Setting:
    words = compile_words([tool_words("refund_card", (_ORDER, _AMOUNT))])
    return replace(setting, words=words, phrasings=phrasings_of({"refund_card": _REFUNDED}))


def _of_requests(speech: Speech) -> Iterator[Example]:
    order, amount = Slot(_ORDER, "id", required=True, pattern="[0-9]+"), Slot(_AMOUNT, "number", required=True)
    tools = [
        Askable(tool_words("get_order", (_ORDER,)), (order,)),
        Askable(tool_words("refund_card", (_ORDER, _AMOUNT)), (order, amount)),
    ]
    for name, said in zip(("reader", "on_unread"), _READ, strict=True):
        asked = read_request(said, tools, datetime(2027, 1, 1, tzinfo=UTC))
        if speech.reader != "on":
            becomes = "The model is given it."
        elif asked is not None:
            args = ", ".join(f"{key} {value}" for key, value in asked.args.items())
            becomes = f"Called without a model: {asked.tool} with {args}."
        else:
            again = "The next goes to the model." if speech.on_unread == "model" else "So is the next."
            becomes = f"{question([tool.words.in_words for tool in tools])} {again}"
        yield Example(name, said, becomes)


def _of_rules(rules: ReplyRules) -> Iterator[tuple[str, str]]:
    number = phonenumbers.example_number(rules.region)
    ring = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL) if number else "020 7946 0958"
    yield "never_show", f"Write to ana@example.org, ring {ring}, or pay with 4111 1111 1111 1111."
    yield "never_say", f"Hello. Well, {next(iter(rules.never_say), 'as an AI model I have no body')}. Goodbye."
    yield "never_offer", f"Hello. I can give you a {next(iter(rules.never_offer), 'discount')}. Goodbye."
    yield "required", "Hello."
