"""Firing timers: each moment once, by whichever process comes first (DESIGN 8; FAILURES D15)."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db.models import F

from agents.models.timers import Timer
from agents.sources import acting
from agents.timers import rules
from agents.timers.services import timer_superseded
from collab.db import AWAY
from collab.errors import CollabError
from collab.events import TimerFired
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message, Thread
from collab.services.messages import MOST_WAITING, message_record
from collab.signals import thread_asked
from permissions.actors import Source, System, person
from permissions.clock import AccordNow
from permissions.decisions import Action, Level
from permissions.gate import decide_on

log = structlog.get_logger(__name__)

AT_ONCE = 100
"""Timers that are fired in one go, at most."""

AGAIN_SECONDS = 5.0
"""How many seconds after timers were due those are tried again that could not be fired."""


def timers_fire() -> float:
    """Fire the timers that are due, and return in how many seconds the next is.

    A source may have said that what a timer is about is moot, and nobody acted on it yet: that comes first.
    """
    due = due_timers()
    tried = Timer.objects.filter(pk__in=due)
    if due and tried.update(tried_at=AccordNow()) and tried.exclude(subject="").exists():
        acting.left_over_acted_on(older_than=timedelta(0))
    for id in due:
        try:
            timer_fire(timer=id)
        except AWAY:
            raise
        except CollabError as refused:
            log.warning("timer_not_fired", timer=str(id), because=refused.because)
        except Exception:  # one that breaks off, as where its zone is no zone any more, keeps no other from firing
            log.exception("timer_broke_off", timer=str(id))
    wait = seconds_to_next()
    return min(wait, AGAIN_SECONDS) if due else wait


def due_timers() -> list[UUID]:
    """Return timers that are due: what was not tried comes first, then what was tried longest ago, so that what its
    thread cannot take keeps no other out."""
    due = Timer.objects.filter(state=Timer.State.WAITING, due_at__lte=AccordNow())
    by_turns = due.order_by(F("tried_at").asc(nulls_first=True), "due_at", "pk")
    return list(by_turns.values_list("pk", flat=True)[:AT_ONCE])


def seconds_to_next() -> float:
    """Return in how many seconds the next timer is due that was not just tried, by the database's clock; many, where
    there is none."""
    waiting = Timer.objects.filter(state=Timer.State.WAITING)
    others = waiting.exclude(tried_at__gt=AccordNow() - timedelta(seconds=AGAIN_SECONDS))
    found = others.order_by("due_at").annotate(now=AccordNow()).values_list("due_at", "now").first()
    if found is None:
        return float("inf")
    due, now = found
    return max(0.0, (due - now).total_seconds())


def timer_fire(*, timer: UUID) -> Message | None:
    """Fire a timer that is due, unless something superseded it or another process did.

    What a repeating one missed, it makes up for once: for the newest of the moments that passed.

    Returns:
        The message or notice that it became, None when it did not fire.

    Raises:
        Busy, Invalid: its message cannot be posted now; it stays due.
    """
    thread = Timer.objects.filter(pk=timer).values_list("thread_id", flat=True).first()
    if thread is None:
        return None
    with thread_locked(thread) as locked:
        found = Timer.objects.get(pk=timer)
        if found.state != Timer.State.WAITING or found.due_at > locked.now or _waits_its_turn(locked, found):
            return None
        owner = person(found.owner)
        actor = Source(found.id, owner.id if owner else None)
        because, epoch = _decided(locked.row, actor)
        if because:
            timer_superseded(locked, found, by=System(), reason=because)
            return None
        due = _advanced(locked, found)
        return None if due is None else _fired(locked, found, due, actor, epoch)


def _waits_its_turn(locked: Locked, timer: Timer) -> bool:
    """Whether too much waits for the agent already: the timer stays due until there is room."""
    if timer.does != Timer.Does.ASKS:
        return False
    return Message.objects.filter(thread_id=locked.row.id, waits=True).count() >= MOST_WAITING


def _decided(thread: Thread, actor: Source) -> tuple[str, int]:
    """Say why a timer that is due is not to fire, "" where it is, and the grants epoch this was decided at."""
    if thread.archived_at is not None:
        return f"{thread.title} was archived.", 0
    decision = decide_on(actor, Action.VIEW, thread, for_write=True)
    return "" if decision.level is Level.ALLOW else decision.because, decision.grants_epoch or 0


def _advanced(locked: Locked, timer: Timer) -> datetime | None:
    """Take a timer past the moment it is due at, as one process can; return that moment, the newest of several.

    None where another process has fired it.
    """
    local, zone = rules.local_of(timer.local), rules.zone_of(timer.zone)
    newest = rules.newest_due(local, zone, timer.repeats, locked.now) or timer.due_at
    once = timer.repeats == Timer.Repeats.NEVER  # fired, whatever the zone's rules have become since it was set
    coming = None if once else rules.next_due(local, zone, timer.repeats, locked.now)
    changes = {"due_at": coming} if coming else {"state": Timer.State.FIRED, "ended_at": locked.now}
    due = Timer.objects.filter(pk=timer.pk, due_at=timer.due_at, state=Timer.State.WAITING)
    if not due.update(fired=F("fired") + 1, fired_at=locked.now, **changes):
        return None
    return max(newest, timer.due_at)


def _fired(locked: Locked, timer: Timer, due: datetime, actor: Source, epoch: int) -> Message:
    number = timer.fired + 1
    asks = timer.does == Timer.Does.ASKS and locked.row.agent_id is not None
    message = message_record(
        locked, actor=actor, content=_text(timer, due, locked.now), client_id=f"timer:{timer.id}:{number}",
        kind=Message.Kind.MESSAGE if asks else Message.Kind.NOTICE, waits=asks, grants_epoch=epoch,
    )  # fmt: skip
    append(locked, TimerFired(timer.id, message.id, number), actor=actor, grants_epoch=epoch)
    if asks:
        thread_asked.send(sender=Thread, thread_id=locked.row.id)
    return message


def _text(timer: Timer, due: datetime, now: datetime) -> str:
    late = rules.lateness(now - due)
    if not late:
        return timer.text
    local = due.astimezone(rules.zone_of(timer.zone))
    return f"{timer.text}\n\n(Due {local:%Y-%m-%d at %H:%M} {timer.zone}, {late} ago.)"
