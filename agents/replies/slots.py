"""What a tool's arguments can be read as in a person's words (REPLIES, Composers and unread turns). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal

from agents.replies.lexicon import table
from agents.replies.values import number, values_in

Kind = Literal["day", "time", "moment", "integer", "number", "id", "choice", "text"]

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MOMENT = re.compile(r"like \d{4}-\d\d-\d\dT")
_RELATIVE = re.compile(
    rf"\b(?:(?:on|for) )?(?:(today|tomorrow)|(?:next |this |on )?({'|'.join(_DAYS)}))\b", re.IGNORECASE
)
_IN = re.compile(r"\bin (\d{1,3}|an?|[a-z]+) (minute|hour|day)s?\b", re.IGNORECASE)
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_TIME = re.compile(
    r"\b(?:at |from )?(?:([01]?\d|2[0-3])[:.]([0-5]\d) ?(am|pm)?|(1[0-2]|[1-9]) ?(am|pm)|(noon|midnight))\b(?![.:]?\d)",
    re.IGNORECASE,
)
_CURRENCIES = [name for names in table("numbers")["currencies"].values() for name in names]
_MONEY = "|".join(re.escape(name) for name in sorted(_CURRENCIES, key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?<![\w.])(?:{_MONEY})? ?(\d+(?:[.,]\d+)?)(?: ?(?:{_MONEY})(?!\w))?(?![\w.,]*\d)", re.IGNORECASE
)
_INTEGER = re.compile(r"(?<![\w.#-])#?(\d{1,6}|[a-z]+)(?![\w-]|[.:,]\d)", re.IGNORECASE)
_TOKEN = re.compile(r"(?<![\w.,£$€-])#?([A-Za-z0-9-]*\d[A-Za-z0-9-]*)(?![\w-]|[.,:]\d)")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")


@dataclass(frozen=True)
class Slot:
    """One argument.

    Attributes:
        pattern: what its text has to match; "" for anything.
        choices: the texts it may be.
        titles: what the things are called that it names; None where it names none.
    """

    name: str
    kind: Kind
    required: bool
    pattern: str = ""
    choices: tuple[str, ...] = ()
    titles: tuple[str, ...] | None = None


def slots_of(schema: Mapping[str, Any], titles: Mapping[str, Sequence[str]] | None = None) -> tuple[Slot, ...] | None:
    """Return the slots of a closed JSON schema; None where an argument is nothing that is said in words.

    Args:
        titles: by an argument's name, what the things are called that it can name.
    """
    required = set(schema.get("required", ()))
    found = [_slot(name, spec, required=name in required) for name, spec in schema.get("properties", {}).items()]
    if None in found:
        return None
    named = titles or {}
    return tuple(
        replace(slot, titles=tuple(named[slot.name])) if slot.name in named else slot
        for slot in found
        if slot is not None
    )


def _slot(name: str, spec: Mapping[str, Any], *, required: bool) -> Slot | None:
    options = [option for option in spec.get("anyOf", [spec]) if option.get("type") != "null"]
    kinds = {str(option.get("type")) for option in options}
    if "number" in kinds:
        return Slot(name, "number", required)
    if "integer" in kinds:
        return Slot(name, "integer", required)
    if kinds != {"string"}:
        return None
    pattern = str(options[0].get("pattern", ""))
    if choices := options[0].get("enum"):
        return Slot(name, "choice", required, choices=tuple(choices))
    if pattern:
        return Slot(name, _kind_of(pattern), required, pattern)
    return Slot(name, "moment" if _MOMENT.search(str(spec.get("description", ""))) else "text", required)


def _kind_of(pattern: str) -> Kind:
    for kind, example in (("day", "2027-01-31"), ("time", "20:30")):
        if re.fullmatch(pattern, example):
            return "day" if kind == "day" else "time"
    return "id"


@dataclass
class Words:
    """What is left to read of a person's words; what was read of them is cut out of it.

    Attributes:
        text: on one line, as it was written.
        now: what "tomorrow" is counted from, in UTC.
    """

    text: str
    now: datetime

    def take(self, slot: Slot, cues: Sequence[str]) -> str | int | float | None:
        """Return the value of a slot and cut it out; None where there is none.

        Args:
            cues: words that name it: "order" before 4412.
        """
        match slot.kind:
            case "day":
                found = self._day()
                return found.isoformat() if found else None
            case "time":
                return self._time()
            case "moment":
                return self._moment()
            case "number":
                return self._number(cues)
            case "integer":
                return self._integer(cues)
            case "id":
                return self._id(slot, cues)
            case "choice":
                return self._choice(slot)
            case "text":
                return None

    def quoted(self) -> str | None:
        """Return a quotation and cut it out; None where there is none, or several."""
        found = list(_QUOTED.finditer(self.text))
        if len(found) != 1:
            return None
        self._cut(found[0].span())
        return str(found[0][1] or found[0][2]).strip()

    def _cut(self, span: tuple[int, int]) -> None:
        self.text = f"{self.text[: span[0]].rstrip()} {self.text[span[1] :].lstrip()}".strip()

    def _day(self) -> date | None:
        dates = [value for value in values_in(self.text.lower(), self.text) if value.kind == "date"]
        relative = list(_RELATIVE.finditer(self.text))
        if len(dates) + len(relative) != 1:
            return None
        if relative:
            self._cut(relative[0].span())
            return _relative(relative[0], self.now.date())
        meanings = dates[0].key if isinstance(dates[0].key, tuple) else ()
        if len(set(meanings)) != 1:
            return None
        start = re.search(r"(?:\bon |\bfor )?(?:the )?$", self.text[: dates[0].start])
        self._cut((start.start() if start else dates[0].start, dates[0].end))
        return _next(meanings[0], self.now.date())

    def _time(self) -> str | None:
        found = list(_TIME.finditer(self.text))
        if len(found) != 1:
            return None
        self._cut(found[0].span())
        return _clock(found[0])

    def _moment(self) -> str | None:
        if found := _IN.search(self.text):
            many = number(found[1].lower()) if found[1].lower() not in {"a", "an"} else 1
            if many is None:
                return None
            self._cut(found.span())
            return (self.now + int(many) * _UNITS[found[2].lower()]).isoformat(timespec="minutes")[:16]
        day = self._day()
        time = self._time() if day else None
        return f"{day.isoformat()}T{time}" if day and time else None

    def _cued(self, pattern: str, cues: Sequence[str]) -> re.Match[str] | None:
        """Return what stands behind a word that names it ("order no. 4412"), or before one ("4 people")."""
        names = "|".join(re.escape(cue) for cue in sorted(cues, key=len, reverse=True))
        behind = rf"\b(?:{names})s?(?: (?:no\.?|number|id|of|is))?:? ?(?:{pattern})"
        before = rf"(?:{pattern}) (?:{names})s?\b"
        return re.search(behind, self.text, re.IGNORECASE) or re.search(before, self.text, re.IGNORECASE)

    def _integer(self, cues: Sequence[str]) -> int | None:
        found = self._cued(_INTEGER.pattern, cues)
        candidates = [found] if found else list(_INTEGER.finditer(self.text))
        whole = [(one, _whole(next(group for group in one.groups() if group))) for one in candidates]
        read = [(one, value) for one, value in whole if value is not None]
        if len(read) != 1:
            return None
        self._cut(read[0][0].span())
        return read[0][1]

    def _number(self, cues: Sequence[str]) -> float | int | None:
        found = list(_AMOUNT.finditer(self.text))
        if len(found) != 1:
            return None
        value = number(found[0][1])
        self._cut(found[0].span())
        if value is None:
            return None
        return int(value) if value == value.to_integral_value() else float(value)

    def _id(self, slot: Slot, cues: Sequence[str]) -> str | None:
        cued = self._cued(_TOKEN.pattern, cues)
        found = [cued] if cued else list(_TOKEN.finditer(self.text))
        fits = [
            (one, written)
            for one in found
            for written in dict.fromkeys((_only(one), _only(one).upper()))
            if re.fullmatch(slot.pattern, written)
        ][:2]
        if not fits or len({one.span() for one, _ in fits}) != 1:
            return None
        self._cut(fits[0][0].span())
        return fits[0][1]

    def _choice(self, slot: Slot) -> str | None:
        for choice in slot.choices:
            if found := re.search(rf"\b{re.escape(choice)}\b", self.text, re.IGNORECASE):
                self._cut(found.span())
                return choice
        return None


def _only(found: re.Match[str]) -> str:
    return str(next(group for group in found.groups() if group))


def _whole(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    value = number(text.lower()) if text.isalpha() and text.lower() not in {"a", "and"} else None
    return int(value) if value is not None else None


def _relative(found: re.Match[str], today: date) -> date:
    if found[1]:
        return today + timedelta(days=found[1].lower() == "tomorrow")
    ahead = (_DAYS.index(found[2].lower()) - today.weekday()) % 7
    return today + timedelta(days=ahead or 7)


def _next(meaning: tuple[int | None, int, int], today: date) -> date | None:
    year, month, day = meaning
    try:
        if year is not None:
            return date(year, month, day)
        this = date(today.year, month, day)
        return this if this >= today else date(today.year + 1, month, day)
    except ValueError:
        return None


def _clock(found: re.Match[str]) -> str:
    if found[6]:
        return "12:00" if found[6].lower() == "noon" else "00:00"
    hours, minutes, half = int(found[1] or found[4]), found[2] or "00", (found[3] or found[5] or "").lower()
    if half and hours <= 12:
        hours = hours % 12 + (12 if half == "pm" else 0)
    return f"{hours:02}:{minutes}"
