"""The handlers that read what sources send. Adding one is adding its module and its line here. Pure."""

from __future__ import annotations

from agents.sources import cinema, json_events, restaurant
from agents.sources.handling import LONGEST_SAID, LONGEST_SUBJECT, MOST_SUBJECTS, Handler, Read, Unreadable
from collab.canonical import BadJson, parse_json

HANDLERS: dict[str, Handler] = {
    "cinema": cinema.read,
    "json": json_events.read,
    "restaurant": restaurant.read,
}


def read_body(handler: str, body: bytes) -> Read:
    """Read a delivery's raw body with the handler of its source.

    Raises:
        Unreadable: there is no such handler, the body is no JSON object, or its shape is none the handler reads.
    """
    reads = HANDLERS.get(handler)
    if reads is None:
        raise Unreadable(f"There is no handler {handler!r}.")
    try:
        text = body.decode("utf-8")
        found = parse_json(text, max_bytes=len(body))
    except UnicodeDecodeError:
        raise Unreadable("Its body is not UTF-8.") from None
    except BadJson as bad:
        raise Unreadable(f"Its body is no JSON: {bad}.") from None
    if not isinstance(found, dict):
        raise Unreadable("Its body is no JSON object.")
    return _bounded(reads(found))


def _bounded(read: Read) -> Read:
    """Hold a handler to what may be stored, so that none can break the log."""
    subjects = (*read.subjects, *read.moot, *read.gone)
    if len(read.says) > LONGEST_SAID or (read.does != "ignore" and not read.says.strip()):
        raise Unreadable(f"What it says is empty or longer than {LONGEST_SAID} characters.")
    if len(subjects) > 3 * MOST_SUBJECTS or not all(0 < len(one) <= LONGEST_SUBJECT for one in subjects):
        raise Unreadable("It names too many subjects, or one that is too long.")
    return read
