"""What happens in a thread, one by one and by kind: messages, turns, calls, questions, actions, proposals, timers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from ninja import Query, Router

from agents.clients import reads
from agents.clients.rest.asking import Asked
from agents.clients.rest.cursors import cursor, id_of, place_of
from agents.clients.rest.shapes import MOST, Cursor, Item, Items
from agents.models.actions import PendingAction
from agents.models.timers import Timer
from agents.models.turns import Call, Question, Turn
from collab import reads as items
from collab import selectors
from collab.models.proposals import Proposal
from collab.models.threads import Message, Thread
from permissions.actors import Actor
from permissions.errors import NotFound

router = Router(tags=["What happens in a thread"])


@dataclass(frozen=True, slots=True)
class Thing:
    """A kind of thing: its rows, how they name their thread, which of them wait, run or stand open, and what puts them
    in order: where the log records each alone its ``seq``, else its id, as ids are made in order of time."""

    name: str
    rows: type[Model]
    thread: str
    opened: Q
    order: str = "pk"


THINGS: Mapping[str, Thing] = {
    "turns": Thing("turn", Turn, "thread", Q(status__in=["running", "paused"], resumed_by=None), "seq"),
    "calls": Thing("call", Call, "turn__thread", Q(outcome=None) | Q(outcome="unknown")),
    "questions": Thing("question", Question, "turn__thread", Q(answered_at=None, dismissed=False)),
    "actions": Thing("action", PendingAction, "thread", Q(state=PendingAction.State.OPEN), "seq"),
    "proposals": Thing("proposal", Proposal, "thread", Q(state=Proposal.State.OPEN), "seq"),
    "timers": Thing("timer", Timer, "thread", Q(state=Timer.State.WAITING)),
}
"""What a thread's things are called in addresses."""

BY_ID: Mapping[str, Thing] = {**THINGS, "messages": Thing("message", Message, "thread", Q(waits=True))}


def _list(kind: str, thing: Thing) -> None:
    @router.get(
        f"/threads/{{uuid:thread}}/{kind}",
        response=Items,
        operation_id=f"{kind}_of_a_thread",
        url_name=f"thread_{kind}",
        summary=f"List the {kind} of a thread",
        description=f"The newest {kind}, or those before a cursor, in order; `open` keeps those that are not settled.",
    )
    def things(
        request: Asked,
        thread: UUID,
        *,
        open: bool = False,
        before: Cursor = None,
        limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    ) -> dict[str, Any]:
        actor = request.auth.actor
        found = selectors.thread_for(actor, thread)
        rows: QuerySet[Any] = thing.rows._default_manager.filter(**{thing.thread: found.id})
        if open:
            rows = rows.filter(thing.opened)
        if before:
            rows = rows.filter(**{f"{thing.order}__lt": _last(thing, found, before)})
        newest = list(rows.order_by(f"-{thing.order}").values_list("pk", thing.order)[: limit + 1])
        shown = newest[:limit]
        return {
            "items": _built(actor, thing, [id for id, _ in reversed(shown)]),
            "next": cursor(found.id, _number(shown[-1][1])) if len(newest) > limit else None,
        }


def _show(kind: str, thing: Thing) -> None:
    @router.get(
        f"/{kind}/{{uuid:id}}",
        response=Item,
        operation_id=thing.name,
        url_name=thing.name,
        summary=f"Show one of a thread's {kind}",
        description=f"The full view of one of a thread's {kind}, as the client may read it.",
    )
    def shown(request: Asked, id: UUID) -> dict[str, Any]:
        place = thing.rows._default_manager.filter(pk=id).values_list(thing.thread, flat=True).first()
        if place is None:
            raise NotFound
        selectors.thread_for(request.auth.actor, place)
        found = _built(request.auth.actor, thing, [id])
        if not found:
            raise NotFound
        return found[0]


def _last(thing: Thing, thread: Thread, text: str) -> int | UUID:
    """Return what a page ends before, in the order of its things."""
    return place_of(text, thread.id, most=thread.head_seq) if thing.order == "seq" else id_of(text, thread.id)


def _number(place: int | UUID) -> int:
    return place.int if isinstance(place, UUID) else place


def _built(actor: Actor, thing: Thing, ids: list[UUID]) -> list[dict[str, Any]]:
    return [reads.plain(item) for item in items.build(actor, [(thing.name, id) for id in ids])]


for _kind, _thing in THINGS.items():
    _list(_kind, _thing)
for _kind, _thing in BY_ID.items():
    _show(_kind, _thing)
