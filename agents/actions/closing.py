"""How a pending action ends other than by running, and with it the calls that waited for it (DESIGN 7, Consent)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from agents.models.actions import PendingAction
from agents.models.turns import Call, Turn
from agents.tools.moves import call_moved
from agents.tools.outcomes import Outcome
from collab.events import ActionResolved
from collab.log import Locked, append
from permissions.actors import Actor, System

_PENDING = Call.Outcome.PENDING_CONFIRMATION.value


def action_closed(
    locked: Locked, action: PendingAction, *, state: str, by: Actor, reason: str = "", code: str = "", because: str
) -> bool:
    """End an action that is open, or approved and not begun, and settle the calls that waited for it; say whether it
    was this that ended it.

    Args:
        state: ``declined``, ``expired`` or ``superseded``; ``failed`` for an approved one whose turn may not start,
            which stays approved.
        by: who or what ended it.
        reason: why, as whoever declined it said.
        code: the calls' reason; ``state`` where it is empty. ``because`` says the same to people.
    """
    waits = Q(state=PendingAction.State.OPEN) | Q(state=PendingAction.State.APPROVED, approved_turn=None)
    found = PendingAction.objects.filter(waits, pk=action.pk)
    changes: dict[str, Any] = {"reason": reason or because, "start_by": None}
    if state != "failed":
        changes |= {"state": state, "decided_by": by, "decided_at": locked.now}
    if not found.update(**changes):
        return False
    append(locked, ActionResolved(action=action.pk, state=state), actor=by)
    refused = state in {"declined", "failed"}
    to = Outcome("refused" if refused else "not_attempted", code or state, because)
    calls_left(locked, calls_of(action), to, by=by)
    return True


def actions_superseded(locked: Locked, turn: Turn, *, because: str) -> None:
    """End the open actions that a turn's lineage asked for, as its author asks for something else (DESIGN 7)."""
    asked = PendingAction.objects.filter(turn__root_id=turn.root_id, state=PendingAction.State.OPEN)
    for action in asked.order_by("number"):
        action_closed(locked, action, state="superseded", by=System(), because=because)


def calls_of(action: PendingAction) -> list[Call]:
    """Return the calls that are an action's steps, in order, in one query."""
    found = {str(call.pk): call for call in Call.objects.filter(pk__in=[step["call"] for step in action.steps])}
    return [found[step["call"]] for step in action.steps if step["call"] in found]


def calls_left(locked: Locked, calls: Iterable[Call], to: Outcome, *, by: Actor) -> list[Call]:
    """Settle those of some calls that still wait for consent, and return them."""
    return [call for call in calls if call_moved(locked, call, before=_PENDING, to=to, actor=by)]


def calls_dropped(locked: Locked, turn: Turn, *, kept: Sequence[Call] = ()) -> None:
    """Settle the calls that wait for consent which a turn that ends will not ask for; those of the action that it was
    carrying out, too.

    Args:
        kept: the steps of the action it asks for.
    """
    if turn.trigger == Turn.Trigger.APPROVAL:
        action = approved_by(turn)
        left = calls_of(action) if action else []
    else:
        lineage = continued(turn)
        asked = PendingAction.objects.filter(turn__in=lineage).exists()
        waiting = Call.objects.filter(turn__in=lineage, outcome=_PENDING).exclude(pk__in=[call.pk for call in kept])
        left = [] if asked else list(waiting.order_by("turn__number", "number"))
    calls_left(locked, left, Outcome("not_attempted", "ended", "The turn ended before it came to this."), by=System())


def waiting_before(turn: Turn) -> list[Call]:
    """Return the calls that wait for consent of the turns that a turn continues, up to its last boundary, in order."""
    waiting = Call.objects.filter(turn__in=continued(turn), step__lte=turn.steps, outcome=_PENDING)
    return list(waiting.order_by("turn__number", "number"))


def approved_by(turn: Turn) -> PendingAction | None:
    """Return the action that an approval turn, or the one it continues, carries out."""
    return PendingAction.objects.filter(approved_turn=turn.root_id).first()


def continued(turn: Turn) -> list[UUID]:
    """Return the ids of a turn and of the abandoned ones it continues."""
    found, before = [turn.pk], turn.continues_id
    while before is not None:
        found.append(before)
        before = Turn.objects.filter(pk=before).values_list("continues_id", flat=True).first()
    return found
