"""Whether the values of a sentence are among those that calls were sent or returned (REPLIES 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from agents.replies.evidence import Several, shape
from agents.replies.values import Value

Derived = Literal["arithmetic", "strict", "off"]

MOST_SUMMANDS = 60
"""Amounts of the record that totals and differences are made of: the latest."""

_IS_MIXED = re.compile(r"(?=(?:.*\d){2})(?=(?:.*[a-z]){2})[a-z0-9]{6,}")
_SAYS_TOTAL = re.compile(
    r"\b(?:total|totals|totalling|totaling|sum|altogether|overall|in all|both|subtotal|together|each|per|apiece|"
    r"every|times|combined|x)\b|[×=]"
)
_SAYS_DIFFERENCE = re.compile(
    r"\b(?:difference|remaining|remainder|balance|rest|left|more|less|saves?|saved|savings?|extra|additional|owe[ds]?|due|net)\b"
)
_COMPARES = re.compile(
    r"\b(?:more|less|saves?|saved|savings?|comes (?:down )?to|leaves?|left|taken off|deposit|already paid|due)\b"
)
_SAYS_EACH = re.compile(r"\b(?:each|per|apiece|every)\b")
_TIMES = range(2, 11)


@dataclass(frozen=True)
class Support:
    """What may support the values of a clause.

    Attributes:
        all: every call of the thread.
    """

    all: Several
    derived: Derived = "arithmetic"

    def lacks(self, values: Iterable[Value], text: str, own: Several | None = None) -> bool:
        """Say whether nothing supports one of the values of a clause.

        Args:
            own: the calls whose outcome the clause states; None for any other clause.
        """
        return any(not self._supports(value, text, own) for value in values)

    def _supports(self, value: Value, text: str, own: Several | None) -> bool:
        source = own if own and value.kind in own.kinds else self.all
        match value.kind:
            case "amount":
                return self._has_amount(value, text, source)
            case "date":
                return source.has_date(value)
            case "email":
                return source.has_email(str(value.key))
            case "suffix":
                return value.unit == "url" or self.all.has_suffix(str(value.key)) or not self.all.has_endings()
            case "identifier":
                return self._has_identifier(value, own)

    def _has_identifier(self, value: Value, own: Several | None) -> bool:
        id = str(value.key)
        if own and own.has_shape(shape(id)):
            return own.has_identifier(id)
        if own and "identifier" in own.kinds and _IS_MIXED.fullmatch(id) and not self.all.has_identifier(id):
            return False
        # A token of a shape no call has (a model's name, a gate) is no identifier of ours unless it is called one.
        return self.all.has_identifier(id) or (value.unit != "cued" and not self.all.has_shape(shape(id)))

    def _has_amount(self, value: Value, text: str, source: Several) -> bool:
        if self.derived == "off" or not isinstance(value.key, Decimal):
            return True
        amount = abs(value.key)
        if source.has_amount(amount, value.unit):
            return True
        if self.derived == "strict":
            return False
        if _SAYS_EACH.search(text) and any(source.has_amount(amount * times, value.unit) for times in _TIMES):
            return True
        amounts = source.amounts()
        return (bool(_SAYS_TOTAL.search(text)) and amount in totals_of(amounts)) or (
            (bool(_SAYS_DIFFERENCE.search(text)) and amount in differences_of(amounts))
            or (bool(_COMPARES.search(text)) and amount in differences_from(amounts, self.all.amounts()))
        )


def totals_of(amounts: Iterable[Decimal]) -> frozenset[Decimal]:
    """Return some amounts, the sums of two, of all, and the multiples of each."""
    terms = [amount for amount in amounts if amount][:MOST_SUMMANDS]
    found = {amount * times for amount in terms for times in _TIMES}
    found |= {amount + other for place, amount in enumerate(terms) for other in terms[place + 1 :]}
    found |= {sum(terms, Decimal(0)), *terms}
    return frozenset(found)


def differences_of(amounts: Iterable[Decimal]) -> frozenset[Decimal]:
    """Return what lies between two of some amounts."""
    terms = [amount for amount in amounts if amount][:MOST_SUMMANDS]
    return frozenset(abs(amount - other) for place, amount in enumerate(terms) for other in terms[place + 1 :])


def differences_from(amounts: Iterable[Decimal], others: Iterable[Decimal]) -> frozenset[Decimal]:
    """Return what lies between one of some amounts and one of others: a plan's price and that of the plan before."""
    terms = [amount for amount in others if amount][:MOST_SUMMANDS]
    return frozenset(abs(amount - other) for amount in list(amounts)[:MOST_SUMMANDS] for other in terms)
