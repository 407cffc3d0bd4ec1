"""Delegation in time: what an owner lets a thread's agent do to documents there until a moment (DESIGN 4).

What it means is decided in :mod:`permissions.decisions` (docs/decisions/0013); here it is given and ended. Both begin
the next epoch of the workspace's grants, as a grant does, so the very next write knows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from collab import selectors
from collab.errors import BadMoment, Gone, Invalid
from collab.events import ThreadChanged
from collab.log import Locked, append, thread_locked
from collab.models.delegations import Delegation
from collab.models.workspaces import Workspace
from collab.services.checks import require_open, valid
from collab.text import clean_text
from permissions.actors import Actor
from permissions.decisions import Action, Level
from permissions.errors import MoreThanOwn
from permissions.gate import decide_on
from permissions.services import bound_change

LONGEST = timedelta(days=30)
"""How long a delegation may stand."""

LONGEST_REASON = 2_000
"""Bytes of the reason it is given with."""

ENDED = "ended"
"""What the log says of a delegation that was ended, in the place of its level."""


def delegation_give(
    *, actor: Actor, thread: UUID, level: str, until: datetime, agent: UUID | None = None, reason: str = ""
) -> Delegation:
    """Let a thread's agent do more to documents there, or less, until a moment. It ends what stood before it.

    Args:
        level: ``allow``, ``propose`` or ``deny``.
        until: aware; at most 30 days from now by the database's clock.
        agent: the account of the thread's agent; None: whichever it is.

    Raises:
        NotFound: there is no such thread, or the actor may not view it.
        Refused: the actor may not manage it.
        MoreThanOwn: the actor may not do that much to the workspace's documents themselves.
        BadMoment: the moment has passed, is too far away, or has no time zone.
        Invalid: the level or the reason is refused, the thread is archived, or it has no such agent in its workspace.
    """
    with thread_locked(thread) as locked:
        epoch = bound_change(by=actor, obj=locked.row)
        require_open(locked.row)
        if level not in Delegation.Level.values:
            raise Invalid(f"A delegation's level is {', '.join(Delegation.Level.values)}.")
        account = _agent(locked, agent)
        _require_in_time(locked, until)
        _require_own(actor, locked, Level[level.upper()])
        with valid():
            why = clean_text(reason, limit_bytes=LONGEST_REASON, name="the reason", allow_blank=True)
        _ended(actor, locked, account)
        given = Delegation.objects.create(
            thread=locked.row,
            agent_id=account,
            level=level,
            until=until,
            given_by=actor,
            given_at=locked.now,
            reason=why,
        )
        append(locked, ThreadChanged("delegation", level), actor=actor, grants_epoch=epoch)
        return given


def delegation_end(*, actor: Actor, thread: UUID, agent: UUID | None = None) -> None:
    """End what stands for a thread's agent; from here on its own grants and the thread's mode hold.

    Raises:
        NotFound, Refused: as for :func:`delegation_give`.
        Gone: nothing stands: it was ended, or its time is over.
    """
    with thread_locked(thread) as locked:
        epoch = bound_change(by=actor, obj=locked.row)
        account = agent or locked.row.agent_id
        stands = Delegation.objects.filter(thread=locked.row, agent=account, ended_at=None, until__gt=locked.now)
        if not stands.exists():
            raise Gone("Nothing is delegated to the agent in this thread by now.")
        _ended(actor, locked, account)
        append(locked, ThreadChanged("delegation", ENDED), actor=actor, grants_epoch=epoch)


def _agent(locked: Locked, wanted: UUID | None) -> UUID:
    account = locked.row.agent_id
    if account is None or wanted not in (None, account):
        raise Invalid("The thread has no such agent.")
    if account not in {member.id for member in selectors.agents_of(locked.row.workspace_id)}:
        raise Invalid("The thread's agent is not enabled in the workspace.")
    return account


def _require_in_time(locked: Locked, until: datetime) -> None:
    if until.tzinfo is None:
        raise BadMoment("Say in which time zone the moment is.")
    if until <= locked.now:
        raise BadMoment("This moment has passed.")
    if until > locked.now + LONGEST:
        raise BadMoment(f"A delegation stands for at most {LONGEST.days} days.")


def _require_own(actor: Actor, locked: Locked, level: Level) -> None:
    workspace = Workspace.objects.get(pk=locked.row.workspace_id)
    decision = decide_on(actor, Action.CHANGE_DOCUMENT, workspace)
    if decision.level < level:
        raise MoreThanOwn(decision=decision)


def _ended(actor: Actor, locked: Locked, account: UUID | None) -> None:
    open_one = Delegation.objects.filter(thread=locked.row, agent=account, ended_at=None)
    open_one.update(ended_by=actor, ended_at=locked.now)
