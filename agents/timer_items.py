"""Items of timers, and which items the events of sources and timers touch (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.models.timers import Timer
from collab.models.threads import Thread
from collab.reads import EventRow, Item, Ref
from collab.web.actors import Book
from permissions.actors import Actor, Person, person
from permissions.decisions import Action, Level
from permissions.gate import decide_on


def timer_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of timers, with whether the viewer may cancel each."""
    timers = Timer.objects.filter(pk__in=ids).select_related("thread").in_bulk()
    book = Book(
        next((timer.thread.workspace_id for timer in timers.values()), None),
        [actor for timer in timers.values() for actor in (timer.owner, timer.set_by, timer.ended_by)],
    )
    waiting = [timer for timer in timers.values() if timer.state == Timer.State.WAITING]
    may = _may_cancel(viewer, waiting) if viewer else frozenset()
    return [_timer_item(timers[id], book, may_cancel=id in may) for id in ids if id in timers]


def standing(thread_id: UUID) -> Iterable[Ref]:
    """Return the timers of a thread that wait: they are shown whatever part of its log is read."""
    waiting = Timer.objects.filter(thread_id=thread_id, state=Timer.State.WAITING).order_by("due_at", "number")
    return [("timer", id) for id in waiting.values_list("pk", flat=True)]


def _may_cancel(viewer: Actor, timers: Iterable[Timer]) -> frozenset[UUID]:
    """The owner's own; and all of the threads that the viewer manages. Of each thread both are asked once."""
    known: dict[tuple[UUID, bool], bool] = {}
    found = set()
    for timer in timers:
        own = timer.owner == person(viewer)
        if (timer.thread_id, own) not in known:
            known[timer.thread_id, own] = _may(viewer, timer.thread, own=own)
        if known[timer.thread_id, own]:
            found.add(timer.id)
    return frozenset(found)


def _may(viewer: Actor, thread: Thread, *, own: bool) -> bool:
    """Whose timer it is needs nothing more; what acts for them is capped by its own grants."""
    if own and isinstance(viewer, Person):
        return True
    return decide_on(viewer, Action.COMMENT if own else Action.MANAGE, thread).level is Level.ALLOW


def _timer_item(timer: Timer, book: Book, *, may_cancel: bool) -> Item:
    return {
        "item": "timer",
        "id": str(timer.id),
        "number": timer.number,
        "text": timer.text,
        "does": timer.does,
        "due_at": timer.due_at.isoformat(),
        "local": timer.local,
        "zone": timer.zone,
        "repeats": timer.repeats,
        "subject": timer.subject,
        "state": timer.state,
        "reason": timer.reason,
        "fired": timer.fired,
        "fired_at": timer.fired_at and timer.fired_at.isoformat(),
        "owner": book.json(timer.owner),
        "set_by": book.json(timer.set_by),
        "set_at": timer.set_at.isoformat(),
        "ended_by": book.json(timer.ended_by),
        "ended_at": timer.ended_at and timer.ended_at.isoformat(),
        "may_cancel": may_cancel,
    }


def _admitted(row: EventRow, fact: Any) -> Iterable[Ref]:
    if fact.message is not None:
        yield ("message", fact.message)


TOUCHED: Mapping[str, Callable[[EventRow, Any], Iterable[Ref]]] = {
    "timer_set": lambda row, fact: [("timer", fact.timer)],
    "timer_fired": lambda row, fact: [("timer", fact.timer), ("message", fact.message)],
    "timer_superseded": lambda row, fact: [("timer", fact.timer)],
    "delivery_admitted": _admitted,
    "effect_gone": lambda row, fact: [("call", fact.call)],
}
"""Which entities each event of sources and timers touches."""
