"""The values that calls were sent and returned: what a reply's values must be among (REPLIES 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from agents.replies.folding import fold
from agents.replies.lexicon import table
from agents.replies.values import Value, number, values_in

LONGEST_TEXT = 20_000
"""Characters of one text of a result that are read."""
MOST_VALUES = 20_000
"""Leaves of one call's arguments and result that are read."""

_FREE_TEXT_WORDS = 5
_MINOR = re.compile(r"cents|pence|minor")
_ID_KEY = re.compile(r"(?:^|_)(?:id|ids|number|code|ref|reference|key|uuid|tracking)$")
_CODES = {name: code for code, names in table("numbers")["currencies"].items() for name in names}
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CHUNK = re.compile(r".{1,1000}(?:\s|$)|.{1,1000}", re.DOTALL)
_NOTHING = frozenset({"", "no", "none", "never", "null", "false", "n/a", "na", "not yet", "-", "–", "nothing"})
_ZERO = re.compile(r"[^\d\w]{0,3}(?:[a-z]{3} ?)?0+(?:[.,]0*)?(?: ?[^\d]{1,4})?")
_DENIES = frozenset({"not", "no", "never", "non", "un", "cannot", "without"})
_LONGEST_ID = 80
_LONG_NUMBER = 7
_WORD = re.compile(r"[a-z]+")
_RULE_KEY = re.compile(r"(?:^|_)(?:until|deadline|policy|fee|allowed|before|limit)(?:_|$)")
_ENDING = re.compile(r"(?:[*x•.]{2,}|visa|master(?:card)?|amex|card)[ -_]?\d{3,4}")
_ORDERLY = re.compile(r"a*0+|(?:[a0]+[_-])+[a0]+")


@dataclass(slots=True)
class _Found:
    amounts: dict[Decimal, set[str]] = field(default_factory=dict)
    dates: set[tuple[int | None, int, int]] = field(default_factory=set)
    emails: set[str] = field(default_factory=set)
    identifiers: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    sums: dict[Decimal, None] = field(default_factory=dict)
    has_endings: bool = False
    left: int = MOST_VALUES


@dataclass(frozen=True)
class Evidence:
    """The values of one call, or of several together.

    Attributes:
        amounts: each number, with the currencies the record gives it.
        sums: of each list of things with a number of one name (``"price"``), their total.
        has_endings: it holds the last digits of something (``"last_four": "7447"``).
        states: words that a result holds as a value (``"status": "cancelled"``) or as a key that is true.
        keys: the words of the keys of a result that hold something (``"assignee": "Ben"``).
    """

    amounts: Mapping[Decimal, frozenset[str]]
    dates: frozenset[tuple[int | None, int, int]]
    emails: frozenset[str]
    identifiers: frozenset[str]
    states: frozenset[str]
    keys: frozenset[str] = frozenset()
    sums: tuple[Decimal, ...] = ()
    has_endings: bool = False

    @cached_property
    def shapes(self) -> frozenset[str]:
        """What its identifiers look like, character by character."""
        return frozenset(shape(id) for id in self.identifiers)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of value it has."""
        of = {"amount": self.amounts, "date": self.dates, "email": self.emails, "identifier": self.identifiers}
        return frozenset(kind for kind, values in of.items() if values)

    def has_date(self, value: Value) -> bool:
        """Say whether a date can mean one of these."""
        return isinstance(value.key, tuple) and any(
            (month, day) == (known[1], known[2]) and (year is None or known[0] is None or year == known[0])
            for year, month, day in value.key
            for known in self.dates
        )

    def has_amount(self, amount: Decimal, unit: str) -> bool:
        """Say whether a number is among these, in a currency that does not contradict."""
        known = self.amounts.get(amount)
        return known is not None and (not unit or not known or unit in known)

    def has_identifier(self, id: str) -> bool:
        """Say whether an identifier is one of these, or the end of one when it is only digits."""
        return id in self.identifiers or (id.isdigit() and len(id) == 4 and self.has_suffix(id))

    def has_suffix(self, digits: str) -> bool:
        """Say whether an identifier ends in these digits."""
        return any(id.endswith(digits) for id in self.identifiers)


@dataclass(frozen=True)
class Several:
    """The values of several calls, asked as those of one."""

    parts: Sequence[Evidence]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of value that any of them has."""
        return frozenset().union(*(part.kinds for part in self.parts))

    def has_date(self, value: Value) -> bool:
        """Say whether a date can mean one of these."""
        return any(part.has_date(value) for part in self.parts)

    def has_amount(self, amount: Decimal, unit: str) -> bool:
        """Say whether a number is among these, in a currency that does not contradict."""
        return any(part.has_amount(amount, unit) for part in self.parts)

    def has_email(self, address: str) -> bool:
        """Say whether an address is one of these."""
        return any(address in part.emails for part in self.parts)

    def has_identifier(self, id: str) -> bool:
        """Say whether an identifier is one of these."""
        return any(part.has_identifier(id) for part in self.parts)

    def has_suffix(self, digits: str) -> bool:
        """Say whether an identifier ends in these digits."""
        return any(part.has_suffix(digits) for part in self.parts)

    def has_endings(self) -> bool:
        """Say whether any holds the last digits of something."""
        return any(part.has_endings for part in self.parts)

    def has_shape(self, looks: str) -> bool:
        """Say whether an identifier looks like this."""
        return any(looks in part.shapes for part in self.parts)

    def amounts(self) -> list[Decimal]:
        """Return the amounts and the totals of lists, the last part's first."""
        return list(dict.fromkeys(amount for part in reversed(self.parts) for amount in (*part.sums, *part.amounts)))


