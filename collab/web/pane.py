"""A document as its pane shows it: what it says, its versions, what is proposed for it (DESIGN 11)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.urls import reverse

from collab import selectors
from collab.canonical import canonical
from collab.diffs import diff_lines, summary
from collab.kinds import KINDS
from collab.models.documents import Document, Revision
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from collab.web.markdown import render
from permissions.actors import Actor, Person
from permissions.decisions import Action, Level
from permissions.gate import decide_on
from permissions.grants import names_of, readable

REVISIONS = 20
"""Versions the history shows."""


@dataclass(frozen=True, slots=True)
class OpenProposal:
    """A proposal that waits for someone, and where it stands."""

    by: str
    href: str
    elsewhere: bool


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a document, as its history tells it."""

    version: int
    by: str
    at: datetime
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """A document as its pane shows it.

    Attributes:
        items: a checklist's items; None for a text.
        suggests: says that saving only suggests, where it does.
        draft: text that could not be saved, with ``note`` saying why.
    """

    document: Document
    text: str
    html: str
    items: Sequence[Any] | None
    revisions: Sequence[Version]
    proposals: Sequence[OpenProposal]
    may_edit: bool
    suggests: str
    offers_focus: bool = False
    focus_title: str = ""
    draft: str = ""
    note: str = ""
    archived: bool = field(init=False)
    changed_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "archived", self.document.archived_at is not None)
        object.__setattr__(self, "changed_at", self.revisions[0].at if self.revisions else self.document.created_at)


def pane(reader: UUID, document: Document, thread: Thread | None = None, *, draft: str = "", note: str = "") -> Pane:
    """Return a document that the reader was let see, shown alone or beside a thread they were let see."""
    actor = Person(reader)
    kind = KINDS.named(document.kind)
    decision = decide_on(actor, Action.CHANGE_DOCUMENT, document)
    proposes = decision.level is Level.PROPOSE
    text = kind.to_text(document.data)
    starts = thread is not None and decide_on(actor, Action.START_TURN, thread).level is Level.ALLOW
    closed = document.archived_at is not None or (thread is not None and thread.archived_at is not None)
    return Pane(
        document=document,
        text=text,
        html=render(text) if document.kind == "markdown" else "",
        items=document.data.get("items") if document.kind == "checklist" else None,
        revisions=_history(actor, document),
        proposals=_open_proposals(actor, document, thread),
        may_edit=not closed and (decision.level is Level.ALLOW or (proposes and thread is not None)),
        suggests="Saving suggests the change: someone else must accept it." if proposes else "",
        offers_focus=starts and not closed and thread is not None and thread.focus_id != document.id,
        focus_title=_focus_title(actor, thread),
        draft=draft,
        note=note,
    )


def _focus_title(actor: Actor, thread: Thread | None) -> str:
    """What the thread shows to everyone who may view it; nothing of it to who may not."""
    if thread is None or thread.focus_id is None:
        return ""
    shown = readable(Document.objects.filter(pk=thread.focus_id), actor).values_list("title", flat=True).first()
    return shown or "another document"


def _open_proposals(actor: Actor, document: Document, thread: Thread | None) -> list[OpenProposal]:
    seen = readable(Thread.objects.filter(workspace=document.workspace_id), actor)
    waiting = Proposal.objects.filter(document=document, state=Proposal.State.OPEN, thread__in=seen)
    found = list(waiting.order_by("proposed_at"))
    names = names_of(*(proposal.proposer for proposal in found))
    return [_open_proposal(proposal, names, thread) for proposal in found]


def _open_proposal(proposal: Proposal, names: Mapping[UUID, str], thread: Thread | None) -> OpenProposal:
    here = thread is not None and thread.id == proposal.thread_id
    address = "" if here else reverse("thread", args=[proposal.thread_id])
    by = selectors.told(proposal.proposer, names)
    return OpenProposal(by=by, href=f"{address}#p-{proposal.id}", elsewhere=thread is not None and not here)


def _history(actor: Actor, document: Document) -> list[Version]:
    rows = selectors.revisions_of(actor, document.id, limit=REVISIONS + 1)
    prefetch_related_objects(rows, "proposal")
    names = names_of(*(actor for row in rows for actor in _actors(row)))
    older = {row.version: row for row in rows}
    return [
        Version(row.version, _by(row, names), row.at, _told_change(document.kind, row, older.get(row.version - 1)))
        for row in rows[:REVISIONS]
    ]


def _actors(row: Revision) -> list[Actor]:
    proposal = row.proposal
    return [row.actor] if proposal is None else [row.actor, proposal.proposer]


def _by(row: Revision, names: Mapping[UUID, str]) -> str:
    if row.proposal is None:
        return selectors.told(row.actor, names)
    return f"{selectors.told(row.proposal.proposer, names)}, accepted by {selectors.told(row.actor, names)}"


def _told_change(kind: str, row: Revision, before: Revision | None) -> str:
    if before is None:
        return "Made." if row.version == 1 else ""
    told = [f"Called {row.title}."] if row.title != before.title else []
    if row.data != before.data:
        told.append(_summary(kind, canonical(before.data), canonical(row.data)))
    return " ".join(told) or "Archived or brought back."


@lru_cache(maxsize=256)
def _summary(kind_name: str, old: str, new: str) -> str:
    """Versions never change, so what changed between two is worked out once."""
    kind = KINDS.named(kind_name)
    told = summary(diff_lines(kind, json.loads(old), json.loads(new)))
    return f"{told[:1].upper()}{told[1:]}."
