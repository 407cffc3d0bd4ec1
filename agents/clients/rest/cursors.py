"""Where a page of a list begins, as text that fits the lists of one thing alone: a thread's, a document's, a
workspace's (FAILURES L). Pure."""

from __future__ import annotations

import base64
import binascii
from uuid import UUID

from collab.errors import Invalid

_PLACE_BYTES = 16
_LONGEST = 2 ** (8 * _PLACE_BYTES) - 1
_LEAST_ID = 2**64
"""Below are the seqs of logs; the ids of this system begin with a moment, and are all above."""


class BadCursor(Invalid):
    """This is no cursor of this list."""

    code = "bad_cursor"


def cursor(of: UUID, place: int) -> str:
    """Return the text of a place in what belongs to a thing: a seq of a thread's log, or the number of an id."""
    return base64.urlsafe_b64encode(of.bytes + place.to_bytes(_PLACE_BYTES, "big")).rstrip(b"=").decode()


def id_of(text: str, of: UUID) -> UUID:
    """Return the id that a cursor stands for. Raises as :func:`place_of`, and where it stands for a seq."""
    place = place_of(text, of)
    if place < _LEAST_ID:
        raise BadCursor
    return UUID(int=place)


def place_of(text: str, of: UUID, *, most: int = _LONGEST) -> int:
    """Return the place that a cursor stands for.

    Args:
        most: the last place that there is.

    Raises:
        BadCursor: it is none, is another thing's, or stands for a place that there is not.
    """
    try:
        read = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadCursor from None
    place = int.from_bytes(read[len(of.bytes) :], "big")
    if len(read) != len(of.bytes) + _PLACE_BYTES or read[: len(of.bytes)] != of.bytes or place > most:
        raise BadCursor
    return place