def shape(id: str) -> str:
    """Return what an identifier looks like: ``hat136`` is ``aaa000``; of letters and digits mixed, ``x`` throughout."""
    looks = re.sub(r"[a-z]", "a", re.sub(r"\d", "0", id))
    return looks if _ORDERLY.fullmatch(looks) else re.sub(r"[a0]", "x", looks)


def evidence_of(args: Any, result: Any) -> Evidence:
    """Return the values that a call was sent and returned."""
    found = _Found()
    _read(found, args, "", "", depth=0, is_result=False)
    if isinstance(result, str):
        _read_text(found, result, "", "", is_free=False)
        _states(found, result)
    else:
        _read(found, result, "", "", depth=0, is_result=True)
    return _sealed(found)


def _sealed(found: _Found) -> Evidence:
    amounts = {
        amount: frozenset(units - {""}) if "" not in units else frozenset[str]()
        for amount, units in found.amounts.items()
    }
    return Evidence(
        amounts,
        frozenset(found.dates),
        frozenset(found.emails),
        frozenset(found.identifiers),
        frozenset(found.states),
        frozenset(found.keys),
        tuple(found.sums),
        found.has_endings,
    )


def _add_amount(found: _Found, amount: Decimal, units: Iterable[str]) -> None:
    found.amounts.setdefault(amount, set()).update(units or {""})


def _read(found: _Found, value: Any, key: str, unit: str, *, depth: int, is_result: bool) -> None:
    found.left -= 1
    if found.left < 0 or depth > 40:
        return
    match value:
        case dict():
            unit = _unit_of(value) or unit
            for key_of, part in value.items():
                name = str(key_of)
                _read_text(found, name, "", unit, is_free=True)
                if is_result and not says_nothing(part) and not _RULE_KEY.search(name):
                    (found.states if part is True else found.keys).update(_WORD.findall(name.lower()))
                _read(found, part, name.lower(), unit, depth=depth + 1, is_result=is_result)
        case list() | tuple():
            _read_sums(found, value)
            for part in value:
                _read(found, part, key, unit, depth=depth + 1, is_result=is_result)
        case bool() | None:
            pass
        case int() | float() | Decimal():
            _read_number(found, Decimal(str(value)), key, unit)
        case _:
            text = str(value)
            if is_result:
                _states(found, text)
            _read_text(found, text, key, unit, is_free=len(text.split()) >= _FREE_TEXT_WORDS)


