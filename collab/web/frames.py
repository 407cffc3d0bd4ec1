"""Frames out of the log: read once, built once for everyone who reads the same, serialised once (DESIGN 9)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from collab import events, log, reads
from collab.models.documents import Document, Follow
from collab.models.proposals import Proposal
from collab.models.threads import Event, Thread
from collab.reads import Item, Reading, Ref
from collab.web.access import Viewer
from collab.web.actors import Book
from permissions.actors import Actor, Agent, Person, person

PAGE_EVENTS = 200
"""Log entries whose items a page shows at first, and at each step back."""

BATCH_EVENTS = 250
"""Log entries read at once for sockets."""

Versions = dict[UUID, int]
"""The version of each document a thread follows."""


def dumps(frame: dict[str, Any]) -> str:
    """Serialise a frame."""
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One frame as each viewer of a batch reads it, and as no other may; ``seq`` is the event's, where it is one."""

    seq: int | None
    texts: dict[Viewer, str]


@dataclass(frozen=True, slots=True)
class Batch:
    """Frames, and the workspace's grants epoch read after them.

    Whoever knows an older epoch looks again at who may see before sending: a frame of something that was committed
    after a grant was revoked is never sent to who lost it.
    """

    frames: list[Outgoing]
    epoch: int


@dataclass(frozen=True, slots=True)
class Head:
    """Where a thread stands: its last seq, its workspace's grants epoch, the versions of what it follows."""

    seq: int
    epoch: int
    documents: Versions


def heads(thread_ids: Collection[UUID]) -> dict[UUID, Head]:
    """Return where threads stand, in two queries however many there are."""
    versions: dict[UUID, Versions] = {id: {} for id in thread_ids}
    follows = Follow.objects.filter(thread__in=thread_ids).values_list("thread_id", "document_id", "document__version")
    for thread_id, document_id, version in follows:
        versions[thread_id][document_id] = version
    found = Thread.objects.filter(pk__in=thread_ids).values_list("pk", "head_seq", "workspace__grants_epoch")
    return {id: Head(seq, epoch, versions[id]) for id, seq, epoch in found}


def epoch_of(thread_id: UUID) -> int:
    """Return the grants epoch of a thread's workspace."""
    return Thread.objects.values_list("workspace__grants_epoch", flat=True).get(pk=thread_id)


def event_frames(thread_id: UUID, after: int, viewers: Collection[Viewer]) -> Batch:
    """Return the frames of the next events after a seq, at most ``BATCH_EVENTS``, as these viewers read them."""
    rows = log.read(thread_id, after=after, limit=BATCH_EVENTS)
    frames = _event_frames(thread_id, rows, viewers) if rows else []
    return Batch(frames, epoch_of(thread_id))


def document_frames(thread_id: UUID, documents: Sequence[UUID], viewers: Collection[Viewer]) -> Batch:
    """Return a ``document_changed`` frame for each of these documents, as these viewers of a thread read it."""
    versions = dict(Document.objects.filter(pk__in=documents).values_list("pk", "version"))
    refs: list[list[Ref]] = _with_proposals(thread_id, [[("document", id)] for id in documents])
    views = _Views([(found, None) for found in refs], viewers)
    frames = [
        views.outgoing({"type": "document_changed", "document": str(id), "version": versions[id]}, found, None)
        for id, found in zip(documents, refs, strict=True)
        if id in versions
    ]
    return Batch(frames, epoch_of(thread_id))


def proposal_frame(thread_id: UUID, viewers: Collection[Viewer]) -> Outgoing | None:
    """Return a ``standing`` frame of a thread's open proposals, as these viewers may act on them; None without any."""
    refs = [ref for ref in reads.standing(thread_id) if ref[0] == "proposal"]
    if not refs:
        return None
    return _Views([(refs, None)], viewers).outgoing({"type": "standing"}, refs, None)


def standing_items(thread_id: UUID, viewer: Actor) -> list[Item]:
    """Return the items that a viewer of a thread always sees: what waits, runs, stands open or is followed."""
    return reads.build(viewer, reads.standing(thread_id))


def running_turn(thread_id: UUID) -> str | None:
    """Return the id of the turn that runs in a thread, or None."""
    turns = reads.build(None, [ref for ref in reads.standing(thread_id) if ref[0] == "turn"])
    return next((turn["id"] for turn in turns if turn["status"] == "running"), None)


def page_items(viewer: Actor, thread: Thread, *, before: int | None = None, limit: int = PAGE_EVENTS) -> dict[str, Any]:
    """Return what a page of a thread shows: ``items``, and the ``first_seq`` and ``head_seq`` of what they are from.

    Items are built from events as the socket builds them, so a page that lives equals one that is loaded.

    Args:
        viewer: who reads; the caller has checked that they may see the thread.
        before: only events before this seq (a step back); None: the newest, and all that stands open.
        limit: how many log entries to read.
    """
    end = thread.head_seq if before is None else min(before - 1, thread.head_seq)
    first = max(end - limit, 0)
    rows = log.read(thread.id, after=first, upto=end, limit=limit)
    refs = [ref for found in _refs(rows) for ref in found]
    standing = reads.standing(thread.id) if before is None else []
    items = reads.build(viewer, [*refs, *standing])
    return {"items": items, "first_seq": first + 1 if rows else 0, "head_seq": thread.head_seq}


