"""Searching, and asking why: what the client may find, and what it may do."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Query, Router

from agents.clients import reads
from agents.clients.rest.asking import Asked
from agents.clients.rest.shapes import Found, Why
from collab import selectors
from collab.asking import ACTIONS, LOADS, explained
from collab.errors import Invalid
from permissions.decisions import Action
from permissions.errors import NotFound
from permissions.why import Explanation

router = Router(tags=["Searching and asking why"])


@router.get("/search", response=Found)
def search(
    request: Asked,
    *,
    q: Annotated[str, Query(max_length=1_000)],
    kind: Annotated[Literal["threads", "documents", "messages"], Query(alias="in")] = "messages",
    workspace: UUID | None = None,
    before: UUID | None = None,
    archived: bool = False,
) -> dict[str, Any]:
    """Find threads and documents by their words and messages by theirs, the newest first."""
    return reads.found(request.auth.actor, q, kind, workspace=workspace, before=before, archived=archived)


@router.get("/why/{str:kind}/{uuid:id}", response=Why)
def why(
    request: Asked, kind: str, id: UUID, *, action: Annotated[str, Query(max_length=50)], thread: UUID | None = None
) -> dict[str, Any]:
    """Say why the client may or may not do something with a workspace, a thread, a document or a tool.

    `thread` is where it is done: in suggest mode a change becomes a proposal.
    """
    actor = request.auth.actor
    if kind not in LOADS:
        raise NotFound
    found = LOADS[kind](actor, id)
    if action not in {one.value for one in ACTIONS[kind]}:
        raise Invalid(f"What can be asked about a {kind} is {', '.join(ACTIONS[kind])}.")
    place = selectors.thread_for(actor, thread) if thread else None
    if place is not None and place.workspace_id != found.scope_id:
        raise NotFound
    return _why(explained(actor, Action(action), found, place))


def _why(told: Explanation) -> dict[str, Any]:
    return {
        "level": told.decision.level.name.lower(),
        "because": told.decision.because,
        "parties": [
            {
                "name": link.name,
                "part": link.part,
                "level": link.level.name.lower(),
                "findings": [finding.says for finding in link.findings],
                "decides": link.decides,
            }
            for link in told.links
        ],
        "bounds": [bound.says for bound in told.bounds if bound.lowers],
        "ways": [list(way.changes) for way in told.ways],
        "instead": list(told.instead),
    }