def _read_sums(found: _Found, things: Sequence[Any]) -> None:
    columns: dict[str, list[Decimal]] = {}
    for thing in things if len(things) > 1 else ():
        for name, value in thing.items() if isinstance(thing, dict) else [("", thing)]:
            if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 10**15:
                columns.setdefault(str(name), []).append(Decimal(str(value)))
    found.sums.update(dict.fromkeys(abs(sum(column, Decimal(0))) for column in columns.values() if len(column) > 1))


def _unit_of(values: Mapping[Any, Any]) -> str:
    named = next((part for name, part in values.items() if "currency" in str(name).lower()), None)
    return _CODES.get(named.lower(), "") if isinstance(named, str) else ""


def _read_number(found: _Found, value: Decimal, key: str, unit: str) -> None:
    if not value.is_finite() or abs(value) > Decimal(10) ** 30:
        return
    unit = next(
        (code for code in (part.upper() for part in key.split("_")) if code.lower() in _CODES and len(code) == 3), unit
    )
    _add_amount(found, abs(value), {unit})
    if _MINOR.search(key):
        _add_amount(found, abs(value) / 100, {unit})
    if value == value.to_integral_value():
        found.identifiers.add(str(abs(int(value))))


def _read_text(found: _Found, text: str, key: str, unit: str, *, is_free: bool) -> None:
    text = text[:LONGEST_TEXT]
    found.has_endings = found.has_endings or bool(_ENDING.fullmatch(text.lower()))
    if _PLAIN_NUMBER.fullmatch(text):
        found.has_endings = found.has_endings or len(text) in {3, 4}
        found.identifiers.add(text)
        if not (_ID_KEY.search(key) and len(text) >= _LONG_NUMBER):
            _read_number(found, Decimal(text), key, unit)
    for chunk in _CHUNK.findall(text):
        folded = fold(chunk)
        for value in values_in(folded.text, folded.cased):
            _add(found, value, unit, is_free=is_free)
    word = fold(text[:_LONGEST_ID]).text.strip()
    has_digit = any(map(str.isdigit, word))
    if " " not in word and 1 < len(word) < _LONGEST_ID and (has_digit or (len(word) > 3 and _ID_KEY.search(key))):
        found.identifiers.add(word.lstrip("#"))
        found.identifiers |= {part for part in re.split(r"[_:/.-]", word) if len(part) >= 4 and part.isdigit()}
    is_long_id = _ID_KEY.search(key) and text.isdigit() and len(text) >= _LONG_NUMBER
    if (
        not is_free
        and not is_long_id
        and (plain := number(text) if text[:1].isdigit() and len(text) <= 30 else None) is not None
    ):
        _add_amount(found, abs(plain), {unit})


def _add(found: _Found, value: Value, unit: str, *, is_free: bool) -> None:
    match value.key:
        case Decimal() if not is_free:
            _add_amount(found, abs(value.key), {value.unit or unit})
        case tuple():
            found.dates.update(value.key)
        case str() if value.kind == "email":
            found.emails.add(value.key)
        case str() if value.kind in {"identifier", "suffix"} and value.key:
            found.identifiers.add(value.key)
        case _:
            pass


def says_nothing(value: Any) -> bool:
    """Say whether what stands under a key says that there is none of it: ``"refunded": "0.00"``, ``"sent": "no"``."""
    if isinstance(value, str):
        text = value.strip().lower()
        return text in _NOTHING or bool(_ZERO.fullmatch(text))
    return not value


def _states(found: _Found, text: str) -> None:
    """Keep the words of a short text that says how something stands; not of one that denies it."""
    said = set(_WORD.findall(text.lower())) if len(text) <= 200 else set()
    if not said & _DENIES:
        found.states |= said
