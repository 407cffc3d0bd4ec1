"""Items: the full current view of threads, messages, proposals and documents (docs/protocol.md, items).

A builder takes ids and returns items in the same order, in a number of queries that does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Subquery

from collab import reads
from collab.gists import gist
from collab.models.documents import Document, Follow
from collab.models.proposals import Proposal
from collab.models.threads import Message, Thread
from collab.reads import Item, Ref
from collab.selectors import names_of
from collab.web.actors import Book
from collab.web.delegating import delegated_in
from collab.web.markdown import render
from collab.web.suggested import MAY_NOTHING, change_of, may, resolver_part, seen_by
from permissions.actors import Actor
from permissions.grants import readable
from permissions.phrases import GONE_NAME

STANDING_DOCUMENTS = 200
"""How many of the documents it follows a thread shows."""


HELD_EVENTS = ("message_held", "message_released")
HELD_AMONG = 2_000
"""How far back in the log a thread's page looks for messages that are held."""


def thread_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of threads."""
    threads = Thread.objects.in_bulk(ids)
    agents = names_of(thread.agent_id for thread in threads.values() if thread.agent_id)
    delegated = delegated_in([(thread.id, thread.agent_id) for thread in threads.values()])
    return [
        {
            "item": "thread",
            "id": str(thread.id),
            "title": thread.title,
            "mode": thread.mode,
            "answers": thread.answers,
            "archived": thread.archived_at is not None,
            "agent": {"id": str(thread.agent_id), "name": agents.get(thread.agent_id, GONE_NAME)}
            if thread.agent_id
            else None,
            "focus": _text(thread.focus_id),
            "delegation": delegated.get(thread.id),
        }
        for thread in _in_order(threads, ids)
    ]


def message_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of messages, comments and notices."""
    messages: dict[UUID, Any] = Message.objects.annotate(workspace_id=F("thread__workspace_id")).in_bulk(ids)
    book = _book(messages.values(), (message.author for message in messages.values()))
    unclear = _why_held(message.thread_id for message in messages.values() if message.held_at)
    return [
        {
            "item": "message",
            "id": str(message.id),
            "seq": message.seq,
            "kind": message.kind,
            "author": book.json(message.author),
            "text": message.content,
            "html": render(message.content),
            "at": message.posted_at.isoformat(),
            "state": _state(message),
            "taken_by": _text(message.taken_by),
            "taken_as": message.taken_as,
            "because": unclear if message.held_at else message.passed_over,
            "turn": _text(message.turn_id),
            "interrupted": message.interrupted,
        }
        for message in _in_order(messages, ids)
    ]


def document_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of documents; those the viewer may not see have none (None may see the whole workspace)."""
    seen = Document.objects.filter(pk__in=ids) if viewer is None else _seen(viewer, ids)
    opened = Count("proposals", filter=Q(proposals__state=Proposal.State.OPEN))
    documents: dict[UUID, Any] = {document.pk: document for document in seen.annotate(open_proposals=opened)}
    return [
        {
            "item": "document",
            "id": str(document.id),
            "title": document.title,
            "kind": document.kind,
            "version": document.version,
            "archived": document.archived_at is not None,
            "policy": document.write_policy,
            "open_proposals": document.open_proposals,
        }
        for document in _in_order(documents, ids)
    ]


def proposal_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of proposals, with what the viewer may do about each.

    A proposal to change a document that the viewer may not see has none. None may do nothing.
    """
    found = Proposal.objects.select_related("document", "thread", "workspace").filter(pk__in=ids)
    visible = found if viewer is None else found.filter(Q(document=None) | Q(document__in=_seen(viewer, _of(ids))))
    proposals = {proposal.pk: proposal for proposal in visible}
    actors = [actor for proposal in proposals.values() for actor in (proposal.proposer, proposal.resolver)]
    book = _book(proposals.values(), actors)
    opened = [proposal for proposal in proposals.values() if proposal.state == Proposal.State.OPEN]
    mays = may(viewer, opened) if viewer and opened else {}
    return [
        {**_proposal_item(proposal, book), **seen_by(proposal, mays.get(proposal.id, MAY_NOTHING))}
        for proposal in _in_order(proposals, ids)
    ]


