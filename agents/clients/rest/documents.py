"""Documents: what they say, what they said, and what changed."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router

from agents.clients import reads
from agents.clients.rest.asking import Asked
from agents.clients.rest.cursors import cursor, id_of
from agents.clients.rest.shapes import MOST, Compared, Cursor, Document, Items, Versions
from collab import reads as items
from collab import selectors
from collab.diffs import DiffLine
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from collab.web.comparing import comparison, text_at
from collab.web.versions import Version, history
from permissions.grants import readable

router = Router(tags=["Documents"])

VersionNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1)]

MARKDOWN = {200: {"description": "The text", "content": {"text/markdown": {"schema": {"type": "string"}}}}}


@router.get("/documents/{uuid:document}", response=Document)
def document(request: Asked, document: UUID, *, version: VersionNumber = None) -> dict[str, Any]:
    """Show a document with its text and what the client may do to it, as it is or as it was at a version."""
    return reads.document(request.auth.actor, document, version=version)


@router.get("/documents/{uuid:document}/markdown", openapi_extra={"responses": MARKDOWN})
def markdown(request: Asked, document: UUID, *, version: VersionNumber = None) -> HttpResponse:
    """Return a document's text alone, as it is or as it was at a version."""
    found = selectors.document_for(request.auth.actor, document)
    text = text_at(found, version or found.version)
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


@router.get("/documents/{uuid:document}/versions", response=Versions)
def versions(request: Asked, document: UUID, *, before: VersionNumber = None) -> dict[str, Any]:
    """List the versions of a document, the newest first: who made each, and what it changed."""
    actor = request.auth.actor
    past = history(actor, selectors.document_for(actor, document), before=before)
    return {"versions": [_version(one) for one in past.versions], "next": past.before}


@router.get("/documents/{uuid:document}/compare", response=Compared)
def compare(
    request: Asked,
    document: UUID,
    *,
    since: Annotated[int | None, Query(alias="from", ge=1, le=2**31 - 1)] = None,
    to: VersionNumber = None,
) -> dict[str, Any]:
    """Show what differs between two versions, in either order: else between the newest two."""
    actor = request.auth.actor
    found = selectors.document_for(actor, document)
    newer = to or found.version
    compared = comparison(actor, found, since or max(newer - 1, 1), newer)
    return {
        "older": _version(compared.older),
        "newer": _version(compared.newer),
        "titles": compared.titles,
        "told": compared.told,
        "lines": [_line(line) for line in compared.lines],
    }


@router.get("/documents/{uuid:document}/proposals", response=Items)
def proposals(
    request: Asked, document: UUID, *, before: Cursor = None, limit: Annotated[int, Query(ge=1, le=MOST)] = 50
) -> dict[str, Any]:
    """List what is proposed for a document and not settled, in the threads that the client sees: the newest, or those
    before a cursor, in order."""
    actor = request.auth.actor
    found = selectors.document_for(actor, document)
    threads = readable(Thread.objects.filter(workspace=found.workspace_id), actor)
    waiting = Proposal.objects.filter(document=found, state=Proposal.State.OPEN, thread__in=threads)
    if before:
        waiting = waiting.filter(pk__lt=id_of(before, found.id))
    newest = list(waiting.order_by("-pk").values_list("pk", flat=True)[: limit + 1])
    shown = newest[:limit]
    return {
        "items": [reads.plain(item) for item in items.build(actor, [("proposal", id) for id in reversed(shown)])],
        "next": cursor(found.id, shown[-1].int) if len(newest) > limit else None,
    }


def _version(version: Version) -> dict[str, Any]:
    place = version.place
    return {
        "version": version.version,
        "by": version.by,
        "at": version.at.isoformat(),
        "change": version.change,
        "thread": {"id": str(place.id), "name": place.title} if place else None,
    }


def _line(line: DiffLine) -> dict[str, Any]:
    return {"op": line.op, "old": line.old_no, "new": line.new_no, "spans": line.spans, "skipped": line.skipped}
