"""What nobody woke for: dead leases, lost wake-ups, questions nobody answered, deliveries nobody acted on (DESIGN 6,
Leases and the sweep)."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from uuid import UUID

import structlog
from django.db.models import Exists, OuterRef, Q

from agents.actions.expiring import actions_expire, approved_in
from agents.models.turns import Question, Turn
from agents.sources.acting import left_over_acted_on
from agents.sources.retention import deliveries_forget
from agents.turns import ending
from agents.turns.holding import messages_let_go
from collab.db import AWAY
from collab.log import thread_locked
from collab.models.threads import Message, Thread
from permissions.clock import AccordNow

log = structlog.get_logger(__name__)

ANSWER_WITHIN = timedelta(hours=24)
AT_ONCE = 100
"""Threads that one sweep wakes at most; the next takes the rest."""

RESTS_SECONDS = 600.0
"""How long a process leaves be what need not be done by each sweep."""


def seldom(work: Callable[[], object]) -> Callable[[], None]:
    """Return a function that does what another does, at most once in ``RESTS_SECONDS``."""
    last = float("-inf")

    @wraps(work)
    def now_and_then() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= RESTS_SECONDS:
            last = now
            work()

    return now_and_then


_forget = seldom(deliveries_forget)
_let_go = seldom(messages_let_go)


def due_threads() -> list[UUID]:
    """Act on the deliveries that were left, end the turns whose questions nobody answered in time, and return the
    threads in which something is due: a running turn whose lease is dead, a waiting message, an answered question. Of
    too many, any may be next, so that those in which nothing can begin yet keep no other out."""
    for step in (_forget, left_over_acted_on, actions_expire, _let_go, _end_the_unanswered):
        _swept(step)
    running = Turn.objects.filter(thread=OuterRef("pk"), status=Turn.Status.RUNNING)
    waiting = Message.objects.filter(thread=OuterRef("pk"), waits=True)
    paused = Turn.objects.filter(thread=OuterRef("pk"), status=Turn.Status.PAUSED, resumed_by=None)
    answered = paused.exclude(Exists(Question.objects.filter(turn=OuterRef("pk"), answered_at=None)))
    held = Q(lease_until__gt=AccordNow())
    asked = Exists(waiting) | Exists(answered) | approved_in(OuterRef("pk"))
    due = Thread.objects.exclude(held).filter(Exists(running) | asked)
    return list(due.order_by("?").values_list("id", flat=True)[:AT_ONCE])


def _swept(step: Callable[[], object]) -> None:
    """Do one step of the sweep; what goes wrong in one is logged and keeps no other from being done."""
    try:
        step()
    except AWAY:
        raise
    except Exception:
        log.exception("sweep_failed", step=step.__name__)


def _end_the_unanswered() -> None:
    for turn in _unanswered():
        _end_unanswered(turn)


def _unanswered() -> list[Turn]:
    late = Question.objects.filter(turn=OuterRef("pk"), answered_at=None, asked_at__lt=AccordNow() - ANSWER_WITHIN)
    return list(Turn.objects.filter(Exists(late), status=Turn.Status.PAUSED, resumed_by=None)[:AT_ONCE])


def _end_unanswered(turn: Turn) -> None:
    with thread_locked(turn.thread_id) as locked:
        found = Turn.objects.filter(pk=turn.pk, status=Turn.Status.PAUSED, resumed_by=None).first()
        if found and Question.objects.filter(turn=found, answered_at=None).exists():
            ending.end_unfinished(
                locked, found, status="failed", reason="unanswered", because="Nobody answered within 24 hours."
            )
