"""The handler ``restaurant``: a table that is free, a reservation confirmed, a reservation that is no more. Pure.

``{"type": "table.offered", "day": "2026-12-04", "time": "20:30", "party": 4}`` asks for a turn;
``{"type": "reservation.confirmed", "reservation": "R1"}`` and ``reservation.cancelled`` are notices. Each may carry a
``text`` of the restaurant's; an offer may name the ``reservation`` that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.sources.handling import Read, Unreadable, text_of
from agents.sources.saying import clock_of, count_of, day_of, number_of

LARGEST_PARTY = 1_000
LONGEST_TEXT = 2_000


def read(body: Mapping[str, Any]) -> Read:
    """Read what the restaurant sends.

    Raises:
        Unreadable: it is none of its events, or a field is not what it should be.
    """
    match text_of(body, "type", longest=100):
        case "table.offered":
            return _offered(body)
        case "reservation.confirmed":
            number = number_of(body, "reservation")
            says = _with_text(f"Reservation {number} is confirmed.", body)
            return Read("reservation.confirmed", says, "notice", subjects=(f"reservation {number}",))
        case "reservation.cancelled":
            return _cancelled(body)
        case other:
            raise Unreadable(f"The restaurant sends no {other!r}.")


def _offered(body: Mapping[str, Any]) -> Read:
    party = count_of(body, "party", most=LARGEST_PARTY)
    says = _with_text(f"A table for {party} is free on {day_of(body)} at {clock_of(body)}.", body)
    about = (f"reservation {number_of(body, 'reservation')}",) if "reservation" in body else ()
    return Read("table.offered", says, "turn", subjects=about)


def _cancelled(body: Mapping[str, Any]) -> Read:
    number = number_of(body, "reservation")
    subject = (f"reservation {number}",)
    says = _with_text(f"The restaurant cancelled reservation {number}.", body)
    return Read("reservation.cancelled", says, "notice", subjects=subject, moot=subject, gone=subject)


def _with_text(says: str, body: Mapping[str, Any]) -> str:
    text = text_of(body, "text", longest=LONGEST_TEXT, default="")
    return f"{says} It says: {text}" if text else says
