"""Acting on deliveries: each once, after it was stored and acknowledged (DESIGN 8; FAILURES D8, D10, D11).

What a delivery makes moot and what it reports gone is recorded first, each where it belongs and each so that doing it
again changes nothing. Then one transaction, which holds the thread, takes the delivery from ``stored`` to where it ends
and posts what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from django.db.models import CharField, Exists, F, OuterRef, Q, Value
from django.db.models.functions import Concat, StrIndex

from agents.models.sources import Delivery, Route
from agents.models.sources import Source as SourceRow
from agents.sources.gone import effects_gone
from agents.sources.handlers import read_body
from agents.sources.handling import Read, Unreadable
from agents.timers.services import timers_moot
from collab.db import AWAY
from collab.errors import CollabError
from collab.events import DeliveryAdmitted
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message, Thread
from collab.services.messages import MOST_WAITING, message_record
from collab.signals import thread_asked
from permissions.actors import Person, Source, person
from permissions.clock import AccordNow
from permissions.decisions import Action, Decision, Level
from permissions.gate import decide_on

log = structlog.get_logger(__name__)

LEFT_AFTER = timedelta(seconds=5)
"""How long a delivery waits for the process that stored it, before any other acts on it."""

AT_ONCE = 100
MOST_ATTEMPTS = 10
"""How often acting on a delivery is tried before it waits in the admin."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a delivery goes, and the person whose it is there: asked for consent, and their rights cap its turn."""

    thread: UUID
    owner: Person | None


def delivered(delivery_ids: Sequence[UUID]) -> None:
    """Act on deliveries that are committed. What fails here the sweep of any process does again."""
    for id in delivery_ids:
        try:
            delivery_act(delivery=id)
        except AWAY:
            raise
        except Exception:
            log.exception("delivery_not_acted_on", delivery=str(id))
            _attempted(id)


def left_over_acted_on(*, older_than: timedelta = LEFT_AFTER) -> None:
    """Act on deliveries that nobody acted on.

    Args:
        older_than: how long ago they were stored.
    """
    ids = left_over(older_than=older_than)
    if ids:
        Delivery.objects.filter(pk__in=ids).update(tried_at=AccordNow())
        delivered(ids)


def left_over(*, older_than: timedelta = LEFT_AFTER) -> list[UUID]:
    """Return deliveries to act on: those stored a while ago, and those that found no route which have one now. What was
    not tried comes first, then what was tried longest ago, so that what its thread cannot take keeps no other out."""
    quoted = Concat(Value(_OPEN), F("subject"), Value(_CLOSE), output_field=CharField())
    named = Route.objects.annotate(place=StrIndex(OuterRef("reason"), quoted)).filter(place__gt=0)
    routed = Q(Exists(named.filter(source=OuterRef("source"))), state=Delivery.State.UNROUTABLE)
    stored = Q(state=Delivery.State.STORED, received_at__lte=AccordNow() - older_than)
    by_turns = Delivery.objects.order_by(F("tried_at").asc(nulls_first=True), "received_at")
    found, late = (by_turns.filter(left).values_list("pk", flat=True)[:AT_ONCE] for left in (stored, routed))
    return [*found, *late]


def delivery_act(*, delivery: UUID) -> Delivery | None:
    """Act on a delivery that is stored, or that found no route and may have one now; once, whoever calls this.

    Returns:
        The delivery as it is now: still where it waits, while its thread takes no more messages; None where there is
        none.
    """
    found = Delivery.objects.select_related("source").filter(pk=delivery).first()
    if found is None or found.state not in Delivery.WAITS:
        return found
    try:
        read = read_body(found.source.handler, bytes(found.body))
    except Unreadable as bad:
        return _parked(found, str(bad))
    source = found.source
    origin = Source(source.id)
    timers_moot(
        workspace=source.workspace_id, subjects=read.moot, source=origin,
        because=f"{source.label}: {_short(read.says)}", said_at=found.received_at,
    )  # fmt: skip
    effects_gone(source=source, delivery=found.id, subjects=read.gone)
    place = _place(found, read)
    if read.does == "ignore":
        return _settled(found, state=Delivery.State.ACTED, reason="It asks for nothing.")
    if place is None:
        return _parked(found, _no_place(source, read))
    return _admitted(found, read, place)


_OPEN, _CLOSE = "“", "”"


