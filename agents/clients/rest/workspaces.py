"""Workspaces, and what lies in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from ninja import Query, Router

from agents.clients import reads
from agents.clients.rest import waiting
from agents.clients.rest.asking import Asked
from agents.clients.rest.cursors import cursor, id_of
from agents.clients.rest.shapes import MOST, Cursor, Documents, Inbox, Threads, Workspace, Workspaces
from collab import selectors
from collab.selectors import Member

router = Router(tags=["Workspaces"])

Limit = Annotated[int, Query(ge=1, le=MOST)]


@router.get("/workspaces", response=Workspaces)
def workspaces(request: Asked) -> dict[str, Any]:
    """List the workspaces that the client sees, or a part of which, within those its token is for."""
    return {"workspaces": reads.workspaces(request.auth.actor)}


@router.get("/workspaces/{uuid:workspace}", response=Workspace)
def workspace(request: Asked, workspace: UUID) -> dict[str, Any]:
    """Show a workspace: who is in it, and what the client may do there."""
    found = selectors.workspace_for(request.auth.actor, workspace)
    return {
        "id": str(found.id),
        "name": found.name,
        "may": reads.may(request.auth.actor, found),
        "people": members(selectors.people_of(found.id)),
        "agents": members(selectors.agents_of(found.id)),
    }


@router.get("/workspaces/{uuid:workspace}/threads", response=Threads)
def threads_in(
    request: Asked, workspace: UUID, *, archived: bool = False, before: Cursor = None, limit: Limit = MOST
) -> dict[str, Any]:
    """List the threads that the client sees in a workspace, the newest first."""
    last = id_of(before, workspace) if before else None
    found, more = reads.threads_before(request.auth.actor, workspace, before=last, archived=archived, limit=limit)
    return {"threads": found, "next": cursor(workspace, more.int) if more else None}


@router.get("/workspaces/{uuid:workspace}/documents", response=Documents)
def documents_in(
    request: Asked, workspace: UUID, *, archived: bool = False, before: Cursor = None, limit: Limit = MOST
) -> dict[str, Any]:
    """List the documents that the client sees in a workspace, the newest first."""
    last = id_of(before, workspace) if before else None
    found, more = reads.documents_before(request.auth.actor, workspace, before=last, archived=archived, limit=limit)
    return {"documents": found, "next": cursor(workspace, more.int) if more else None}


@router.get("/inbox", response=Inbox)
def inbox(
    request: Asked, *, workspace: UUID | None = None, after: Annotated[str, Query(max_length=100)] = ""
) -> dict[str, Any]:
    """List what waits for the person that the client acts for, as far as the client sees it too; nothing where it acts
    for no one. It is settled in person or, where the client may, with the commands."""
    return waiting.inbox(request.auth.actor, workspace=workspace, after=after)


def members(found: Sequence[Member]) -> list[dict[str, Any]]:
    """Return people or agents as they are answered."""
    return [
        {"id": str(one.id), "name": one.name, "hue": one.hue, "role": one.role.value if one.role else None}
        for one in found
    ]
