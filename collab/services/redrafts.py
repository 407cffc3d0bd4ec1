"""What a proposal would make of its document as it is by now, and what its resolver makes of that (decision 0012).

Reads nothing from the database: the caller has loaded the proposal with its document and its thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from collab.edits import parse_edits
from collab.errors import CollabError, Conflict, EditsStale, NotEditable, OutOfScope, TextRefused, Unchanged
from collab.kind import BadData, Data
from collab.kinds import KINDS
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.passages import passages
from collab.patches import edits_between, rebase, text_change
from collab.services.changes import Draft, Patch, no_version, renaming
from collab.services.checks import line, valid


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What would come of accepting an open proposal now.

    Attributes:
        draft: what the document would be; None where the change does not fit any more.
        because: why it does not.
        was: the passage it was made on.
        now: that passage by now.
    """

    draft: Draft | None = None
    because: str = ""
    was: str = ""
    now: str = ""


def redrafted(row: Proposal) -> Draft:
    """Return a proposal's change as it would be made on the document as it is now.

    Raises:
        Conflict: the passage, the title or the whole document it is about is different by now; ``because`` says which.
        OutOfScope: it is about something other than a document of its own workspace.
    """
    new = Draft(workspace_id=row.workspace_id, kind=row.kind, title=row.title, data=row.data, patch=row.edits)
    document = row.document
    if document is None:
        return new
    if document.workspace_id != row.workspace_id:
        raise OutOfScope()
    if document.archived_at is not None:
        raise Conflict(f"{document.title} is archived; bring it back first.")
    if row.change == Proposal.Change.ARCHIVE:
        if row.base_version != document.version:
            raise Conflict(f"{_changed_since(document, row.base_version)}.")
        return replace(new, document=document, title=document.title, data=document.data, archived=True)
    return replace(new, document=document, title=_title(row, document), data=_data(row, document))


def outlook(row: Proposal) -> Outlook:
    """Return what would come of accepting an open proposal now, for people to read in advance."""
    try:
        return Outlook(draft=redrafted(row))
    except CollabError as refused:
        was, now = _passages(row)
        return Outlook(because=refused.because, was=was, now=now)


def edited(draft: Draft, *, text: str | None, title: str | None, base_version: int | None) -> tuple[Draft, Patch]:
    """Return a proposal's draft as its resolver wants it, and the edits that make it of the proposed one.

    Args:
        text: the whole text as it should become; None: as proposed.
        title: its title; None: as proposed.
        base_version: the version of the document that the resolver saw; None: whichever it is at.

    Raises:
        NotEditable: the proposal is to archive the document.
        EditsStale: the document changed since ``base_version``; ``NoSuchVersion``: it has no such version.
        TextRefused: the text cannot be a document of its kind.
        Unchanged: they changed nothing, or left nothing of the proposal.
        Invalid: the title is refused.
    """
    if draft.archived:
        raise NotEditable(f"Archiving {draft.title} has no text to edit.")
    document = draft.document
    if document is not None and base_version is not None:
        _require_base(document, base_version)
    data = draft.data if text is None else _written(draft, text)
    name = draft.title if title is None else line(title, "the title")
    if (name, data) == (draft.title, draft.data):
        raise Unchanged("Your text is what was proposed: nothing was edited.")
    if document is not None and (name, data) == (document.title, document.data):
        raise Unchanged(f"Your text leaves {document.title} as it is: reject the proposal instead.")
    patch: Patch = [*edits_between(draft.data, data), *renaming(draft.title, name)]
    return replace(draft, title=name, data=data, patch=[*draft.patch, *patch]), patch


def _require_base(document: Document, base_version: int) -> None:
    if base_version > document.version:
        raise no_version(document, base_version)
    if base_version < document.version:
        raise EditsStale(f"{_changed_since(document, base_version)}; read it again.")


def _changed_since(document: Document, version: int | None) -> str:
    return f"{document.title} changed since version {version} (it is at version {document.version})"


def _written(draft: Draft, text: str) -> Data:
    try:
        return text_change(KINDS.named(draft.kind), draft.data, text)
    except BadData as bad:
        raise TextRefused(f"{bad.because[:1].upper()}{bad.because[1:].removesuffix('.')}.") from bad


def _title(row: Proposal, document: Document) -> str:
    rename = next((part for part in row.edits if "title" in part), None)
    if rename is None:
        return document.title
    if document.title not in (rename["was"], rename["title"]):
        raise Conflict(f"{rename['was']} is called {document.title} by now; the proposal renames it too.")
    return str(rename["title"])


def _data(row: Proposal, document: Document) -> Data:
    edits = _edits(row)
    current: Data = document.data
    if not edits:
        return current
    with valid():
        return rebase(KINDS.named(row.kind), row.base_data, current, parse_edits(edits))


def _edits(row: Proposal) -> Patch:
    return [part for part in row.edits if "title" not in part]


def _passages(row: Proposal) -> tuple[str, str]:
    if row.document is None or row.base_data is None:
        return "", ""
    with valid():
        return passages(KINDS.named(row.kind), row.base_data, row.document.data, _edits(row))
