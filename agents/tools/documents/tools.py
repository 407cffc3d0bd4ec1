"""Documents, through the same services as people: the right is decided there, as the agent for its person."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, JsonValue

from agents.tools.contract import Recorded, ToolContext, tool
from collab.edits import MOST_EDITS, Edit, quoted
from collab.errors import Invalid
from collab.kinds import KINDS
from collab.selectors import document_for, documents_of
from collab.services.changes import Written
from collab.services.documents import document_archive, document_create, document_edit
from permissions.errors import NotFound

DocumentRef = Annotated[str, Field(description="The document's id, or its exact title.", max_length=200)]
Version = Annotated[int, Field(ge=1, description="The version you read; without it, whichever it is at.")]
Rationale = Annotated[str, Field(max_length=1_000, description="Why, for the people who review it.")]


@tool(effect="read", local=True, label="List documents")
def list_documents(ctx: ToolContext) -> JsonValue:
    """List the documents of this workspace that you can read in this turn."""
    return [
        {"id": str(line.document.id), "title": line.document.title, "kind": line.document.kind,
         "version": line.document.version}
        for line in documents_of(ctx.actor, ctx.workspace, cap=ctx.within.cap)
    ]  # fmt: skip


@tool(effect="read", local=True, label="Read document")
def read_document(ctx: ToolContext, document: DocumentRef) -> JsonValue:
    """Read a document's text and its version."""
    found = document_for(ctx.actor, _id_of(ctx, document), cap=ctx.within.cap)
    if found.workspace_id != ctx.workspace:
        # What a turn reads is for the people of its thread, who need not belong to another workspace.
        raise NotFound()
    return {
        "id": str(found.id), "title": found.title, "kind": found.kind, "version": found.version,
        "text": KINDS.named(found.kind).to_text(found.data),
    }  # fmt: skip


@tool(effect="write", local=True, label="Create document")
def create_document(ctx: ToolContext, title: str, text: str = "", kind: str = "markdown") -> JsonValue | Recorded:
    """Create a document. Its kind is markdown, or checklist with lines like "- [ ] item"."""
    written = document_create(
        actor=ctx.actor, workspace=ctx.workspace, title=title, kind=kind, text=text or None, thread=ctx.thread,
        turn=ctx.turn, within=ctx.within,
    )  # fmt: skip
    return _told(written)


@tool(effect="write", local=True, label="Edit document")
def edit_document(
    ctx: ToolContext,
    document: DocumentRef,
    edits: Annotated[tuple[Edit, ...], Field(max_length=MOST_EDITS)] = (),
    version: Version | None = None,
    title: str | None = None,
    rationale: Rationale = "",
) -> JsonValue | Recorded:
    """Change parts of a document: all of the edits, or none of them when one does not fit.

    Where you may only suggest changes, this makes a proposal that a person must accept.
    """
    written = document_edit(
        actor=ctx.actor, document=_id_of(ctx, document), edits=edits, base_version=version, thread=ctx.thread,
        turn=ctx.turn, title=title, rationale=ctx.said(rationale),
        within=ctx.within,
    )  # fmt: skip
    return _told(written)


@tool(effect="write", local=True, label="Archive document")
def archive_document(ctx: ToolContext, document: DocumentRef, rationale: Rationale = "") -> JsonValue | Recorded:
    """Put a document away. Where you may only suggest it, this makes a proposal that a person must accept."""
    written = document_archive(
        actor=ctx.actor, document=_id_of(ctx, document), thread=ctx.thread, turn=ctx.turn,
        rationale=ctx.said(rationale), within=ctx.within,
    )  # fmt: skip
    return _told(written)


def _id_of(ctx: ToolContext, reference: str) -> UUID:
    try:
        return UUID(reference)
    except ValueError:
        pass
    wanted = reference.strip().casefold()
    lines = documents_of(ctx.actor, ctx.workspace, cap=ctx.within.cap)
    found = [line.document for line in lines if line.document.title.casefold() == wanted]
    if not found:
        raise NotFound(f"There is no document called {quoted(reference)}, or you may not see it.")
    if len(found) > 1:
        raise Invalid(f"{len(found)} documents are called {quoted(reference)}; name one by its id.")
    return found[0].id


def _told(written: Written) -> JsonValue | Recorded:
    if written.proposal is not None:
        result: JsonValue = {
            "proposal": str(written.proposal.id), "state": written.proposal.state, "title": written.proposal.title,
            "summary": written.summary, "because": written.because,
        }  # fmt: skip
        return Recorded("propose_change", result)
    if written.document is None:
        return {"summary": written.summary}
    return {
        "id": str(written.document.id), "title": written.document.title, "version": written.version,
        "summary": written.summary,
    }  # fmt: skip
