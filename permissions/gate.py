"""The check before everything: decide on an object, or raise (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from string import Template
from uuid import UUID

from django.db import connection, transaction

from permissions.actors import Actor
from permissions.decisions import Action, Decision, Facts, Level, Lowering, decide
from permissions.errors import NotFound, Refused
from permissions.grants import facts
from permissions.models import Guarded

Lowers = Sequence[Lowering] | Callable[[], Sequence[Lowering]]
"""What lowers a change to a proposal; or a function that reads it, called once a write's scope is taken, so that what
lowers and the write have an order too."""


def decide_on(
    actor: Actor,
    action: Action,
    obj: Guarded,
    *,
    lowers: Lowers = (),
    cap: UUID | None = None,
    for_write: bool = False,
) -> Decision:
    """Decide how far an actor may go with an action on an object, as the database stands at this moment.

    One query; with ``for_write`` two: the scope's row is taken shared first, so that this write and any grant change
    have an order, and the decision carries the scope's ``grants_epoch``.

    Args:
        lowers: what lowers a change to a proposal here (suggest mode, a document's policy).
        cap: the owner of the timer or route the turn came from, whose rights bound it.

    Raises:
        NotFound: for a write, the scope is gone.
        TransactionManagementError: for a write, outside a transaction.
    """
    epoch = _scope_taken_shared(obj) if for_write else None
    return replace(decide(actor, action, facts(actor, obj, lowers=_read(lowers), cap=cap)), grants_epoch=epoch)


def decisions_on(actor: Actor, obj: Guarded, *, actions: Iterable[Action] = tuple(Action)) -> Mapping[Action, Decision]:
    """Decide on several actions at once, in one query: what a page shows of its viewer's rights."""
    known = facts(actor, obj)
    return {action: decide(actor, action, known) for action in actions}


def require(
    actor: Actor,
    action: Action,
    obj: Guarded,
    *,
    at_least: Level = Level.ALLOW,
    lowers: Lowers = (),
    cap: UUID | None = None,
    for_write: bool = False,
) -> Decision:
    """Return the decision of :func:`decide_on` when it reaches ``at_least``, in the same number of queries.

    Raises:
        Refused: it does not; ``because`` says who lacks what.
        NotFound: it does not, and the actor may not even see the object; also when a write's scope is gone.
        TransactionManagementError: for a write, outside a transaction.
    """
    epoch = _scope_taken_shared(obj) if for_write else None
    known = facts(actor, obj, lowers=_read(lowers), cap=cap)
    decision = replace(decide(actor, action, known), grants_epoch=epoch)
    if decision.level < at_least:
        raise _refusal(actor, decision, known)
    return decision


def _read(lowers: Lowers) -> Sequence[Lowering]:
    return lowers() if callable(lowers) else lowers


def _refusal(actor: Actor, decision: Decision, known: Facts) -> Refused | NotFound:
    if decide(actor, Action.VIEW, known).level < Level.ALLOW:
        return NotFound()
    return Refused(decision.because, decision)


_EPOCH = Template("SELECT grants_epoch FROM $scopes WHERE id = %s $shared")


def _scope_taken_shared(obj: Guarded) -> int:
    """Take the scope's row shared until the transaction ends and return its epoch. SQLite has one writer at a time,
    whose transaction began as a write, so there it only reads."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a right that a write relies on is checked in its transaction")
    scopes, id = obj.grant_objects()[-1]
    shared = "FOR SHARE" if connection.vendor == "postgresql" else ""
    sql = _EPOCH.substitute(scopes=connection.ops.quote_name(scopes._meta.db_table), shared=shared)
    with connection.cursor() as cursor:
        cursor.execute(sql, [scopes._meta.pk.get_db_prep_value(id, connection)])
        row = cursor.fetchone()
    if row is None:
        raise NotFound
    return int(row[0])