def _place(found: Delivery, read: Read) -> Place | None:
    """Where a person routed it by hand; where the first of its subjects that has a route is; the default thread."""
    if found.thread_id is not None:
        return Place(found.thread_id, person(found.routed_by) if found.routed_by else None)
    routes = {route.subject: route for route in Route.objects.filter(source=found.source, subject__in=read.subjects)}
    route = next((routes[subject] for subject in read.subjects if subject in routes), None)
    if route is not None:
        return Place(route.thread_id, person(route.owner) if route.owner else None)
    default = found.source.default_thread_id
    return Place(default, None) if default else None


def _no_place(source: SourceRow, read: Read) -> str:
    if not read.subjects:
        return f"It names nothing that a thread is known by, and {source.label} has no default thread."
    subjects = ", ".join(f"{_OPEN}{subject}{_CLOSE}" for subject in read.subjects)
    return f"Nothing here is known as {subjects} yet, and {source.label} has no default thread."


def _admitted(found: Delivery, read: Read, place: Place) -> Delivery:
    with thread_locked(place.thread) as locked:
        if locked.row.archived_at is not None:
            because = f"{locked.row.title} is archived."
            return _settled(found, state=Delivery.State.SUPERSEDED, reason=because, thread=place.thread)
        actor = Source(found.source_id, place.owner.id if place.owner else None)
        decision = decide_on(actor, Action.VIEW, locked.row, for_write=True)
        if decision.level < Level.ALLOW:  # its owner is gone, inactive, or no longer in the thread
            return _parked(found, decision.because)
        asks = read.does == "turn" and locked.row.agent_id is not None
        if asks and Message.objects.filter(thread_id=place.thread, waits=True).count() >= MOST_WAITING:
            return found
        if not _claimed(found, state=Delivery.State.ACTED, thread_id=place.thread, reason=""):
            found.refresh_from_db()
            return found
        try:
            with thread_locked(place.thread):
                message = _posted(locked, found, read, actor, decision, asks=asks)
        except CollabError as refused:
            # Where it was to go was not said by hand: a replay finds its route, and so its owner, again.
            return _parked(found, refused.because, waits=(Delivery.State.ACTED,), thread_id=found.thread_id)
        Delivery.objects.filter(pk=found.pk).update(message_id=message.id)
        found.refresh_from_db()
        return found


def _posted(locked: Locked, found: Delivery, read: Read, actor: Source, decision: Decision, *, asks: bool) -> Message:
    epoch = decision.grants_epoch or 0
    message = message_record(
        locked, actor=actor, content=read.says, client_id=f"delivery:{found.id}",
        kind=Message.Kind.MESSAGE if asks else Message.Kind.NOTICE, waits=asks, grants_epoch=epoch,
    )  # fmt: skip
    append(locked, DeliveryAdmitted(found.id, message.id), actor=actor, grants_epoch=epoch)
    if asks:
        thread_asked.send(sender=Thread, thread_id=locked.row.id)
    return message


def _parked(found: Delivery, because: str, *, waits: Sequence[str] = Delivery.WAITS, **changes: object) -> Delivery:
    """Keep a delivery for people to route: it is never dropped."""
    Delivery.objects.filter(pk=found.pk, state__in=waits).exclude(
        state=Delivery.State.UNROUTABLE, reason=because
    ).update(state=Delivery.State.UNROUTABLE, reason=because, message_id=None, acted_at=None, **changes)
    found.refresh_from_db()
    return found


def _settled(found: Delivery, *, state: Delivery.State, reason: str, thread: UUID | None = None) -> Delivery:
    _claimed(found, state=state, reason=reason, thread_id=thread or found.thread_id)
    found.refresh_from_db()
    return found


def _claimed(found: Delivery, **values: object) -> bool:
    """Take a delivery from where it waits; False where someone else did."""
    waits = Delivery.objects.filter(pk=found.pk, state=found.state)
    return bool(waits.update(acted_at=AccordNow(), **values))


def _attempted(id: UUID) -> None:
    """Count that acting on a delivery failed; the last time, let people look at it."""
    stored = Delivery.objects.filter(pk=id, state=Delivery.State.STORED)
    stored.update(attempts=F("attempts") + 1)
    stored.filter(attempts__gte=MOST_ATTEMPTS).update(
        state=Delivery.State.UNROUTABLE, reason=f"Acting on it failed {MOST_ATTEMPTS} times; the server's log says how."
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
