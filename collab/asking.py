"""Asking why: one decision explained, at present, at a moment in the past, or as a thread's log records it (DESIGN 11).

Whoever calls it has checked who asks.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from collab import events, selectors
from collab.models.delegations import Delegation
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message, Thread
from collab.models.workspaces import Workspace
from collab.services.changes import lowered_by_mode, lowered_by_policy, lowerings
from permissions.actors import Actor, Agent, Client, Person
from permissions.decisions import Action, Delegated, Level, Lowering
from permissions.grants import facts
from permissions.models import Guarded
from permissions.past import facts_at
from permissions.reach import kept_by
from permissions.replay import Moment
from permissions.why import Explanation, explain

Object = Guarded

KINDS: dict[str, type[Object]] = {"workspace": Workspace, "thread": Thread, "document": Document}
"""What can be asked about, by the word it is called."""

CALLED: dict[str, str] = {"workspace": "name", "thread": "title", "document": "title"}
"""What each is called by: a lookup on its model."""

LOADS: dict[str, Callable[[Actor, UUID], Object]] = {
    "workspace": selectors.workspace_for,
    "thread": selectors.thread_for,
    "document": selectors.document_for,
}
"""How each is loaded as someone who may view it."""

NAMES: dict[str, Callable[[str], Q]] = {}
"""How what an upper app registered is found by the words someone names it by."""

ACTIONS: dict[str, tuple[Action, ...]] = {
    "workspace": tuple(action for action in Action if action is not Action.USE_TOOL),
    "thread": (Action.VIEW, Action.COMMENT, Action.START_TURN, Action.MANAGE),
    "document": (Action.VIEW, Action.CHANGE_DOCUMENT, Action.REVIEW_DOCUMENT, Action.MANAGE),
}
"""What anything asks about each, the action that is asked about most first but one: viewing."""


def register_kind(
    word: str,
    model: type[Object],
    *,
    actions: tuple[Action, ...],
    called: str,
    named: Callable[[str], Q],
    loads: Callable[[Actor, UUID], Object],
) -> None:
    """Let something of an upper app that grants are held on be asked about and granted like the rest (DESIGN 3).

    Args:
        word: what it is called in addresses and commands.
        actions: what anything asks about it; the first is viewing, the second what is asked about most.
        called: the lookup on its model that a page calls it by.
        named: the condition on its rows that someone's words name it.
        loads: how it is loaded as someone who may view it.
    """
    KINDS[word], ACTIONS[word], CALLED[word], NAMES[word], LOADS[word] = model, actions, called, named, loads


def word_of(model_label: str) -> str | None:
    """Return the word for what the history of grants names by its model, like ``collab.document``."""
    return next((word for word, model in KINDS.items() if model._meta.label_lower == model_label), None)


def explained(actor: Actor, action: Action, obj: Object, thread: Thread | None = None) -> Explanation:
    """Say why an actor may or may not do something, at present.

    Args:
        thread: where it is done, whose mode may lower a change.
    """
    document = obj if isinstance(obj, Document) else None
    lowers = lowerings(actor, document, thread) if action is Action.CHANGE_DOCUMENT else ()
    known = facts(actor, obj, lowers=lowers)
    kept = kept_by(known.standings, obj)
    return explain(actor, action, known, kept, narrowed=not isinstance(obj, Workspace))


def explained_at(
    actor: Actor, action: Action, obj: Object, moment: Moment, thread: Thread | None = None, *, seq: int | None = None
) -> Explanation:
    """Say why an actor could or could not do something at a moment in the past, as far as the record shows it.

    Args:
        seq: the event of the thread's log before which its mode counts; None: by the moment's time.
    """
    changing = action is Action.CHANGE_DOCUMENT
    past = facts_at(
        actor,
        obj,
        moment,
        lowers=_lowers_at(actor, obj, moment, thread, seq) if changing else (),
        delegated=_delegated_at(actor, moment.at) if changing else None,
    )
    unknown = list(past.unknown)
    if changing and thread is None and isinstance(actor, Agent | Client):
        unknown.append("Whether the thread it was done in was in suggest mode: no thread is named.")
    narrowed = not isinstance(obj, Workspace)
    return explain(actor, action, past.facts, past.kept, narrowed=narrowed, unknown=unknown, at=moment.at)


def explained_event(event: Event, action: Action, obj: Object) -> Explanation:
    """Say why what an event of a log records was allowed.

    Args:
        action, obj: as :func:`decided` found them.
    """
    moment = Moment(event.at, event.grants_epoch)
    return explained_at(event.actor, action, obj, moment, event.thread, seq=event.seq)


def decided(event: Event) -> tuple[Action, Object] | None:
    """Return the action and the object that an event's write was decided on; None where no right decided it."""
    if not event.grants_epoch:
        return None
    fact = _fact(event)
    return _on_documents(fact, event) or _on_threads(fact, event)