def _proposal_item(proposal: Proposal, book: Book) -> Item:
    return {
        "item": "proposal",
        "id": str(proposal.id),
        "seq": proposal.seq,
        "turn": _text(proposal.turn_id),
        "document": _text(proposal.document_id),
        "change": proposal.change,
        "title": proposal.title,
        "base_version": proposal.base_version,
        "proposer": book.json(proposal.proposer),
        "rationale": proposal.rationale,
        "gist": gist(proposal.edits),
        "renames": next(
            ({"was": edit["was"], "title": edit["title"]} for edit in proposal.edits if "title" in edit), None
        ),
        "diff": change_of(proposal),
        "edits": resolver_part(proposal),
        "state": proposal.state,
        "resolver": book.json(proposal.resolver),
        "resolved_at": proposal.resolved_at and proposal.resolved_at.isoformat(),
        "reason": proposal.reason,
        "at": proposal.proposed_at.isoformat(),
    }


def standing_refs(thread_id: UUID) -> Iterable[Ref]:
    """Return what a thread's page always shows: the thread, what waits, open proposals, the documents it follows."""
    yield ("thread", thread_id)
    waiting = Message.objects.filter(thread_id=thread_id, waits=True).order_by("seq")
    yield from (("message", id) for id in waiting.values_list("pk", flat=True))
    yield from (("message", id) for id in _held(thread_id))
    opened = Proposal.objects.filter(thread_id=thread_id, state=Proposal.State.OPEN).order_by("seq")
    yield from (("proposal", id) for id in opened.values_list("pk", flat=True))
    follows = Follow.objects.filter(thread_id=thread_id).order_by("pk")[:STANDING_DOCUMENTS]
    yield from (("document", id) for id in follows.values_list("document_id", flat=True))


def register() -> None:
    """Register the items, and the entities that each event of this app touches."""
    reads.register_items("thread", thread_items)
    reads.register_items("message", message_items)
    reads.register_items("document", document_items, reads.Reading.WORKSPACE)
    reads.register_items("proposal", proposal_items, reads.Reading.EACH)
    reads.register_standing(standing_refs)
    for event_type in ("thread_created", "thread_changed", "mode_changed"):
        reads.register_event_items(event_type, lambda row, fact: [("thread", row.thread_id)])
    for event_type in ("message_posted", "message_cancelled", "message_passed_over", *HELD_EVENTS):
        reads.register_event_items(event_type, lambda row, fact: [("message", fact.message)])
    for event_type in ("document_created", "document_changed", "document_archived", "policy_changed"):
        reads.register_event_items(event_type, lambda row, fact: [("document", fact.document)])
    for event_type in ("proposal_created", "proposal_resolved"):
        reads.register_event_items(event_type, lambda row, fact: [("proposal", fact.proposal)])
    reads.register_event_items("focus_changed", _focus_refs)
    reads.register_event_items("message_taken", lambda row, fact: [("message", id) for id in fact.messages])


def _held(thread_id: UUID) -> Iterable[UUID]:
    """The messages that are held, of the newest in the log: a held one is recent, and a log may be long."""
    head = Thread.objects.filter(pk=thread_id).values("head_seq")
    held = Message.objects.filter(thread_id=thread_id, held_at__isnull=False)
    return held.filter(seq__gt=Subquery(head) - HELD_AMONG).order_by("seq").values_list("pk", flat=True)


def _why_held(threads: Iterable[UUID]) -> str:
    """Why messages of a thread are held; nothing is read where none is."""
    thread = Thread.objects.filter(pk__in=list(threads)).first()
    if thread is None:
        return ""
    name = names_of([thread.agent_id]).get(thread.agent_id, GONE_NAME) if thread.agent_id else GONE_NAME
    return f"{name} cannot tell whether this adds to what it does."


def _focus_refs(row: reads.EventRow, fact: Any) -> list[Ref]:
    shown: list[Ref] = [] if fact.document is None else [("document", fact.document)]
    return [("thread", row.thread_id), *shown]


def _seen(viewer: Actor, ids: Any) -> QuerySet[Document]:
    return readable(Document.objects.filter(pk__in=ids), viewer)


def _of(proposals: Sequence[UUID]) -> QuerySet[Any]:
    return Proposal.objects.filter(pk__in=proposals).values("document_id")


def _book(rows: Iterable[Any], actors: Iterable[Actor | None]) -> Book:
    """The rows are of one thread, so of one workspace."""
    return Book(next((row.workspace_id for row in rows), None), actors)


def _state(message: Message) -> str:
    if message.waits:
        return "waits"
    if message.held_at is not None:
        return "held"
    if message.cancelled_at is not None:
        return "cancelled"
    if message.passed_over is not None:
        return "passed_over"
    return "taken" if message.taken_by is not None else "posted"


def _in_order(found: dict[UUID, Any], ids: Sequence[UUID]) -> Iterable[Any]:
    return (found[id] for id in ids if id in found)


def _text(id: UUID | None) -> str | None:
    return None if id is None else str(id)
