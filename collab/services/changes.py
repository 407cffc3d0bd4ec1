"""Making a change to a document, or suggesting it: what the services of documents and proposals have in common.

A :class:`Draft` is a change that is worked out and checked for its form, not yet for who may make it. The services
decide that, then call :func:`change_written` or :func:`change_suggested` in the same transaction (DESIGN 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from collab import doorbell, selectors
from collab.errors import Conflict, Invalid, NoSuchVersion
from collab.events import (
    DocumentArchived,
    DocumentChanged,
    DocumentCreated,
    FocusChanged,
    ProposalCreated,
    ProposalResolved,
)
from collab.kind import Data
from collab.kinds import KINDS
from collab.log import Locked, append
from collab.models.documents import Document, Follow, Revision
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from permissions.actors import Actor, Agent, Client
from permissions.clock import AccordNow
from permissions.decisions import Decision, Level, Lowering
from permissions.grants import readable

PROPOSE = Document.WritePolicy.PROPOSE

Patch = list[dict[str, Any]]
"""A change as it was asked for: edits, ``{"title": new, "was": old}``, ``{"archived": true}``; empty for a creation.
A revision that brings an earlier version back also says which: ``{"restored": 3}``."""

Recordable = DocumentCreated | DocumentChanged | DocumentArchived | FocusChanged | ProposalCreated | ProposalResolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a document would be. ``document`` is what it is now, None for one that would be made; ``restores`` is the
    earlier version it would be again."""

    workspace_id: UUID
    kind: str
    title: str
    data: Data
    document: Document | None = None
    patch: Sequence[dict[str, Any]] = ()
    archived: bool = False
    restores: int | None = None

    @property
    def change(self) -> Proposal.Change:
        """What a proposal of it is called."""
        if self.document is None:
            return Proposal.Change.CREATE
        return Proposal.Change.ARCHIVE if self.archived else Proposal.Change.EDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of a change: the document with its version, or the proposal it was lowered to and ``because`` of what.

    ``summary`` is a true sentence about it.
    """

    summary: str
    document: Document | None = None
    version: int | None = None
    proposal: Proposal | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who makes a change, where, in which turn, by which decision; and the proposal it carries out."""

    actor: Actor
    locked: Locked | None
    turn: UUID | None
    decision: Decision
    proposal: Proposal | None = None

    def append(self, event: Recordable) -> None:
        """Record it in the thread's log, where there is one."""
        if self.locked is not None:
            epoch = self.decision.grants_epoch or 0
            append(self.locked, event, actor=self.actor, turn=self.turn, grants_epoch=epoch)


def renaming(was: str, title: str) -> Patch:
    """Return the part of a patch that gives a document another title; empty where it is the same."""
    return [] if title == was else [{"title": title, "was": was}]


def change_written(draft: Draft, origin: Origin) -> Written:
    """Make a change that was decided to be allowed: the document, its revision, the event, the doorbell.

    Raises:
        Conflict: somebody changed the document since it was read.
    """
    document = _created(draft) if draft.document is None else _changed(draft, draft.document)
    _recorded(draft, document, origin)
    if draft.document is None:
        origin.append(DocumentCreated(document.id))
    elif draft.archived:
        origin.append(DocumentArchived(document.id, document.version))
    else:
        origin.append(DocumentChanged(document.id, document.version))
    _followers_told(document, origin)
    return Written(document=document, version=document.version, summary=_summary(draft, document))


def change_suggested(draft: Draft, origin: Origin, *, rationale: str) -> Written:
    """Make a proposal of a change, for someone else to accept or reject; it stands in the thread it was made in.

    ``because`` of what is returned is empty where the actor might have made the change and chose to suggest it.
    """
    locked, decision = origin.locked, origin.decision
    because = decision.because if decision.level < Level.ALLOW else ""
    if locked is None:
        raise Invalid(f"{because} A proposal is made in a thread; name one.".strip())
    document = draft.document
    proposal = Proposal(
        workspace_id=draft.workspace_id, thread_id=locked.row.id, turn_id=origin.turn, seq=locked.next_seq,
        document=document, change=draft.change, kind=draft.kind, title=draft.title,
        base_version=document.version if document else None, base_data=document.data if document else None,
        edits=list(draft.patch), data=draft.data, rationale=rationale, proposer=origin.actor, proposed_at=locked.now,
    )  # fmt: skip
    proposal.save(force_insert=True)
    origin.append(ProposalCreated(proposal.id))
    what = f"A document called {draft.title}" if document is None else f"A change to {document.title}"
    if draft.archived:
        what = f"Archiving {draft.title}"
    # In person one may accept what an agent suggested for oneself (DESIGN 5).
    who = "a person" if isinstance(origin.actor, Agent) else "someone else"
    summary = f"{what} was suggested; {who} must accept it."
    return Written(proposal=proposal, summary=summary, because=because)


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """What bounds the changes of a turn whose origin is no person (DESIGN 5 and 7).

    Attributes:
        cap: the owner of the timer or route it came from, whose rights bound it.
        only_proposes: why it only proposes, a sentence without its full stop; "" where it may change documents.
    """

    cap: UUID | None = None
    only_proposes: str = ""


