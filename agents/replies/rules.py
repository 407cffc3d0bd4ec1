"""An agent's reply rules, the last thing a reply passes (REPLIES 10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from phonenumbers import PhoneNumberMatcher

from agents.replies.folding import Folded, fold

PersonalData = Literal["email", "phone", "card"]
PERSONAL_DATA: tuple[PersonalData, ...] = get_args(PersonalData)

_EMAIL = re.compile(r"[a-z0-9][a-z0-9._%+-]{0,63}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")
_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w])")
_OFFERS = re.compile(r"\b(?:offer\w*|can|could|will|'ll|would|let me|happy to|free|give|giving)\b")
_WITHHELD = {"email": "[address withheld]", "phone": "[number withheld]", "card": "[card number withheld]"}


@dataclass(frozen=True)
class ReplyRules:
    """What an agent's replies must and must not hold.

    Attributes:
        never_show: kinds of personal data.
        never_say: phrases; a span with one is left out.
        never_offer: what is not on offer ("discount"); a span that offers it is left out.
        required: sentences that stand at the end of a reply that does not hold them.
        region: the country whose telephone numbers are written without its code, as two letters.
    """

    never_show: frozenset[PersonalData] = frozenset()
    never_say: tuple[str, ...] = ()
    never_offer: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    region: str = "GB"

    @property
    def forbids(self) -> bool:
        """True where there is anything that a reply may not hold."""
        return bool(self.never_show or self.never_say or self.never_offer)

    def allows(self, span: str) -> bool:
        """Say whether a span stands as it is."""
        return self.kept(span) == span

    def kept(self, span: str) -> str:
        """Return a span without what the rules forbid; "" where it is left out."""
        if not self.forbids:
            return span
        folded = fold(span)
        text = " ".join(folded.text.split())
        if any(_says(text, phrase) for phrase in self.never_say):
            return ""
        if _OFFERS.search(text) and any(_says(text, offer) for offer in self.never_offer):
            return ""
        return self._withheld(span, folded)

    def missing(self, reply: str) -> list[str]:
        """Return the required sentences that a reply does not hold."""
        if not self.required:
            return []
        text = " ".join(fold(reply).text.split())
        return [sentence for sentence in self.required if " ".join(fold(sentence).text.split()) not in text]

    def _withheld(self, span: str, folded: Folded) -> str:
        cuts: dict[int, tuple[int, str]] = {}
        for kind in PERSONAL_DATA:
            if kind in self.never_show:
                for start, end in _FINDERS[kind](folded.cased, self.region):
                    cuts.setdefault(folded.at(start), (folded.at(end - 1) + 1, _WITHHELD[kind]))
        kept, at = "", 0
        for start, (end, instead) in sorted(cuts.items()):
            if start >= at:
                kept, at = kept + span[at:start] + instead, end
        return kept + span[at:]


def lines_of(text: str) -> tuple[str, ...]:
    """Return the phrases of a text with one on each line."""
    return tuple(dict.fromkeys(filter(None, (" ".join(line.split()) for line in text.splitlines()))))


def _says(text: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(' '.join(fold(phrase).text.split()))}(?!\w)", text) is not None


def _emails(text: str, _: str) -> list[tuple[int, int]]:
    return [found.span() for found in _EMAIL.finditer(text.lower())]


def _phones(text: str, region: str) -> list[tuple[int, int]]:
    return [(found.start, found.end) for found in PhoneNumberMatcher(text, region)]


def _cards(text: str, _: str) -> list[tuple[int, int]]:
    return [found.span() for found in _CARD.finditer(text) if passes_luhn(found[0])]


def passes_luhn(number: str) -> bool:
    """Say whether the digits of a card number check out by the Luhn formula."""
    digits = [int(character) for character in reversed(number) if character.isdigit()]
    doubled = [digit * 2 - 9 if digit > 4 else digit * 2 for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


_FINDERS: Mapping[PersonalData, Callable[[str, str], list[tuple[int, int]]]] = {
    "card": _cards,
    "email": _emails,
    "phone": _phones,
}
