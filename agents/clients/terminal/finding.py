"""What a terminal's arguments name: an id, or the title by which exactly one thing is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from agents.clients.terminal.api import Api, Denied

MOST = 200
"""How much of a list is read at once."""

NOTHING = "not_found"
SEVERAL = "several"


def thread_named(api: Api, name: str) -> str:
    """Return the id of a thread. Raises :class:`Denied` where the name stands for none, or for several."""
    return _named(api, name, "threads", "thread")


def document_named(api: Api, name: str) -> str:
    """Return the id of a document. Raises :class:`Denied` where the name stands for none, or for several."""
    return _named(api, name, "documents", "document")


def open_proposal(api: Api, thread: str, title: str) -> str:
    """Return the id of the one proposal that stands open in a thread for the document of a title; an id is its own.

    Raises:
        Denied: there is none, or there are several.
    """
    if _is_id(title):
        return title
    return _one(_all(api, f"/threads/{thread}/proposals", "items", open=True), title, "open proposal")


def _named(api: Api, name: str, many: str, one: str) -> str:
    if _is_id(name):
        return name
    workspaces = [place["id"] for place in api.read("/workspaces")["workspaces"]]
    return _one((line for place in workspaces for line in _all(api, f"/workspaces/{place}/{many}", many)), name, one)


def _all(api: Api, path: str, many: str, **query: Any) -> Iterator[dict[str, Any]]:
    """Yield what a list holds, page by page."""
    page = api.read(path, limit=MOST, **query)
    yield from page[many]
    while page["next"] is not None:
        page = api.read(path, limit=MOST, before=page["next"], **query)
        yield from page[many]


def _one(found: Iterable[dict[str, Any]], title: str, what: str) -> str:
    known = list(found)
    named = [line["id"] for line in known if line["title"] == title]
    if not named:
        others = ", ".join(sorted({f"“{line['title']}”" for line in known})) or "none"
        raise Denied(f"There is no {what} “{title}”; there are: {others}.", code=NOTHING)
    if len(named) > 1:
        raise Denied(f"There are {len(named)} called “{title}”; name one by its id: {', '.join(named)}.", code=SEVERAL)
    return str(named[0])


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name.lower()
    except ValueError:
        return False