ANYWHERE = Within()
"""No bounds but the actor's own rights."""


def lowerings(
    actor: Actor, document: Document | None, thread: Thread | None, within: Within = ANYWHERE
) -> list[Lowering]:
    """Return what lowers a change by an agent or a client to a proposal (DESIGN 5).

    Suggest mode of the thread it is made in; for a client outside of any thread, of a thread that follows the
    document; and the document's policy, as it is at this moment. Nothing lowers a person's.
    """
    if not isinstance(actor, Agent | Client):
        return []
    found = [Lowering(within.only_proposes)] if within.only_proposes else []
    if thread is not None and thread.mode == Thread.Mode.SUGGEST:
        found.append(lowered_by_mode(thread))
    if thread is None and document is not None and isinstance(actor, Client):
        found += _by_followers(actor, document)
    if document is not None and Document.objects.filter(pk=document.pk, write_policy=PROPOSE).exists():
        found.append(lowered_by_policy(document))
    return found


def lowered_by_mode(thread: Thread) -> Lowering:
    """Return what a thread in suggest mode lowers changes by; a delegation there takes its place."""
    undone_by = f"set {thread.title} to edit mode"
    return Lowering(f"{thread.title} is in suggest mode", of_mode=True, undone_by=undone_by)


def _by_followers(client: Client, document: Document) -> list[Lowering]:
    """Return what the threads that follow a document lower a client's changes by: one that it may view by its title."""
    suggesting = Thread.objects.filter(follows__document=document, archived_at__isnull=True, mode=Thread.Mode.SUGGEST)
    seen = Exists(readable(Thread.objects.filter(pk=OuterRef("pk")), client))
    first = suggesting.annotate(seen=seen).order_by("-seen", "pk").first()
    if first is None:
        return []
    if vars(first)["seen"]:
        return [lowered_by_mode(first)]
    return [Lowering(f"a thread that follows {document.title} is in suggest mode", of_mode=True)]


def lowered_by_policy(document: Document) -> Lowering:
    """Return what a document with the policy ``propose`` lowers changes by."""
    because = f"{document.title} takes changes by agents and clients as proposals"
    return Lowering(because, undone_by=f"let {document.title} take changes directly")


def stale(document: Document, since: int) -> Conflict:
    """Return the conflict of a change that was made on an older version, naming who changed the document."""
    revision = Revision.objects.filter(document=document, version=document.version).first()
    by = f", by {selectors.told(revision.actor)}" if revision else ""
    return Conflict(
        f"{document.title} changed since version {since} (it is at version {document.version}{by}); read it again."
    )


def no_version(document: Document, version: int) -> NoSuchVersion:
    """Return the refusal of a version that a document does not have."""
    return NoSuchVersion(f"{document.title} has no version {version}; it is at version {document.version}.")


def _created(draft: Draft) -> Document:
    return Document.objects.create(
        workspace_id=draft.workspace_id, kind=draft.kind, title=draft.title, data=draft.data, text=_text(draft)
    )


def _changed(draft: Draft, document: Document) -> Document:
    since = document.version
    archived_at = (document.archived_at or AccordNow()) if draft.archived else None
    # The version is the lock: of two changes made on one version, one finds no row.
    changed = Document.objects.filter(pk=document.pk, version=since).update(
        version=since + 1, title=draft.title, data=draft.data, text=_text(draft), archived_at=archived_at
    )
    if not changed:
        document.refresh_from_db()
        raise stale(document, since)
    document.version, document.title, document.data = since + 1, draft.title, draft.data
    return document


def _text(draft: Draft) -> str:
    """Return what is searched of a document besides its title."""
    return KINDS.named(draft.kind).to_text(draft.data)


def _recorded(draft: Draft, document: Document, origin: Origin) -> None:
    Revision(
        document=document,
        version=document.version,
        patch=[*draft.patch, *_restored(draft)],
        title=document.title,
        data=document.data,
        actor=origin.actor,
        thread_id=origin.locked.row.id if origin.locked else None,
        turn_id=origin.turn,
        proposal=origin.proposal,
        at=origin.locked.now if origin.locked else AccordNow(),
    ).save(force_insert=True)


def _restored(draft: Draft) -> Patch:
    return [] if draft.restores is None else [{"restored": draft.restores}]


def _followers_told(document: Document, origin: Origin) -> None:
    """Ring the threads that follow the document; the one it was changed in follows it from here on."""
    followers = set(Follow.objects.filter(document=document).values_list("thread_id", flat=True))
    locked = origin.locked
    if locked is not None and locked.row.id not in followers:
        Follow.objects.bulk_create([Follow(thread_id=locked.row.id, document=document)], ignore_conflicts=True)
        followers.add(locked.row.id)
    if locked is not None and locked.row.focus_id is None and document.version == 1:
        locked.change(focus_id=document.id)
        origin.append(FocusChanged(document.id))
    doorbell.document_changed_on_commit(document.id, followers)


def _summary(draft: Draft, document: Document) -> str:
    if draft.archived:
        return f"{document.title} was archived."
    return f"{document.title} is at version {document.version}."
