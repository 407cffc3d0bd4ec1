"""The log as people read it: one sentence an event, grouped by turn (DESIGN 11, timeline).

What an event says beyond ids comes from the items of what it touches, built as its reader may read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime

from collab import events, log, reads
from collab.asking import DECIDED
from collab.models.threads import Event, Thread
from collab.reads import Item, Ref
from collab.web.actors import Book
from collab.web.timeline_words import SAYS as OUTSIDE
from collab.web.timeline_words import Items, Said, excerpt, numbers, short
from permissions.actors import Actor, person

PAGE_EVENTS = 100
"""Events a page shows."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event: who did it (empty where the sentence says it), and what."""

    seq: int
    at: datetime
    type: str
    icon: str
    look: str
    who: str
    says: str
    may_ask: bool = False
    """Its reader may ask why it was allowed."""


@dataclass(frozen=True, slots=True)
class Group:
    """Events in a row of one turn, or of none."""

    turn: Item | None
    hue: int
    anchor: str
    at: datetime | None
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of the log; ``before`` is where the one before it ends, None at the log's beginning."""

    groups: Sequence[Group]
    before: int | None


def timeline(reader: Actor, thread: Thread, *, before: int | None = None, manages: bool = False) -> Timeline:
    """Return a page of a thread's log, the newest or the one before a seq, in a number of queries that does not grow
    with it. The caller has checked that the reader may see the thread, and whether they manage its workspace."""
    end = thread.head_seq if before is None else min(before - 1, thread.head_seq)
    rows = log.read(thread.id, after=max(end - PAGE_EVENTS, 0), upto=end, limit=PAGE_EVENTS)
    facts = [events.load(row.type, row.data) for row in rows]
    items = _items(reader, rows, facts)
    book = Book(thread.workspace_id, [row.actor for row in rows])
    entries = [
        (row.turn_id, replace(_entry(row, fact, items, book), may_ask=_may_ask(reader, row, manages=manages)))
        for row, fact in zip(rows, facts, strict=True)
    ]
    return Timeline(_grouped(entries, items), rows[0].seq if rows and rows[0].seq > 1 else None)


def entry_of(reader: Actor, thread: Thread, row: Event) -> Entry:
    """Return one event of a thread that the reader was let see."""
    fact = events.load(row.type, row.data)
    return _entry(row, fact, _items(reader, [row], [fact]), Book(thread.workspace_id, [row.actor]))


def _may_ask(reader: Actor, row: Event, *, manages: bool) -> bool:
    return bool(row.grants_epoch) and row.type in DECIDED and (manages or person(row.actor) == reader)


def _items(reader: Actor, rows: Sequence[Event], facts: Sequence[Any]) -> Items:
    refs: list[Ref] = [("turn", row.turn_id) for row in rows if row.turn_id is not None]
    refs += (ref for found in reads.refs_of(list(zip(rows, facts, strict=True))) for ref in found)
    return {(item["item"], UUID(item["id"])): item for item in reads.build(reader, refs)}


def _grouped(entries: Sequence[tuple[UUID | None, Entry]], items: Items) -> list[Group]:
    groups = []
    named: set[UUID] = set()
    for turn_id, part in groupby(entries, key=lambda pair: pair[0]):
        turn = items.get(("turn", turn_id)) if turn_id is not None else None
        first = turn is not None and turn_id is not None and turn_id not in named
        if turn_id is not None:
            named.add(turn_id)
        whom = turn["for"] if turn else None
        groups.append(
            Group(
                turn=turn,
                hue=whom["hue"] if whom else 0,
                anchor=f"T{turn['number']}" if turn and first else "",
                at=parse_datetime(turn["started_at"]) if turn else None,
                entries=[entry for _, entry in part],
            )
        )
    return groups


def _entry(row: Event, fact: Any, items: Items, book: Book) -> Entry:
    told = None if isinstance(fact, events.Unknown) else SAYS.get(row.type)
    icon, look, says = told(fact, items) if told else ("minus", "", "Something this page does not know")
    actor = book.json(row.actor) or {}
    if row.type == "call_ended" and row.turn_id is None and actor["kind"] == "person":
        says = f"{says.removesuffix('.')}, by {actor['name']}"
    who = "" if row.type in OF_THE_TURN or says[:1].isupper() else actor["name"]
    return Entry(row.seq, row.at, row.type, icon, look, who, says)


