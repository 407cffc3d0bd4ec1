"""What ends an action that nobody decides on, or whose turn does not start in time (DESIGN 7, Consent)."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from agents.actions.closing import action_closed
from agents.models.actions import PendingAction
from agents.turns.plan import Approved
from collab.log import Locked, thread_locked
from collab.models.threads import Thread
from permissions.actors import Person, System
from permissions.clock import AccordNow

AT_ONCE = 100
"""Actions that one sweep ends at most; the next takes the rest."""

_OPEN = Q(state=PendingAction.State.OPEN)
NOT_BEGUN = Q(state=PendingAction.State.APPROVED, approved_turn=None, start_by__isnull=False)
"""Approved actions whose turn has not started."""


def actions_expire() -> int:
    """End what is over: open actions past their expiry or in an archived thread, and approved ones whose turn did not
    start in time. Return how many."""
    late = Q(_OPEN, expires_at__lte=AccordNow()) | Q(NOT_BEGUN, start_by__lte=AccordNow())
    over = late | Q(_OPEN | NOT_BEGUN, thread__archived_at__isnull=False)
    found = list(PendingAction.objects.filter(over).order_by("asked_at")[:AT_ONCE])
    return sum(_expired(action) for action in found)


def next_approved(locked: Locked) -> PendingAction | None:
    """Return the action of a thread whose turn is next, of those approved the first; those that are too late end."""
    found = PendingAction.objects.filter(NOT_BEGUN, thread_id=locked.row.id).order_by("decided_at", "number")
    for action in found:
        if not _over(locked, action):
            return action
    return None


def as_approved(action: PendingAction | None) -> Approved | None:
    """Return an approved action as the planner reads it."""
    approver = action and action.decided_by
    return Approved(action.pk, approver) if action and isinstance(approver, Person) else None


def approved_in(thread: UUID | OuterRef) -> Exists:
    """Return the condition that a thread has an approved action whose turn has not started."""
    return Exists(PendingAction.objects.filter(NOT_BEGUN, thread_id=thread))


def _expired(action: PendingAction) -> bool:
    with thread_locked(action.thread_id) as locked:
        found = PendingAction.objects.filter(_OPEN | NOT_BEGUN, pk=action.pk).first()
        return found is not None and _over(locked, found)


def _over(locked: Locked, action: PendingAction) -> bool:
    """End an action if its time is over or its thread was archived; say whether it was ended."""
    thread: Thread = locked.row
    if thread.archived_at is not None:
        because = f"{thread.title} was archived."
        return action_closed(locked, action, state="superseded", by=System(), because=because)
    until = action.start_by if action.state == PendingAction.State.APPROVED else action.expires_at
    if until is None or locked.now < until:
        return False
    because = "Its turn could not start in time." if action.start_by else "Nobody decided on it in time."
    return action_closed(locked, action, state="expired", by=System(), because=because)
