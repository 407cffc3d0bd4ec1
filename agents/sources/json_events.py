"""The handler ``json``: for senders whose events can be given this shape, and for trying things out. Pure.

``{"type": "table.offered", "subject": "reservation R1", "text": "A table is free.", "asks": true}``; ``moot`` and
``gone`` are lists of subjects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.sources.handling import LONGEST_SUBJECT, MOST_SUBJECTS, Read, Unreadable, text_of


def read(body: Mapping[str, Any]) -> Read:
    """Read an event of the plain shape.

    Raises:
        Unreadable: a field is not what it should be.
    """
    subject = text_of(body, "subject", longest=LONGEST_SUBJECT, default="")
    asks = body.get("asks", False)
    if not isinstance(asks, bool):
        raise Unreadable("Its 'asks' is neither true nor false.")
    return Read(
        type=text_of(body, "type", longest=100),
        says=text_of(body, "text"),
        does="turn" if asks else "notice",
        subjects=(subject,) if subject else (),
        moot=_subjects(body, "moot"),
        gone=_subjects(body, "gone"),
    )


def _subjects(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = body.get(name, [])
    if not isinstance(listed, list) or len(listed) > MOST_SUBJECTS:
        raise Unreadable(f"Its {name!r} is no list of at most {MOST_SUBJECTS} subjects.")
    if not all(isinstance(one, str) and 0 < len(one) <= LONGEST_SUBJECT for one in listed):
        raise Unreadable(f"Its {name!r} holds something that is no subject.")
    return tuple(listed)
