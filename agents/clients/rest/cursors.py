"""Where a page of a thread's things begins, as text that fits that thread alone (FAILURES L). Pure."""

from __future__ import annotations

import base64
import binascii
from uuid import UUID

from collab.errors import Invalid

_PLACE_BYTES = 16
_LONGEST = 2 ** (8 * _PLACE_BYTES) - 1


class BadCursor(Invalid):
    """This cursor is not one of this thread."""

    code = "bad_cursor"


def cursor(thread: UUID, place: int) -> str:
    """Return the text of a place in a thread: a seq of its log, or the number of an id that was made there."""
    return base64.urlsafe_b64encode(thread.bytes + place.to_bytes(_PLACE_BYTES, "big")).rstrip(b"=").decode()


def place_of(text: str, thread: UUID, *, most: int = _LONGEST) -> int:
    """Return the place that a cursor stands for.

    Args:
        most: the last place that the thread has.

    Raises:
        BadCursor: it is none, is another thread's, or stands for a place that the thread does not have.
    """
    try:
        read = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadCursor from None
    place = int.from_bytes(read[len(thread.bytes) :], "big")
    if len(read) != len(thread.bytes) + _PLACE_BYTES or read[: len(thread.bytes)] != thread.bytes or place > most:
        raise BadCursor
    return place
