"""Setting timers, cancelling them, and ending those that are moot (DESIGN 8)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from agents.models.sources import Route
from agents.models.timers import Timer
from agents.timers import rules
from collab.errors import Gone, Invalid
from collab.events import TimerSet, TimerSuperseded
from collab.log import Locked, append, thread_locked
from collab.services.checks import line, require_open, valid
from collab.text import clean_text
from permissions.actors import Actor, Agent, Client, Person, Source, System, chain, person
from permissions.decisions import Action, Level
from permissions.errors import NotFound, Refused
from permissions.gate import decide_on, require

MOST_WAITING = 100
"""Timers that may wait in one thread."""

LONGEST = 2_000
"""Bytes of what a timer says."""

FURTHEST = timedelta(days=5 * 365)
LEAST_PAST = timedelta(minutes=1)
"""How far in the past a moment may lie: what someone just typed may be over as it arrives."""

wakes: list[Callable[[], None]] = []
"""What is called when a timer set in this process was committed. Nothing relies on it."""


def timer_set(
    *,
    actor: Actor,
    thread: UUID,
    text: str,
    at: str,
    zone: str = "UTC",
    repeats: str = "never",
    does: str = "tells",
    subject: str = "",
    turn: UUID | None = None,
) -> Timer:
    """Set a timer in a thread, for the person who sets it or whom the actor acts for.

    Args:
        text: what people are told, or the agent is asked, at that moment.
        at: the (first) local time: ``2026-06-12T20:30``.
        zone: an IANA time zone, in which ``at`` is and in which it repeats.
        repeats: ``never``, ``daily``, ``weekdays``, ``weekly`` or ``monthly``.
        does: ``tells`` the people of the thread, or ``asks`` its agent, for no one.
        subject: what it is about, like ``film F1``: when a source says that this is moot, the timer is superseded.
        turn: the turn that sets it.

    Raises:
        NotFound: there is no such thread, or the actor may not see it.
        Refused: the actor acts for no person, or may not comment (or, for ``asks``, start turns) there; or a client, or
            who acts for one, would have the agent asked.
        Invalid: a text, the moment or the zone is refused, too many wait already, the thread is archived, or it has no
            agent to ask; or a source reported that what it is about is gone.
    """
    with thread_locked(thread) as locked:
        action = Action.START_TURN if _does(does) is Timer.Does.ASKS else Action.COMMENT
        decision = require(actor, action, locked.row, for_write=True)
        owner = person(actor)
        if owner is None:
            raise Refused("A timer belongs to a person, and this acts for none.")
        require_open(locked.row)
        if does == Timer.Does.ASKS:
            _require_may_ask(actor, locked)
        with valid():
            said = clean_text(text, limit_bytes=LONGEST, name="what the timer says")
        about = line(subject, "the subject") if subject else ""
        _require_there(locked, about)
        timer = Timer(
            thread_id=thread, number=_number(locked), set_by=actor, owner=owner, does=does, text=said,
            due_at=_due(at, zone, repeats, locked.now), repeats=repeats, local=at, zone=zone, subject=about,
            set_at=locked.now,
        )  # fmt: skip
        timer.save(force_insert=True)
        append(locked, TimerSet(timer.id), actor=actor, turn=turn, grants_epoch=decision.grants_epoch or 0)
        transaction.on_commit(_wake, robust=True)
        return timer


def _require_may_ask(actor: Actor, locked: Locked) -> None:
    # Its turns are capped by its owner, so what caps the client would not cap what the agent does then.
    if any(isinstance(party, Client) for party in chain(actor)):
        raise Refused("Only people set timers that ask the agent: what caps a client would not cap what comes of one.")
    if locked.row.agent_id is None:
        raise Invalid("This thread has no agent that a timer could ask.")


def _require_there(locked: Locked, subject: str) -> None:
    about = Route.objects.filter(subject=subject, source__workspace_id=locked.row.workspace_id)
    gone = about.exclude(call__gone_at=None).select_related("source").first() if subject else None
    if gone is not None:
        raise Invalid(f"{gone.source.label} reported that {subject} is gone, so a timer about it would not fire.")


def timer_cancel(*, actor: Actor, timer: UUID, turn: UUID | None = None) -> Timer:
    """Cancel a timer that waits: its owner may, what acts for them, and whoever manages the thread.

    Raises:
        NotFound: there is no such timer, or the actor may not see its thread.
        Refused: it is another person's; or what acts for its owner may not itself comment there.
        Gone: it fired for the last time, or was superseded or cancelled.
    """
    found = Timer.objects.filter(pk=timer).first()
    if found is None or (isinstance(actor, Agent) and actor.thread != found.thread_id):
        raise NotFound()
    with thread_locked(found.thread_id) as locked:
        # Whose timer it is may always end it; what acts for them is capped by its own grants.
        needed = Action.VIEW if isinstance(actor, Person) else Action.COMMENT
        require(actor, needed, locked.row, for_write=True)
        found.refresh_from_db()
        if person(actor) != found.owner and decide_on(actor, Action.MANAGE, locked.row).level < Level.ALLOW:
            raise Refused("Only the person whose timer it is cancels it, or who manages the thread.")
        if not _ended(locked, found, Timer.State.CANCELLED, actor=actor, reason="cancelled", turn=turn):
            raise Gone(_why_over(found))
        return found


def timers_moot(*, workspace: UUID, subjects: Collection[str], source: Source, because: str, said_at: datetime) -> int:
    """Supersede the waiting timers of a workspace whose subject a source said is moot; return how many.

    Doing it again changes nothing.

    Args:
        said_at: when it said so; a timer that was set later is about what came after.
    """
    if not subjects:
        return 0
    about = Timer.objects.filter(subject__in=subjects, thread__workspace_id=workspace)
    waiting = about.filter(state=Timer.State.WAITING, set_at__lte=said_at)
    ended = 0
    for timer in waiting.order_by("thread_id", "pk"):
        with thread_locked(timer.thread_id) as locked:
            ended += timer_superseded(locked, timer, by=source, reason=because)
    return ended


def timer_superseded(locked: Locked, timer: Timer, *, by: Source | System, reason: str) -> bool:
    """End a timer of a thread that the caller holds, so that it does not fire; say whether it still waited."""
    return _ended(locked, timer, Timer.State.SUPERSEDED, actor=by, reason=reason)


def timers_of(thread: UUID) -> list[Timer]:
    """Return the timers of a thread that wait, the next first. The caller has checked who reads them."""
    return list(Timer.objects.filter(thread_id=thread, state=Timer.State.WAITING).order_by("due_at", "number"))


def _ended(
    locked: Locked, timer: Timer, state: Timer.State, *, actor: Actor, reason: str, turn: UUID | None = None
) -> bool:
    waits = Timer.objects.filter(pk=timer.pk, state=Timer.State.WAITING)
    if not waits.update(state=state, reason=reason, ended_by=actor, ended_at=locked.now):
        return False
    timer.state, timer.reason, timer.ended_by, timer.ended_at = state, reason, actor, locked.now
    # Why is said by the row, which can be erased: it may quote what a source delivered, or name people.
    append(locked, TimerSuperseded(timer.id, state.value), actor=actor, turn=turn)
    return True


def _wake() -> None:
    for wake in wakes:
        wake()


def _number(locked: Locked) -> int:
    timers = Timer.objects.filter(thread_id=locked.row.id)
    if timers.filter(state=Timer.State.WAITING).count() >= MOST_WAITING:
        raise Invalid(f"{MOST_WAITING} timers wait in this thread already; cancel one first.")
    highest: int | None = timers.aggregate(highest=Max("number"))["highest"]
    return (highest or 0) + 1


def _does(does: str) -> Timer.Does:
    try:
        return Timer.Does(does)
    except ValueError:
        raise Invalid(f"A timer tells people or asks the agent; it does not {does[:40]!r}.") from None


def _due(at: str, zone: str, repeats: str, now: datetime) -> datetime:
    """Return the first moment at which a timer is due that is set now."""
    if repeats not in rules.REPEATS:
        raise Invalid(f"A timer repeats {', '.join(rules.REPEATS[:-1])} or {rules.REPEATS[-1]}.")
    try:
        local, place = rules.local_of(at), rules.zone_of(zone)
        first = rules.moment_of(local, place)
        if first < now - LEAST_PAST:
            raise Invalid(f"{local:%Y-%m-%d %H:%M} ({zone}) has passed.")
        if first > now + FURTHEST:
            raise Invalid("A timer is set at most five years ahead.")
        due = rules.next_due(local, place, repeats, first - timedelta(microseconds=1))
    except rules.BadMoment as bad:
        raise Invalid(str(bad)) from bad
    except OverflowError:
        raise Invalid("There is no such moment.") from None
    if due is None:
        raise Invalid("There is no such moment.")
    return due


def _why_over(timer: Timer) -> str:
    match timer.state:
        case Timer.State.FIRED:
            return "It fired already."
        case Timer.State.CANCELLED:
            return "It was cancelled already."
    return f"It was superseded already: {timer.reason}"
