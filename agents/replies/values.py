"""The values a text states: amounts, dates, addresses, identifiers (REPLIES 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Literal

from agents.replies.lexicon import table

Kind = Literal["amount", "date", "email", "identifier", "suffix"]


@dataclass(frozen=True, slots=True)
class Value:
    """One value and where it stands.

    Attributes:
        key: the value in the form in which two are compared: of an amount the number, of a date ``(month, day)``
            pairs it can mean with the year or None, of others a folded text.
        unit: of an amount its currency's code, or "".
        start, end: in the folded text it was found in.
    """

    kind: Kind
    key: Decimal | str | tuple[tuple[int | None, int, int], ...]
    unit: str = ""
    start: int = 0
    end: int = 0


MOST_VALUES = 80
"""Values of one text that are read; a span of a reply with more is not."""

_NUMBERS = table("numbers")
_CODES = {name: code for code, names in _NUMBERS["currencies"].items() for name in names}
_SIGNS = "|".join(re.escape(name) for name in sorted(_CODES, key=len, reverse=True) if not name.isalpha())
_NAMES = "|".join(sorted((name for name in _CODES if name.isalpha()), key=len, reverse=True))
_UNITS, _SCALES = _NUMBERS["units"], _NUMBERS["scales"]
_NUMBER_WORD = "|".join([*_UNITS, *_SCALES])
_IN_WORDS = rf"(?:a |(?=[a-z]))(?:{_NUMBER_WORD})(?:(?:[ -]| and )(?:{_NUMBER_WORD})){{0,9}}"
_DIGITS = r"\d+(?:[.,' ]\d{3})*(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?"
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?:(?P<before>{_SIGNS}|(?:{_NAMES})(?= ?\d)) ?(?P<a>-?(?:{_DIGITS}))(?P<ka>k|m)?\b"
    rf"|(?P<b>-?(?:{_DIGITS})|{_IN_WORDS})(?P<kb>k|m)?[ -]?(?P<after>(?:{_SIGNS})|(?:{_NAMES})\b)"
    rf"(?:(?: and)? (?P<cents>\d{{1,2}}|{_IN_WORDS})(?! ?[%\w.,-]*\d)"
    rf"(?: (?:cents|pence|p)\b)?(?![ -]?(?:{_NAMES}|{_SIGNS}|am|pm|day|week|month|hour|minute|bag|item|time)))?"
    rf"|(?P<c>\d+(?:,\d{{3}})*\.\d{{2}})(?![\d%]|\.\d| ?(?:am|pm|%|kg|km)\b))"
)
_MONTHS = {name: number for number, name in enumerate(_NUMBERS["months"], 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)(?!\d)"
    rf"|\b(?P<mn>{_MONTH})\.? (?P<md>\d\d?)(?:st|nd|rd|th)?\b(?!:)(?:(?:,|,? of)? ?(?P<my>(?:19|20)\d\d)\b)?"
    rf"|\b(?P<dd>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<dm>{_MONTH})\b\.?(?:,? ?(?P<dy>(?:19|20)\d\d)\b)?"
    rf"|(?<![\w./-])(?P<s1>\d\d?)(?P<sep>[/.-])(?P<s2>\d\d?)(?P=sep)(?P<sy>(?:19|20)\d\d|\d\d)(?![\w/]|-\d)"
)
_EMAIL = re.compile(r"[a-z0-9][a-z0-9._%+-]{0,63}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")
_SUFFIX = re.compile(
    r"(?:ending(?: in| with)?|ends (?:in|with)|last (?:four|4)(?: digits)?(?: are| is|:)?|(?<![*x•.])[*x•.]{2,19})"
    r"[ :*x•.-]{0,24}(\d{3,6})\b"
)
_CUE = re.compile(
    r"\b(?:id|ids|number|no\.?|code|reference|ref\.?|order|ticket|case|booking|reservation|invoice|account|tracking|confirmation"
    r"|incident|request|event|item|product|device|policy|transaction|subscription|#)"
    r"(?: ?(?:id|number|code|no\.?|reference|ref))?s?(?: is| are|:|#)*[ #:\"'(]*"
    r"(?P<id>[a-z0-9][a-z0-9_-]*)(?![a-z0-9_-])"
    r"(?! ?(?:%|(?:minute|hour|day|night|week|month|year|guest|person|people)s?\b))"
)
_IDENTIFIER = re.compile(r"(?<![\w@.$£€-])#?(?P<id>(?=[a-z0-9_-]*\d)[a-z0-9]+(?:[_-][a-z0-9]+)*)(?![\w@])")
_DIGIT = re.compile(r"\d")
_URL = re.compile(r"https?://\S+")
_ORDINARY = re.compile(
    r"\d{1,3}|(?:19|20)\d\d|\d+(?:st|nd|rd|th|k|m|g|gb|mb|kg|km|h|hr|hrs|am|pm|x|d|s|min|mins|c|f|p|ft|in|cm|mm|%)"
    r"|\d+-(?:day|days|hour|hours|week|month|year|night|minute|way|stop|star|digit|factor|step|person|seat|item)\w*"
    r"|\d+-\d+|covid-?19|[a-z]\d|\d[a-z]|[a-z]+-\d"
)


def values_in(text: str, cased: str) -> list[Value]:
    """Return the values in a folded text, each stretch of it read once: dates before what looks like them."""
    has_digits = _DIGIT.search(text) is not None
    found = _dates(text, cased) if has_digits else []
    if "@" in text or "://" in text:
        found = [*_of_urls(text), *_emails(text), *found]
    found += _free(_suffixes(text), found) if has_digits else []
    found += _free(_amounts(text), found)
    found += _free(_identifiers(text, cased), found)
    return sorted((value for value in found if value.end), key=lambda value: value.start)


def number(text: str) -> Decimal | None:
    """Return the number that digits with separators of any country, or words, stand for; None if they are none."""
    if not any(character.isdigit() for character in text):
        return _in_words(text)
    text = text.replace(" ", "").replace("'", "")
    last = max(text.rfind("."), text.rfind(","))
    decimals = len(text) - last - 1
    if last >= 0 and (text.count(text[last]) > 1 or (decimals == 3 and len(text[:last].lstrip("-0")) in {1, 2, 3})):
        last = len(text)
    digits = re.sub(r"[.,]", "", text[:last] if last >= 0 else text)
    fraction = f".{text[last + 1 :]}" if 0 <= last < len(text) else ""
    try:
        return Decimal(digits + fraction).normalize()
    except InvalidOperation:
        return None


def _in_words(text: str) -> Decimal | None:
    total, part, seen = 0, 0, False
    for word in re.split(r"[ -]", text):
        if word in _UNITS:
            part += _UNITS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALES:
            total, part = total + (part or 1) * _SCALES[word], 0
        elif word not in {"a", "and"}:
            return None
        seen = seen or word in _UNITS or word in _SCALES
    return Decimal(total + part).normalize() if seen else None


def _amounts(text: str) -> Iterator[Value]:
    for found in _AMOUNT.finditer(text):
        digits = found["a"] or found["b"] or found["c"]
        amount = number(digits)
        if amount is None:
            continue
        if scale := found["ka"] or found["kb"]:
            amount = (amount * (1000 if scale == "k" else 1_000_000)).normalize()
        cents = number(found["cents"]) if found["cents"] else None
        if cents is not None and amount == amount.to_integral_value() and cents < 100:
            amount = (amount + cents / 100).normalize()
        yield Value(
            "amount",
            amount,
            _CODES.get((found["before"] or found["after"] or "").strip(), ""),
            found.start(),
            found.end(),
        )


def _dates(text: str, cased: str) -> list[Value]:
    return [
        Value("date", meanings, "", found.start(), found.end())
        for found in islice(_DATE.finditer(text), MOST_VALUES)
        # The month has a capital where the verb has none.
        if found["mn"] != "may" or cased[found.start()].isupper()
        if (meanings := _meanings(found))
    ]


def _meanings(found: re.Match[str]) -> tuple[tuple[int | None, int, int], ...]:
    pairs: list[tuple[int | None, int, int]]
    if found["y"]:
        pairs = [(int(found["y"]), int(found["m"]), int(found["d"]))]
    elif found["mn"]:
        pairs = [(_year(found["my"]), _MONTHS[found["mn"]], int(found["md"]))]
    elif found["dm"]:
        pairs = [(_year(found["dy"]), _MONTHS[found["dm"]], int(found["dd"]))]
    else:
        year, first, second = _year(found["sy"]), int(found["s1"]), int(found["s2"])
        pairs = [(year, first, second), (year, second, first)]
    return tuple((year, month, day) for year, month, day in pairs if 1 <= month <= 12 and 1 <= day <= 31)


def _year(text: str | None) -> int | None:
    return None if text is None else int(text) + (2000 if len(text) == 2 else 0)


def _emails(text: str) -> list[Value]:
    return [
        Value("email", found[0].rstrip("."), "", found.start(), found.end())
        for found in islice(_EMAIL.finditer(text), MOST_VALUES)
    ]


def _of_urls(text: str) -> list[Value]:
    """Return what only takes up room: nothing in the address of a page is read."""
    return [
        Value("suffix", "", "url", found.start(), found.end()) for found in islice(_URL.finditer(text), MOST_VALUES)
    ]


def _suffixes(text: str) -> Iterator[Value]:
    for found in _SUFFIX.finditer(text):
        yield Value("suffix", found[1], "", found.start(1), found.end(1))


def _identifiers(text: str, cased: str) -> Iterator[Value]:
    seen: set[int] = set()
    for found in _CUE.finditer(text):
        id = found["id"]
        written = cased[found.start("id") : found.end("id")]
        if (any(map(str.isdigit, id)) and len(id) > 1) or (written.isupper() and len(written) >= 4):
            seen.add(found.start("id"))
            yield Value("identifier", id, "cued", found.start("id"), found.end("id"))
    for found in _IDENTIFIER.finditer(text) if _DIGIT.search(text) else ():
        if found.start("id") not in seen and not _ORDINARY.fullmatch(found["id"]):
            yield Value("identifier", found["id"], "", found.start("id"), found.end("id"))


def _free(values: Iterator[Value], taken: list[Value]) -> list[Value]:
    spans = [(value.start, value.end) for value in taken]
    free = (value for value in values if all(value.end <= start or value.start >= end for start, end in spans))
    return list(islice(free, MOST_VALUES))
