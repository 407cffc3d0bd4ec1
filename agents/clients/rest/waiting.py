"""What waits for the person that a client acts for, as far as the client sees it too (promise 10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from collab import inbox as waiting
from collab import selectors
from collab.errors import Invalid
from collab.inbox import Cursor, Waiting
from collab.models.threads import Thread
from collab.web import inbox_rows
from permissions.actors import Actor, person
from permissions.errors import NotFound
from permissions.grants import names_of, readable

PAGE = 50
MOST_PAGES = 10
"""Pages of the person's inbox that are looked through for what the client sees; the rest is said to begin after."""


def inbox(actor: Actor, *, workspace: UUID | None, after: str) -> dict[str, Any]:
    """Return a page of what waits.

    Args:
        workspace: only what is in this one.
        after: the ``next`` of the page before; "" for the first.

    Raises:
        Invalid: ``after`` is no such place.
    """
    reader = person(actor)
    if reader is None:
        return {"waiting": [], "next": None}
    cursor = _cursor(after)
    found: list[tuple[str, Waiting]] = []
    for _ in range(MOST_PAGES):
        page = waiting.page_of(reader, workspace=workspace, after=cursor, size=PAGE - len(found))
        found += _seen(actor, [(section.kind.name, one) for section in page.sections for one in section.waiting])
        cursor = page.next
        if cursor is None or len(found) >= PAGE:
            break
    names = names_of(*(one.by for _, one in found))
    more = _after(found[-1]) if found and cursor is not None else None
    return {"waiting": [_line(kind, one, names) for kind, one in found], "next": more}


def _cursor(text: str) -> Cursor | None:
    try:
        return inbox_rows.read(text) if text else None
    except NotFound:
        raise Invalid("This is no place in an inbox.") from None


def _seen(actor: Actor, found: Iterable[tuple[str, Waiting]]) -> list[tuple[str, Waiting]]:
    """Keep what is in threads that the client sees; where a page ends tells nothing of the others."""
    rows = list(found)
    threads = Thread.objects.filter(pk__in={one.thread for _, one in rows})
    visible = set(readable(threads, actor).values_list("pk", flat=True))
    return [(kind, one) for kind, one in rows if one.thread in visible]


def _after(last: tuple[str, Waiting]) -> str:
    return inbox_rows.written(Cursor(last[0], last[1].place))


def _line(kind: str, one: Waiting, names: dict[UUID, str]) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": str(one.id),
        "workspace": str(one.workspace),
        "thread": str(one.thread),
        "thread_title": one.thread_title,
        "title": one.title,
        "text": one.text,
        "by": selectors.told(one.by, names),
        "because": one.because,
        "at": one.at.isoformat(),
        "until": one.until.isoformat() if one.until else None,
    }