def _posted(fact: events.MessagePosted, items: Items) -> Said:
    message = items.get(("message", fact.message))
    words = excerpt(message)
    waits = " (waits)" if message and message["state"] == "waits" else ""
    if fact.kind == "notice":
        return "bell", "", f"posted a notice: {words}"
    if message and message["author"]["kind"] == "source":
        icon = "clock" if message["author"]["verified"] == "own clock" else "plug"
        return icon, "", f"asks: {words}{waits}"
    verb = "replied" if message and message["turn"] else "commented" if fact.kind == "comment" else "wrote"
    return "comment" if fact.kind == "comment" else "chat", "", f"{verb}: {words}{waits}"


def _taken(fact: events.MessageTaken, items: Items) -> Said:
    return "join", "", f"{numbers(fact.messages, items)} joined at a boundary"


def _cancelled(fact: events.MessageCancelled, items: Items) -> Said:
    return "x", "", f"cancelled {numbers([fact.message], items).lower()}"


def _passed(fact: events.MessagePassedOver, items: Items) -> Said:
    message = items.get(("message", fact.message))
    because = message["because"] if message else fact.reason
    return "ban", "no", f"{numbers([fact.message], items)} was passed over: {because}"


def _started(fact: events.TurnStarted, items: Items) -> Said:
    turn = next((item for (name, _), item in items.items() if name == "turn" and item["number"] == fact.number), {})
    verb, earlier = next(((word, turn[key]) for key, word in WENT_ON.items() if turn.get(key)), ("Started", None))
    went_on = items.get(("turn", UUID(earlier))) if earlier else None
    of = f" T{went_on['number']}" if went_on else ""
    action = next((item for (name, _), item in items.items() if name == "action" and _runs(item, turn)), None)
    if action:
        return "play", "go", f"Started to run A{action['number']}"
    took = f", taking {numbers(fact.took, items).lower()}" if fact.took else ""
    return "play", "go", f"{verb}{of}{took}"


def _runs(action: Item, turn: Item) -> bool:
    return bool(turn) and action["approved_turn"] == turn["id"]


def _call_started(fact: events.CallStarted, items: Items) -> Said:
    call = items.get(("call", fact.call))
    brief = f": {call['brief']}" if call and call["brief"] else ""
    return "tool", "", f"{call['label'] if call else fact.tool}{brief}"


def _call_ended(fact: events.CallEnded, items: Items) -> Said:
    call = items.get(("call", fact.call)) or {}
    icon, look, word = OUTCOMES.get(fact.outcome, ("help", "wait", "Not known yet"))
    because = f": {call['because']}" if call.get("because") and fact.outcome != "done" else ""
    return icon, look, f"{word}, {str(call.get('label', 'a call')).lower()}{because}"


def _shared(fact: events.CallShared, items: Items) -> Said:
    call = items.get(("call", fact.call)) or {}
    brief = f": {call['brief']}" if call.get("brief") else ""
    return "people", "", f"shared {str(call.get('label', 'a call')).lower()} with everyone here{brief}"


def _paused(fact: events.TurnPaused, items: Items) -> Said:
    asked = [item["text"] for id in fact.questions if (item := items.get(("question", id)))]
    return "help", "wait", f"Asked: {' · '.join(asked)}" if asked else "Paused for an answer"


def _answered(fact: events.QuestionAnswered, items: Items) -> Said:
    given = next((item["answer"] for id in fact.questions if (item := items.get(("question", id)))), None)
    return "check", "ok", f"Answered: “{short(given)}”" if given else "Answered"


def _ended(fact: events.TurnEnded, items: Items) -> Said:
    turn = items.get(("turn", fact.turn)) or {}
    icon, look, word = ENDS.get(fact.status, ("minus", "", "Ended"))
    because = f": {turn['because']}" if turn.get("because") and fact.status != "completed" else ""
    return icon, look, f"{word}{because}"


