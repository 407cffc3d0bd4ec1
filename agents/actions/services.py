"""What people do to pending actions: approve or decline one (DESIGN 7, Consent). Nothing else approves."""

from __future__ import annotations

from uuid import UUID

from agents.actions.asking import STANDS
from agents.actions.closing import action_closed
from agents.models.actions import PendingAction
from collab.errors import AlreadyYours, Gone
from collab.events import ActionResolved
from collab.log import Locked, append, thread_locked
from collab.models.threads import Thread
from collab.services.checks import valid
from collab.signals import thread_asked
from collab.text import clean_text
from permissions import phrases
from permissions.actors import Actor, Person
from permissions.clock import AccordNow
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.gate import require
from permissions.grants import names_of

IN_PERSON = "Only people approve or decline, and only themselves: nobody and nothing does it for them."

LONGEST_REASON = 2_000
"""Bytes of the reason given with a no."""

_STATE = PendingAction.State


def action_approve(*, actor: Actor, action: UUID) -> PendingAction:
    """Approve an action: its steps are carried out, once, in a fresh turn for whoever approved it.

    Raises:
        NotFound: there is no such action, or the actor may not see its thread.
        Refused: it is addressed to someone else, or the actor is no person who is here themselves.
        Gone: it was decided on, is over, or its thread is archived.
    """
    with thread_locked(_thread_of(action)) as locked:
        found, epoch = _decidable(locked, actor, action)
        if not _decided(found, state=_STATE.APPROVED, decided_by=actor, start_by=locked.now + STANDS, now=locked):
            raise _gone(PendingAction.objects.get(pk=action), actor)
        append(locked, ActionResolved(action=found.pk, state=_STATE.APPROVED), actor=actor, grants_epoch=epoch)
        thread_asked.send(sender=Thread, thread_id=locked.row.id)
        found.refresh_from_db()
        return found


def action_decline(*, actor: Actor, action: UUID, reason: str = "") -> PendingAction:
    """Decline an action: none of its steps is carried out. Raises as :func:`action_approve`.

    Args:
        reason: why, for everybody in the thread; may be empty.

    Raises:
        Invalid: the reason is too long, or holds characters no database keeps.
    """
    with valid():
        text = clean_text(reason, limit_bytes=LONGEST_REASON, name="the reason") if reason.strip() else ""
    with thread_locked(_thread_of(action)) as locked:
        found, _ = _decidable(locked, actor, action)
        if found.state != _STATE.OPEN or locked.now >= found.expires_at:
            raise _gone(found, actor)
        because = f"{_name(actor)} declined it{f': {text}' if text else '.'}"
        action_closed(locked, found, state=_STATE.DECLINED, by=actor, reason=text, because=because)
        found.refresh_from_db()
        return found


def _decidable(locked: Locked, actor: Actor, action: UUID) -> tuple[PendingAction, int]:
    """Return an action for its addressee, who is here in person and may still view its thread, and the grants epoch at
    which they may."""
    epoch = require(actor, Action.VIEW, locked.row, for_write=True).grants_epoch or 0
    found = PendingAction.objects.get(pk=action)
    if not isinstance(actor, Person):
        raise Refused(IN_PERSON)
    if actor != found.addressee:
        raise Refused(f"Only {_name(found.addressee)} may approve or decline A{found.number}: it is addressed to them.")
    if locked.row.archived_at is not None:
        raise Gone(f"{locked.row.title} is archived, so A{found.number} is over.")
    return found, epoch


def _decided(found: PendingAction, *, state: str, decided_by: Actor, start_by: object, now: Locked) -> bool:
    """Decide on an action by the database's clock, in the statement that does it; say whether it was still open."""
    opened = PendingAction.objects.filter(pk=found.pk, state=_STATE.OPEN, expires_at__gt=AccordNow())
    return bool(opened.update(state=state, decided_by=decided_by, decided_at=now.now, start_by=start_by))


def _gone(found: PendingAction, actor: Actor) -> Gone:
    if found.state == _STATE.OPEN or found.decided_at is None:
        return Gone(f"A{found.number} expired at {found.expires_at:%H:%M} UTC.")
    at = f"at {found.decided_at:%H:%M} UTC"
    if found.state in {_STATE.APPROVED, _STATE.DECLINED} and found.decided_by is not None:
        kind = AlreadyYours if found.decided_by == actor else Gone
        return kind(f"{_name(found.decided_by)} {found.state} A{found.number} {at}.")
    return Gone(
        f"A{found.number} was {found.state} {at}." if found.state != "expired" else f"A{found.number} expired {at}."
    )


def _name(actor: Actor) -> str:
    return phrases.told(actor, names_of(actor))


def _thread_of(action: UUID) -> UUID:
    thread = PendingAction.objects.filter(pk=action).values_list("thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    return thread