def frames_read(viewer: Actor, thread: Thread, *, after: int, limit: int = BATCH_EVENTS) -> list[dict[str, Any]]:
    """Return the frames of the next events after a seq, oldest first, as one reader of whatever kind reads them.

    Args:
        viewer: who reads; the caller has checked that they may see the thread.
        limit: how many at most.
    """
    rows = log.read(thread.id, after=after, limit=limit)
    refs = _with_proposals(thread.id, _with_documents(_refs(rows)))
    items = _by_ref(reads.build(viewer, [ref for found in refs for ref in found]))
    book = Book(thread.workspace_id, (row.actor for row in rows))
    return [
        {**_event_frame(row, book), "items": [items[ref] for ref in found if ref in items]}
        for row, found in zip(rows, refs, strict=True)
    ]


def _event_frames(thread_id: UUID, rows: list[Event], viewers: Collection[Viewer]) -> list[Outgoing]:
    refs = _with_proposals(thread_id, _with_documents(_refs(rows)))
    people = [person(row.actor) if isinstance(row.actor, Agent) else None for row in rows]
    views = _Views(list(zip(refs, people, strict=True)), viewers)
    book = Book(Thread.objects.values_list("workspace_id", flat=True).get(pk=thread_id), (row.actor for row in rows))
    return [
        views.outgoing(_event_frame(row, book), row_refs, who, seq=row.seq)
        for row, row_refs, who in zip(rows, refs, people, strict=True)
    ]


def _refs(rows: list[Event]) -> list[list[Ref]]:
    return reads.refs_of([(row, events.load(row.type, row.data)) for row in rows])


def _event_frame(row: Event, book: Book) -> dict[str, Any]:
    return {
        "type": "event",
        "seq": row.seq,
        "event": row.type,
        "at": row.at.isoformat(),
        "actor": book.json(row.actor),
        "turn": None if row.turn_id is None else str(row.turn_id),
        "data": json.loads(row.data),
    }


def _with_documents(rows: list[list[Ref]]) -> list[list[Ref]]:
    """A document's item counts its open proposals, so it changes with them."""
    proposals = {id for refs in rows for name, id in refs if name == "proposal"}
    if not proposals:
        return rows
    documents = dict(Proposal.objects.filter(pk__in=proposals).values_list("pk", "document_id"))
    return [[*refs, *_documents_of(refs, documents)] for refs in rows]


def _documents_of(refs: Iterable[Ref], documents: Mapping[UUID, UUID | None]) -> list[Ref]:
    found = (documents.get(id) for name, id in refs if name == "proposal")
    return [ref for id in found if id is not None and (ref := ("document", id)) not in refs]


def _with_proposals(thread_id: UUID, rows: list[list[Ref]]) -> list[list[Ref]]:
    """An open proposal's item says whether it still fits its document, so it changes with it."""
    documents = {id for refs in rows for name, id in refs if name == "document"}
    if not documents:
        return rows
    opened = Proposal.objects.filter(thread=thread_id, document__in=documents, state=Proposal.State.OPEN)
    waiting = list(opened.order_by("seq").values_list("pk", "document_id"))
    return [_merged(refs, [("proposal", id) for id, on in waiting if ("document", on) in refs]) for refs in rows]


def _merged(refs: list[Ref], more: list[Ref]) -> list[Ref]:
    return list(dict.fromkeys([*refs, *more]))


class _Views:
    """The items of a batch, as everyone reads them, and as each viewer does where that differs."""

    def __init__(self, rows: list[tuple[list[Ref], Person | None]], viewers: Collection[Viewer]) -> None:
        self._viewers = set(viewers)
        every = [ref for refs, _ in rows for ref in refs]
        shared = [
            ref for ref in every if ref[0] in reads.BUILDERS and reads.BUILDERS[ref[0]].reading is not Reading.EACH
        ]
        self._shared = _by_ref(reads.build(None, shared))
        self._own: dict[Viewer, dict[Ref, Item]] = {}
        for viewer in self._viewers:
            theirs = [ref for refs, who in rows for ref in refs if _differs(ref[0], viewer, who)]
            self._own[viewer] = _by_ref(reads.build(viewer.actor, theirs))

    def outgoing(
        self, frame: dict[str, Any], refs: Sequence[Ref], who: Person | None, *, seq: int | None = None
    ) -> Outgoing:
        """Return a frame with the items of its entities, serialised once for all who read the same."""
        everyone = dumps({**frame, "items": [self._shared[ref] for ref in refs if ref in self._shared]})
        own = {
            viewer: dumps({**frame, "items": self._items_of(viewer, refs, who)})
            for viewer in self._viewers
            if any(_differs(name, viewer, who) for name, _ in refs)
        }
        return Outgoing(seq, dict.fromkeys(self._viewers, everyone) | own)

    def _items_of(self, viewer: Viewer, refs: Sequence[Ref], who: Person | None) -> list[Item]:
        own = self._own[viewer]
        found = ((own if _differs(ref[0], viewer, who) else self._shared).get(ref) for ref in refs)
        return [item for item in found if item is not None]


def _differs(name: str, viewer: Viewer, who: Person | None) -> bool:
    """Say whether a viewer reads items of this name, in an event of this person, differently from everyone."""
    builder = reads.BUILDERS.get(name)
    match builder and builder.reading:
        case Reading.PERSON:
            return who is None or who.id == viewer.person
        case Reading.WORKSPACE:
            return not viewer.whole
        case Reading.EACH:
            return True
        case _:
            return False


def _by_ref(items: Iterable[Item]) -> dict[Ref, Item]:
    return {(item["item"], UUID(item["id"])): item for item in items}
