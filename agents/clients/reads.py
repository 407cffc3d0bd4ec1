"""What clients read, as JSON: what the pages show, loaded by the same selectors as the actor it is for (DESIGN 11)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from collab import reads, search, selectors
from collab.errors import Invalid
from collab.models.documents import Document, Revision
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from collab.search import Kind
from collab.searches.snippets import Part
from collab.selectors import DocumentLine, ThreadLine
from collab.web.access import SHOWN
from collab.web.actors import Book
from collab.web.comparing import text_at
from collab.web.frames import PAGE_EVENTS, page_items
from collab.web.pages import SHARED
from permissions.actors import Actor
from permissions.decisions import Action, Level
from permissions.errors import NotFound
from permissions.gate import decisions_on
from permissions.grants import readable
from permissions.models import Guarded

Json = dict[str, Any]

MOST = 200
"""Threads, documents or versions that one read returns."""


def workspaces(actor: Actor) -> list[Json]:
    """Return the workspaces that the actor may view, or a part of which; of a part the name is not told."""
    whole = {workspace.id for workspace in selectors.workspaces_of(actor)}
    return [
        {"id": str(found.id), "name": found.name if found.id in whole else SHARED, "whole": found.id in whole}
        for found in search.workspaces_in_reach(actor)
    ]


def threads(actor: Actor, workspace: UUID, *, archived: bool = False, limit: int = MOST) -> list[Json]:
    """Return the threads of a workspace that the actor may view, the last to grow first, at most ``limit``.

    Raises:
        NotFound: there is no such workspace, or the actor may view nothing in it.
    """
    found = selectors.threads_of(actor, workspace, archived=archived, limit=limit)
    if not found:
        _require_a_part(actor, workspace)
    return [_thread_line(line) for line in found]


def threads_before(
    actor: Actor, workspace: UUID, *, before: UUID | None, archived: bool, limit: int
) -> tuple[list[Json], UUID | None]:
    """Return a page of the threads of a workspace that the actor may view, the newest first, and the ``before`` of the
    page after it. Raises as :func:`threads`."""
    found = selectors.threads_before(actor, workspace, before=before, archived=archived, limit=limit + 1)
    if not found:
        _require_a_part(actor, workspace)
    shown = found[:limit]
    return [_thread_line(line) for line in shown], shown[-1].thread.id if len(found) > limit else None


def thread(actor: Actor, id: UUID, *, before: int | None = None, limit: int = PAGE_EVENTS) -> Json:
    """Return a thread as its page shows it: ``items`` of its newest log entries and of all that stands open, what the
    actor ``may`` do in it and why not, and the ``first_seq`` and ``head_seq`` of what the items are from.

    Args:
        before: only entries before this seq, a step back, without what stands open.
        limit: how many entries of the log.

    Raises:
        NotFound: there is no such thread, or the actor may not view it.
    """
    found = selectors.thread_for(actor, id)
    shown = page_items(actor, found, before=before, limit=limit)
    return {
        "thread": plain(reads.build(actor, [("thread", found.id)])[0]),
        "workspace": str(found.workspace_id),
        "may": may(actor, found),
        **shown,
        "items": [plain(item) for item in shown["items"]],
    }


def standing(actor: Actor, id: UUID, name: str) -> list[Json]:
    """Return a thread's proposals, questions or actions, by the name of the item, that wait for someone. Raises as
    :func:`thread`."""
    found = selectors.thread_for(actor, id)
    refs = [ref for ref in reads.standing(found.id) if ref[0] == name]
    return [plain(item) for item in reads.build(actor, refs) if item["state"] == "open"]


def documents(actor: Actor, workspace: UUID, *, archived: bool = False, limit: int = MOST) -> list[Json]:
    """Return the documents of a workspace that the actor may view, by title, at most ``limit``.

    Raises:
        NotFound: as for :func:`threads`.
    """
    found = selectors.documents_of(actor, workspace, archived=archived, limit=limit)
    if not found:
        _require_a_part(actor, workspace)
    return [_document_line(line) for line in found]


def documents_before(
    actor: Actor, workspace: UUID, *, before: UUID | None, archived: bool, limit: int
) -> tuple[list[Json], UUID | None]:
    """Return a page of the documents of a workspace, as :func:`threads_before` one of its threads."""
    found = selectors.documents_before(actor, workspace, before=before, archived=archived, limit=limit + 1)
    if not found:
        _require_a_part(actor, workspace)
    shown = found[:limit]
    return [_document_line(line) for line in shown], shown[-1].document.id if len(found) > limit else None


def document(actor: Actor, id: UUID, *, version: int | None = None) -> Json:
    """Return a document with its text, as it is or as it was at a version, and what the actor ``may`` do to it.

    Raises:
        NotFound: there is no such document or version, or the actor may not view it.
    """
    found = selectors.document_for(actor, id)
    wanted = found.version if version is None else version
    text = text_at(found, wanted)
    return {
        **_about(found),
        "workspace": str(found.workspace_id),
        "shown_version": wanted,
        "text": text,
        "may": may(actor, found),
    }


def versions(actor: Actor, id: UUID, *, before: int | None = None, limit: int = 50) -> list[Json]:
    """Return the versions a document had, newest first: who made each, for whom, when. Raises as :func:`document`."""
    found = selectors.document_for(actor, id)
    rows = selectors.revisions_of(actor, id, before=before, limit=limit)
    book = Book(found.workspace_id, (row.actor for row in rows))
    seen = readable(Thread.objects.filter(pk__in={row.thread_id for row in rows if row.thread_id}), actor)
    visible = set(seen.values_list("pk", flat=True))
    return [_version(row, book, visible) for row in rows]


def found(
    actor: Actor,
    words: str,
    kind: str,
    *,
    workspace: UUID | None = None,
    before: UUID | None = None,
    archived: bool = False,
) -> Json:
    """Return what a search finds of one kind, the newest first, with where the next page begins.

    Args:
        kind: ``threads``, ``documents`` or ``messages``.
        workspace: only what is in it.
        before: the ``next`` of the page before.
        archived: whether what is archived is found too.

    Raises:
        Invalid: there is no word in the search, it is too long, or there is no such kind.
        NotFound: there is no such workspace, or the actor may view nothing in it.
    """
    if kind not in set(Kind):
        raise Invalid(f"What can be found is {', '.join(Kind)}.")
    wanted = search.question(words)
    if wanted is None:
        raise Invalid("There is no word in the search.")
    reached = search.workspaces_in_reach(actor)
    scopes = [one for one in reached if workspace in (None, one.id)]
    if workspace is not None and not scopes:
        raise NotFound
    group = search.found(actor, wanted, Kind(kind), scopes, before=before, archived=archived)
    return {
        "hits": [_hit(hit) for hit in group.hits],
        "total": group.total,
        "more_than_total": group.total > search.MOST_COUNTED,
        "next": None if group.next is None else str(group.next),
    }


def may(actor: Actor, obj: Guarded) -> Json:
    """Return what an actor may do to an object, and why or why not, as sentences; one query."""
    decided = decisions_on(actor, obj, actions=SHOWN)
    return {
        action.value: {
            "ok": decision.level is Level.ALLOW,
            **({"propose": decision.level >= Level.PROPOSE} if action is Action.CHANGE_DOCUMENT else {}),
            "because": decision.because,
        }
        for action, decision in decided.items()
    }


def plain(item: Any) -> Any:
    """Leave out, at any depth, what was rendered for pages: a client reads the text it was rendered from."""
    if isinstance(item, dict):
        return {key: plain(value) for key, value in item.items() if key != "html"}
    return [plain(value) for value in item] if isinstance(item, list) else item


def _require_a_part(actor: Actor, workspace: UUID) -> None:
    """A workspace of which the actor may view nothing is not there for them."""
    inside = (Thread.objects.filter(workspace=workspace), Document.objects.filter(workspace=workspace))
    if readable(Workspace.objects.filter(pk=workspace), actor).exists():
        return
    if not any(readable(rows, actor).exists() for rows in inside):
        raise NotFound


def _thread_line(line: ThreadLine) -> Json:
    return {
        "id": str(line.thread.id),
        "title": line.thread.title,
        "mode": line.thread.mode,
        "archived": line.thread.archived_at is not None,
        "head_seq": line.thread.head_seq,
        "last_at": line.last_at.isoformat(),
        "unread": line.unread,
    }


def _document_line(line: DocumentLine) -> Json:
    return {**_about(line.document), "open_proposals": line.open_proposals}


def _about(document: Document) -> Json:
    return {
        "id": str(document.id),
        "title": document.title,
        "kind": document.kind,
        "version": document.version,
        "archived": document.archived_at is not None,
        "policy": document.write_policy,
    }


def _version(row: Revision, book: Book, visible: set[UUID]) -> Json:
    return {
        "version": row.version,
        "title": row.title,
        "by": book.json(row.actor),
        "at": row.at.isoformat(),
        "proposal": None if row.proposal_id is None else str(row.proposal_id),
        "thread": str(row.thread_id) if row.thread_id in visible else None,
    }


def _hit(hit: search.Hit) -> Json:
    place = hit.thread if hit.message is not None else None
    return {
        "id": str(hit.id),
        "title": _joined(hit.title),
        "excerpt": _joined(hit.excerpt),
        "by": hit.by or None,
        "thread": str(place.id) if place else None,
        "seq": hit.message.seq if hit.message else None,
    }


def _joined(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)
