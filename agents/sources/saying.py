"""How days are said, and how the fields that several handlers read are checked and said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from agents.sources.handling import Unreadable, text_of

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_NUMBER = re.compile(r"[A-Za-z0-9-]{1,40}")


def said_day(day: date) -> str:
    """Return a day with its weekday, "Fri 4 December 2026": a weekday alone could be any week's."""
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"


def day_of(body: Mapping[str, Any], name: str = "day") -> str:
    """Return a field that is a day (``2026-12-04``) as it is said: "Fri 4 December 2026".

    Raises:
        Unreadable: it is none.
    """
    try:
        return said_day(date.fromisoformat(text_of(body, name, longest=10)))
    except ValueError:
        raise Unreadable(f"Its {name!r} is no day like 2026-12-04.") from None


def clock_of(body: Mapping[str, Any], name: str = "time") -> str:
    """Return a field that is a time of day, like ``20:30``.

    Raises:
        Unreadable: it is none.
    """
    return _matching(body, name, _CLOCK, "no time like 20:30")


def number_of(body: Mapping[str, Any], name: str) -> str:
    """Return a field that is a number of theirs, like ``R1`` or ``F12``.

    Raises:
        Unreadable: it is none.
    """
    return _matching(body, name, _NUMBER, "no number like R1")


def count_of(body: Mapping[str, Any], name: str, *, most: int) -> int:
    """Return a field that is a whole number from 1 to ``most``.

    Raises:
        Unreadable: it is none.
    """
    value = body.get(name)
    if type(value) is not int or not 1 <= value <= most:
        raise Unreadable(f"Its {name!r} is no number from 1 to {most}.")
    return value


def _matching(body: Mapping[str, Any], name: str, pattern: re.Pattern[str], otherwise: str) -> str:
    value = text_of(body, name, longest=40)
    if not pattern.fullmatch(value):
        raise Unreadable(f"Its {name!r} is {otherwise}.")
    return value
