"""Threads: what they show, their log and its sentences, with pages by seq."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from ninja import Query, Router

from agents.clients import reads
from agents.clients.rest.asking import Asked
from agents.clients.rest.cursors import cursor, place_of
from agents.clients.rest.shapes import MOST, Cursor, Events, Items, Thread, Timeline
from agents.clients.rest.workspaces import members
from collab import reads as items
from collab import selectors
from collab.models.threads import Message
from collab.models.threads import Thread as ThreadRow
from collab.models.workspaces import Workspace
from collab.web.frames import frames_read, page_items, standing_items
from collab.web.timeline import timeline as told
from permissions.actors import Actor
from permissions.grants import readable

router = Router(tags=["Threads"])


@router.get("/threads/{uuid:thread}", response=Thread)
def thread(request: Asked, thread: UUID) -> dict[str, Any]:
    """Show a thread: what it is, who is in it, what the client may do, and all that waits, runs or stands open."""
    actor = request.auth.actor
    found = selectors.thread_for(actor, thread)
    return {
        "thread": reads.plain(items.build(actor, [("thread", found.id)])[0]),
        "workspace": str(found.workspace_id),
        "may": reads.may(actor, found),
        "people": _people(actor, found),
        "standing": [reads.plain(item) for item in standing_items(found.id, actor)],
        "head_seq": found.head_seq,
        "cursor": cursor(found.id, found.head_seq),
    }


@router.get("/threads/{uuid:thread}/events", response=Events)
def events(
    request: Asked, thread: UUID, *, after: Cursor = None, limit: Annotated[int, Query(ge=1, le=MOST)] = 100
) -> dict[str, Any]:
    """Read a thread's log onward: from its beginning, or after a cursor."""
    actor = request.auth.actor
    found = selectors.thread_for(actor, thread)
    start = place_of(after, found.id, most=found.head_seq) if after else 0
    frames = frames_read(actor, found, after=start, limit=limit)
    end = frames[-1]["seq"] if frames else start
    return {
        "events": [reads.plain(frame) for frame in frames],
        "next": cursor(found.id, end),
        "head_seq": found.head_seq,
    }


@router.get("/threads/{uuid:thread}/messages", response=Items)
def messages(
    request: Asked, thread: UUID, *, before: Cursor = None, limit: Annotated[int, Query(ge=1, le=MOST)] = 50
) -> dict[str, Any]:
    """Read what was posted in a thread, in order: the newest, or what came before a cursor."""
    actor = request.auth.actor
    found = selectors.thread_for(actor, thread)
    rows = Message.objects.filter(thread=found.id, seq__lt=_before(found, before))
    newest = list(rows.order_by("-seq").values_list("pk", "seq")[: limit + 1])
    shown = newest[:limit]
    return {
        "items": [reads.plain(item) for item in items.build(actor, [("message", id) for id, _ in reversed(shown)])],
        "next": cursor(found.id, shown[-1][1]) if len(newest) > limit else None,
    }


@router.get("/threads/{uuid:thread}/items", response=Items)
def thread_items(
    request: Asked, thread: UUID, *, before: Cursor = None, limit: Annotated[int, Query(ge=1, le=MOST)] = 200
) -> dict[str, Any]:
    """Read what a thread's page shows: all that the newest entries of its log touch, or those before a cursor."""
    actor = request.auth.actor
    found = selectors.thread_for(actor, thread)
    shown = page_items(actor, found, before=_before(found, before), limit=limit)
    first = shown["first_seq"]
    return {
        "items": [reads.plain(item) for item in shown["items"]],
        "next": cursor(found.id, first) if first > 1 else None,
    }


@router.get("/threads/{uuid:thread}/timeline", response=Timeline)
def timeline(request: Asked, thread: UUID, *, before: Cursor = None) -> dict[str, Any]:
    """Read a thread's log as people do, a sentence an entry: the newest, or what came before a cursor."""
    found = selectors.thread_for(request.auth.actor, thread)
    page = told(request.auth.actor, found, before=_before(found, before))
    entries = [
        {
            "seq": entry.seq,
            "at": entry.at.isoformat(),
            "event": entry.type,
            "who": entry.who,
            "says": entry.says,
            "turn": group.turn["id"] if group.turn else None,
        }
        for group in page.groups
        for entry in group.entries
    ]
    return {"entries": entries, "next": cursor(found.id, page.before) if page.before else None}


def _before(thread: ThreadRow, text: str | None) -> int:
    """Return the seq that a page ends before; without a cursor, the one that the log has not reached."""
    return place_of(text, thread.id, most=thread.head_seq) if text else thread.head_seq + 1


def _people(actor: Actor, thread: ThreadRow) -> list[dict[str, Any]]:
    """Who sees only a part of a workspace is not told who is in it."""
    whole = readable(Workspace.objects.filter(pk=thread.workspace_id), actor).exists()
    return members(selectors.people_of(thread.workspace_id)) if whole else []
