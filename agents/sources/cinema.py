"""The handler ``cinema``: a film that is cancelled, a film at another time. Both are notices. Pure.

``{"type": "film.cancelled", "film": "F1", "title": "The Long Table"}`` makes what waits for ``film F1`` moot;
``{"type": "schedule.changed", "film": "F1", "title": "…", "day": "2026-12-04", "time": "20:30"}`` does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.sources.handling import Read, Unreadable, text_of
from agents.sources.saying import clock_of, day_of, number_of

LONGEST_TITLE = 200


def read(body: Mapping[str, Any]) -> Read:
    """Read what the cinema sends.

    Raises:
        Unreadable: it is none of its events, or a field is not what it should be.
    """
    type_ = text_of(body, "type", longest=100)
    if type_ not in {"film.cancelled", "schedule.changed"}:
        raise Unreadable(f"The cinema sends no {type_!r}.")
    subject = (f"film {number_of(body, 'film')}",)
    title = text_of(body, "title", longest=LONGEST_TITLE)
    if type_ == "film.cancelled":
        return Read(type_, f"The cinema cancelled {title}.", "notice", subjects=subject, moot=subject)
    says = f"The cinema shows {title} on {day_of(body)} at {clock_of(body)}."
    return Read(type_, says, "notice", subjects=subject)
