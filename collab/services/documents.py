"""Documents: made, changed, saved, archived; or, by who may only propose, suggested (DESIGN 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from collab.edits import parse_edits
from collab.errors import Invalid
from collab.kind import Data
from collab.kinds import KINDS
from collab.log import Locked
from collab.models.documents import Document, Revision
from collab.models.workspaces import Workspace
from collab.patches import apply_edits, replaced, text_change
from collab.services.changes import (
    ANYWHERE,
    Draft,
    Origin,
    Patch,
    Within,
    Written,
    change_suggested,
    change_written,
    lowerings,
    no_version,
    renaming,
    stale,
)
from collab.services.checks import in_thread, line, valid
from collab.text import clean_text
from permissions.actors import Actor
from permissions.decisions import Action, Level
from permissions.errors import NotFound
from permissions.gate import require

LONGEST_RATIONALE = 4_096
"""Bytes of the reason given with a proposal."""


def document_create(
    *,
    actor: Actor,
    workspace: UUID,
    title: str,
    kind: str,
    text: str | None = None,
    data: object = None,
    thread: UUID | None = None,
    turn: UUID | None = None,
    rationale: str = "",
    propose: bool = False,
    within: Within = ANYWHERE,
) -> Written:
    """Make a document in a workspace; or, where the actor may only propose, a proposal of it in the thread.

    The thread it is made in follows it, and shows it if it shows none.

    Args:
        text: what it holds, as text of its kind; or ``data``, as the kind stores it; with neither it begins empty.
        propose: suggest it even where the actor may make it.
        within: what bounds the turn it is made in.

    Raises:
        NotFound: there is no such workspace or thread in it, or the actor may not view it.
        Refused: the actor may not even propose documents there.
        Invalid: the title, the kind or the content is refused; or it would be a proposal and no thread is named.
    """
    with in_thread(actor, thread) as locked:
        place = Workspace.objects.filter(pk=workspace).first()
        if place is None or (locked is not None and locked.row.workspace_id != workspace):
            raise NotFound()
        origin = _decided(actor, place, locked, turn, within=within)
        name = line(title, "the title")
        with valid():
            content = _content(kind, name, text, data)
        draft = Draft(workspace_id=workspace, kind=kind, title=name, data=content)
        return _made(draft, origin, rationale, propose=propose)


def document_edit(
    *,
    actor: Actor,
    document: UUID,
    edits: Sequence[Any] = (),
    base_version: int | None = None,
    thread: UUID | None = None,
    turn: UUID | None = None,
    title: str | None = None,
    rationale: str = "",
    propose: bool = False,
    within: Within = ANYWHERE,
) -> Written:
    """Change parts of a document, its title, or both; or, where the actor may only propose, suggest it in the thread.

    Args:
        edits: as :func:`collab.edits.parse_edits` reads them; all are applied or none.
        base_version: the version the edits were made on; None: whichever it is at.
        propose: suggest it even where the actor may change the document.
        within: what bounds the turn it is made in.

    Raises:
        NotFound: there is no such document, or the actor may not view it, or it is not of the thread's workspace.
        Refused: the actor may not even propose changes to it.
        Conflict: it changed since ``base_version``, or an edit does not fit it; nothing is changed.
        Invalid: an edit or the title is refused, the document is archived, or no thread is named for a proposal.
    """

    def changed(found: Document) -> Draft:
        _require_base(found, base_version)
        if not edits and title is None:
            raise Invalid("Nothing was asked to change.")
        data: Data = found.data
        name = found.title if title is None else line(title, "the title")
        patch = renaming(found.title, name)
        if edits:
            with valid():
                parsed = parse_edits(list(edits))
                data = apply_edits(KINDS.named(found.kind), found.data, parsed)
            patch += [edit.model_dump(mode="json", exclude_unset=True, by_alias=True) for edit in parsed]
        return replace(_as_it_is(found), title=name, data=data, patch=patch)

    return _change(
        actor, document, changed, thread=thread, turn=turn, rationale=rationale, propose=propose, within=within
    )


def document_save(
    *,
    actor: Actor,
    document: UUID,
    text: str,
    base_version: int,
    thread: UUID | None = None,
    rationale: str = "",
    propose: bool = False,
) -> Written:
    """Save a document's whole text as a person edited it; or, where they may only propose, suggest it in the thread.

    Raises: as :func:`document_edit`.
    """

    def saved(found: Document) -> Draft:
        _require_base(found, base_version)
        with valid():
            data = text_change(KINDS.named(found.kind), found.data, text)
        return replace(_as_it_is(found), data=data, patch=[replaced(data)])

    return _change(actor, document, saved, thread=thread, rationale=rationale, propose=propose)


def document_archive(
    *,
    actor: Actor,
    document: UUID,
    thread: UUID | None = None,
    turn: UUID | None = None,
    rationale: str = "",
    propose: bool = False,
    within: Within = ANYWHERE,
) -> Written:
    """Put a document away, as its next version; or, where the actor may only propose, suggest it in the thread.

    Raises: as :func:`document_edit`.
    """

    def archived(found: Document) -> Draft:
        return replace(_as_it_is(found), archived=True, patch=[{"archived": True}])

    return _change(
        actor, document, archived, thread=thread, turn=turn, rationale=rationale, propose=propose, within=within
    )


def document_restore(*, actor: Actor, document: UUID, thread: UUID | None = None, turn: UUID | None = None) -> Written:
    """Bring an archived document back, as its next version. Only who may change it may.

    Raises:
        NotFound: as for :func:`document_edit`.
        Refused: the actor may not change it.
    """
    with in_thread(actor, thread) as locked:
        found = _document(document, locked.row.workspace_id if locked else None)
        origin = _decided(actor, found, locked, turn, at_least=Level.ALLOW)
        if found.archived_at is None:
            return _unchanged(found)
        return change_written(replace(_as_it_is(found), patch=[{"archived": False}]), origin)


def document_restore_version(
    *,
    actor: Actor,
    document: UUID,
    version: int,
    base_version: int,
    thread: UUID | None = None,
    turn: UUID | None = None,
    rationale: str = "",
    propose: bool = False,
) -> Written:
    """Make an earlier version, its title and its content, the next one; or, where the actor may only propose, suggest
    it in the thread. Nothing between is lost.

    Args:
        version: the one to bring back.
        base_version: the version the actor saw.
        propose: suggest it even where the actor may change the document.

    Raises:
        NoSuchVersion: the document has no such version.
        NotFound, Refused, Conflict, Invalid: as for :func:`document_edit`.
    """

    def restored(found: Document) -> Draft:
        _require_base(found, base_version)
        earlier = Revision.objects.filter(document=found, version=version).first()
        if earlier is None:
            raise no_version(found, version)
        patch: Patch = [replaced(earlier.data)] if earlier.data != found.data else []
        patch += renaming(found.title, earlier.title)
        return replace(_as_it_is(found), title=earlier.title, data=earlier.data, patch=patch, restores=version)

    why = rationale or f"Brings version {version} back."
    return _change(actor, document, restored, thread=thread, turn=turn, rationale=why, propose=propose)


def _change(
    actor: Actor,
    document: UUID,
    drafted: Callable[[Document], Draft],
    *,
    thread: UUID | None,
    turn: UUID | None = None,
    rationale: str = "",
    propose: bool = False,
    within: Within = ANYWHERE,
) -> Written:
    with in_thread(actor, thread) as locked:
        found = _document(document, locked.row.workspace_id if locked else None)
        origin = _decided(actor, found, locked, turn, within=within)
        if found.archived_at is not None:
            raise Invalid(f"{found.title} is archived; bring it back to change it.")
        draft = drafted(found)
        if (draft.title, draft.data, draft.archived) == (found.title, found.data, False):
            return _unchanged(found)
        return _made(draft, origin, rationale, propose=propose)


def _decided(
    actor: Actor,
    obj: Document | Workspace,
    locked: Locked | None,
    turn: UUID | None,
    *,
    at_least: Level = Level.PROPOSE,
    within: Within = ANYWHERE,
) -> Origin:
    document = obj if isinstance(obj, Document) else None
    lowers = partial(lowerings, actor, document, locked.row if locked else None, within)
    decision = require(
        actor, Action.CHANGE_DOCUMENT, obj, at_least=at_least, lowers=lowers, cap=within.cap, for_write=True
    )
    return Origin(actor=actor, locked=locked, turn=turn, decision=decision)


def _made(draft: Draft, origin: Origin, rationale: str, *, propose: bool = False) -> Written:
    with valid():
        why = clean_text(rationale, limit_bytes=LONGEST_RATIONALE, name="the rationale", allow_blank=True)
    if origin.decision.level is Level.ALLOW and not propose:
        return change_written(draft, origin)
    return change_suggested(draft, origin, rationale=why)


def _document(id: UUID, workspace: UUID | None) -> Document:
    found = Document.objects.filter(pk=id).first()
    if found is None or workspace not in (None, found.workspace_id):
        raise NotFound()
    return found


def _content(kind: str, title: str, text: str | None, data: object) -> Data:
    known = KINDS.named(kind)
    if data is not None:
        return known.check(data)
    return known.empty(title) if text is None else known.from_text(text)


def _as_it_is(document: Document) -> Draft:
    return Draft(
        workspace_id=document.workspace_id,
        kind=document.kind,
        title=document.title,
        data=document.data,
        document=document,
    )


def _unchanged(document: Document) -> Written:
    summary = f"{document.title} is unchanged, at version {document.version}."
    return Written(document=document, version=document.version, summary=summary)


def _require_base(document: Document, base_version: int | None) -> None:
    if base_version is None or base_version == document.version:
        return
    if base_version > document.version:
        raise no_version(document, base_version)
    raise stale(document, base_version)
