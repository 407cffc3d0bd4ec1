"""A document as its pane shows it: what it says, its versions, what is proposed for it, what its reader may do
(DESIGN 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.urls import reverse

from collab import selectors
from collab.models.documents import Document, Follow
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from collab.web.comparing import shown, text_of
from collab.web.versions import History, history
from permissions.actors import Actor, Person
from permissions.decisions import Action, Level
from permissions.gate import decide_on, decisions_on
from permissions.grants import names_of, readable

ASKED = (Action.CHANGE_DOCUMENT, Action.MANAGE)


@dataclass(frozen=True, slots=True)
class OpenProposal:
    """A proposal that waits for someone, and where it stands."""

    by: str
    href: str
    elsewhere: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class May:
    """What the reader may do to a document here.

    Attributes:
        place: the thread that what they suggest or set is recorded in; None: they can do neither here.
        change: their changes are made at once; ``suggest``: they can suggest some.
        manage: they set its policy here; ``rights``: they see and change who holds what on it.
    """

    place: Thread | None
    change: bool
    suggest: bool
    restore: bool
    manage: bool
    rights: bool

    @property
    def write(self) -> bool:
        """Whether they can change or suggest anything."""
        return self.change or self.suggest


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """A document as its pane shows it.

    Attributes:
        items: a checklist's items; None for a text.
        mark: differs when what the pane shows does.
        policy: says that agents only suggest here, where they do.
        draft: text that could not be saved, with ``note`` saying why.
    """

    document: Document
    text: str
    html: str
    items: Sequence[Any] | None
    history: History
    proposals: Sequence[OpenProposal]
    may: May
    mark: str
    policy: str
    archived: bool
    changed_at: datetime
    beside: Thread | None = None
    follows: bool = False
    offers_focus: bool = False
    focus_title: str = ""
    draft: str = ""
    note: str = ""


def pane(reader: UUID, document: Document, thread: Thread | None = None, *, draft: str = "", note: str = "") -> Pane:
    """Return a document that the reader was let see, shown alone or beside a thread they were let see."""
    actor = Person(reader)
    html, items = shown(document, document.data)
    past = history(actor, document)
    may = may_do(actor, document, thread)
    return Pane(
        document=document,
        text=text_of(document, document.data),
        html=html,
        items=items,
        history=past,
        proposals=_open_proposals(actor, document, thread),
        may=may,
        mark=mark(document),
        policy=_policy(document, thread),
        archived=document.archived_at is not None,
        changed_at=past.versions[0].at if past.versions else document.created_at,
        beside=thread,
        follows=thread is not None and Follow.objects.filter(thread=thread, document=document).exists(),
        offers_focus=_offers_focus(actor, document, thread),
        focus_title=_focus_title(actor, thread),
        draft=draft,
        note=note,
    )


def may_do(actor: Actor, document: Document, thread: Thread | None) -> May:
    """Return what an actor may do to a document they were let see, beside a thread or on a page of its own.

    On its own page, what has to stand in a thread stands in the first that follows it and that they may view.
    """
    decisions = decisions_on(actor, document, actions=ASKED)
    level, manages = decisions[Action.CHANGE_DOCUMENT].level, decisions[Action.MANAGE].level is Level.ALLOW
    place = thread if thread is not None else _followed_in(actor, document) if level > Level.DENY or manages else None
    open_here = place is not None and place.archived_at is None
    closed = document.archived_at is not None or (thread is not None and not open_here)
    return May(
        place=place if open_here else None,
        change=level is Level.ALLOW and not closed,
        suggest=level >= Level.PROPOSE and open_here and not closed,
        restore=level is Level.ALLOW and document.archived_at is not None and (thread is None or open_here),
        manage=manages and open_here and not closed,
        rights=manages,
    )


def mark(document: Document) -> str:
    """Return what tells a pane that is current from one that is old, in one query."""
    open_proposals = Proposal.objects.filter(document=document, state=Proposal.State.OPEN).count()
    away = "archived" if document.archived_at else ""
    return f"{document.version}.{document.write_policy}.{open_proposals}.{away}"


def _followed_in(actor: Actor, document: Document) -> Thread | None:
    follows = Follow.objects.filter(document=document, thread=OuterRef("pk"))
    threads = Thread.objects.filter(Exists(follows), archived_at__isnull=True, workspace=document.workspace_id)
    return readable(threads, actor).order_by("created_at", "pk").first()


def _policy(document: Document, thread: Thread | None) -> str:
    if document.write_policy != Document.WritePolicy.PROPOSE:
        return ""
    agent = selectors.names_of([thread.agent_id]) if thread is not None and thread.agent_id else {}
    return f"{next(iter(agent.values()))} only suggests here" if agent else "Agents and clients only suggest here"


def _offers_focus(actor: Actor, document: Document, thread: Thread | None) -> bool:
    if thread is None or thread.archived_at or document.archived_at or thread.focus_id == document.id:
        return False
    return decide_on(actor, Action.START_TURN, thread).level is Level.ALLOW


def _focus_title(actor: Actor, thread: Thread | None) -> str:
    """What the thread shows to everyone who may view it; nothing of it to who may not."""
    if thread is None or thread.focus_id is None:
        return ""
    titles = readable(Document.objects.filter(pk=thread.focus_id), actor).values_list("title", flat=True)
    return titles.first() or "another document"


def _open_proposals(actor: Actor, document: Document, thread: Thread | None) -> list[OpenProposal]:
    seen = readable(Thread.objects.filter(workspace=document.workspace_id), actor)
    waiting = Proposal.objects.filter(document=document, state=Proposal.State.OPEN, thread__in=seen)
    found = list(waiting.only("proposer", "thread").order_by("proposed_at"))
    names = names_of(*(proposal.proposer for proposal in found))
    return [_open_proposal(proposal, names, thread) for proposal in found]


def _open_proposal(proposal: Proposal, names: Mapping[UUID, str], thread: Thread | None) -> OpenProposal:
    here = thread is not None and thread.id == proposal.thread_id
    address = "" if here else reverse("thread", args=[proposal.thread_id])
    by = selectors.told(proposal.proposer, names)
    return OpenProposal(by=by, href=f"{address}#p-{proposal.id}", elsewhere=thread is not None and not here)