def _changed(fact: events.ThreadChanged, items: Items) -> Said:
    match fact.what:
        case "title":
            return "pencil", "", "gave the thread another title"
        case "archived":
            return "lock", "", "archived the thread" if fact.value == "true" else "brought the thread back"
        case "delegation":
            return "key", "", DELEGATED.get(fact.value or "", "changed what is delegated to the agent")
        case _:
            return "pencil", "", f"changed {fact.what}{f' to {fact.value}' if fact.value else ''}"


def _focus(fact: events.FocusChanged, items: Items) -> Said:
    if fact.document is None:
        return "panel", "", "shows no document beside the thread now"
    return "panel", "", f"shows {_title(fact.document, items)} beside the thread"


def _document(verb: str, icon: str) -> Callable[[Any, Items], Said]:
    def said(fact: Any, items: Items) -> Said:
        version = f": version {fact.version}" if getattr(fact, "version", None) else ""
        return icon, "", f"{verb} {_title(fact.document, items)}{version}"

    return said


def _proposed(fact: events.ProposalCreated, items: Items) -> Said:
    proposal = items.get(("proposal", fact.proposal))
    return "pencil", "", f"proposed: {proposal['change']} {proposal['title']}" if proposal else "proposed a change"


def _resolved(fact: events.ProposalResolved, items: Items) -> Said:
    proposal = items.get(("proposal", fact.proposal))
    what = f"the proposal to {proposal['change']} {proposal['title']}" if proposal else "a proposal"
    look = "ok" if fact.state == "accepted" else ""
    edited = ", with edits" if proposal and proposal["edits"] else ""
    return ("check" if look else "x"), look, f"{fact.state.replace('withdrawn', 'withdrew')} {what}{edited}"


def _policy(fact: events.PolicyChanged, items: Items) -> Said:
    how = "only suggest changes to" if fact.policy == "propose" else "change"
    return "key", "", f"let agents and clients {how} {_title(fact.document, items)}"


def _title(document: UUID, items: Items) -> str:
    found = items.get(("document", document))
    return str(found["title"]) if found else "a document"


OUTCOMES: Mapping[str, Said] = {
    "done": ("check", "ok", "Done"),
    "failed": ("x", "no", "Failed"),
    "refused": ("ban", "no", "Refused"),
    "pending_confirmation": ("clock", "wait", "Waits for approval"),
    "unknown": ("help", "wait", "Not known yet"),
    "undone": ("undo", "", "Undone"),
    "not_attempted": ("minus", "", "Not attempted"),
}

WENT_ON = {"resumes": "Resumed", "continues": "Continued", "restarts": "Started over", "revises": "Revised"}
"""How a turn that descends from another began, by the field of its item that names it."""

ENDS: Mapping[str, Said] = {
    "completed": ("minus", "", "Ended"),
    "failed": ("x", "no", "Failed"),
    "stopped": ("stop", "", "Stopped"),
}

DELEGATED: Mapping[str, str] = {
    "allow": "let the agent change documents here for a while",
    "propose": "let the agent only suggest changes here for a while",
    "deny": "kept the agent from documents here for a while",
    "ended": "ended what was delegated to the agent",
}

OF_THE_TURN = frozenset(
    {
        "turn_started",
        "call_started",
        "call_ended",
        "turn_paused",
        "question_answered",
        "turn_ended",
        "message_taken",
        "message_held",
        "action_asked",
    }
)
"""Events whose actor the turn's heading names already, or whose sentence has its own subject."""

SAYS: Mapping[str, Callable[[Any, Items], Said]] = {
    "thread_created": lambda fact, items: ("chat", "", "opened the thread"),
    "thread_changed": _changed,
    "mode_changed": lambda fact, items: ("pencil", "", f"set the thread to {fact.mode}"),
    "focus_changed": _focus,
    "message_posted": _posted,
    "message_taken": _taken,
    "message_cancelled": _cancelled,
    "message_passed_over": _passed,
    "turn_started": _started,
    "call_started": _call_started,
    "call_ended": _call_ended,
    "call_shared": _shared,
    "turn_paused": _paused,
    "question_answered": _answered,
    "turn_ended": _ended,
    "document_created": _document("made", "doc"),
    "document_changed": _document("changed", "doc"),
    "document_archived": _document("archived", "lock"),
    "policy_changed": _policy,
    "proposal_created": _proposed,
    "proposal_resolved": _resolved,
    **OUTSIDE,
}