DECIDED = frozenset(
    kind.type
    for kind in (
        *(events.DocumentCreated, events.DocumentChanged, events.DocumentArchived, events.PolicyChanged),
        *(events.ProposalCreated, events.ProposalResolved, events.ModeChanged, events.ThreadChanged),
        *(events.ThreadCreated, events.MessagePosted, events.TurnStarted, events.QuestionAnswered),
    )
)
"""The types of events that a right may have decided."""


def needed(event: Event) -> Level:
    """Return how far who wrote an event had to be allowed to go."""
    return Level.PROPOSE if event.type == events.ProposalCreated.type else Level.ALLOW


def _on_documents(fact: Any, event: Event) -> tuple[Action, Object] | None:
    match fact:
        case events.DocumentCreated():
            return Action.CHANGE_DOCUMENT, event.thread.workspace
        case events.DocumentChanged(document=id) | events.DocumentArchived(document=id):
            return Action.CHANGE_DOCUMENT, Document.objects.get(pk=id)
        case events.PolicyChanged(document=id):
            return Action.MANAGE, Document.objects.get(pk=id)
        case events.ProposalCreated(proposal=id):
            return Action.CHANGE_DOCUMENT, _target(id)
        case events.ProposalResolved(proposal=id, state="accepted" | "rejected"):
            return Action.REVIEW_DOCUMENT, _target(id)
        case _:
            return None


def _on_threads(fact: Any, event: Event) -> tuple[Action, Object] | None:
    match fact:
        case events.ProposalResolved():
            return Action.VIEW, event.thread
        case events.ModeChanged() | events.ThreadChanged():
            return Action.MANAGE, event.thread
        case events.ThreadCreated():
            return Action.START_TURN, event.thread.workspace
        case events.MessagePosted(kind=Message.Kind.COMMENT.value):
            return Action.COMMENT, event.thread
        case events.MessagePosted() | events.TurnStarted() | events.QuestionAnswered():
            return Action.START_TURN, event.thread
        case _:
            return None


def _target(proposal: UUID) -> Document | Workspace:
    row = Proposal.objects.select_related("document", "workspace").get(pk=proposal)
    made = row.change == Proposal.Change.CREATE
    return row.workspace if made or row.document is None else row.document


def _lowers_at(actor: Actor, obj: Object, moment: Moment, thread: Thread | None, seq: int | None) -> list[Lowering]:
    if not isinstance(actor, Agent | Client):
        return []
    found = []
    if thread is not None and _mode_at(thread, moment.at, seq) == Thread.Mode.SUGGEST:
        found.append(lowered_by_mode(thread))
    if isinstance(obj, Document) and _policy_at(obj, moment) == Document.WritePolicy.PROPOSE:
        found.append(lowered_by_policy(obj))
    return found


def _mode_at(thread: Thread, at: datetime, seq: int | None) -> str:
    changed = Event.objects.filter(thread=thread, type=events.ModeChanged.type)
    before = changed.filter(at__lte=at) if seq is None else changed.filter(seq__lt=seq)
    last = before.order_by("-seq").first()
    return Thread.Mode.EDIT if last is None else str(_fact(last).mode)


def _policy_at(document: Document, moment: Moment) -> str:
    changed = Event.objects.filter(
        thread__workspace=document.workspace_id, type=events.PolicyChanged.type, data__contains=str(document.id)
    )
    was = Q(grants_epoch__lte=moment.epoch) if moment.epoch else Q(at__lte=moment.at)
    last = changed.filter(was).order_by("-grants_epoch").first()
    return Document.WritePolicy.DIRECT if last is None else str(_fact(last).policy)


def _delegated_at(actor: Actor, at: datetime) -> Delegated | None:
    if not isinstance(actor, Agent):
        return None
    stood = Delegation.objects.filter(Q(ended_at=None) | Q(ended_at__gt=at), given_at__lte=at, until__gt=at)
    row = stood.filter(thread=actor.thread, agent=actor.id).order_by("-given_at").first()
    if row is None or not isinstance(row.given_by, Person):
        return None
    return Delegated(Level[row.level.upper()], row.given_by.id, row.until)


def _fact(event: Event) -> Any:
    return events.load(event.type, event.data)
