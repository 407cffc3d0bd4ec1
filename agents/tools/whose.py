"""Whose a call is, and who may therefore act on it (DESIGN 7)."""

from __future__ import annotations

from uuid import UUID

from agents.models.turns import Call
from agents.tools import rights
from agents.tools.consent import addressee
from agents.tools.registry import TOOLS
from collab.log import Locked
from collab.models.threads import Thread
from collab.services.checks import require_open
from permissions.actors import Actor, Person
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.gate import require


def whose(call: Call) -> list[Person]:
    """Return who answers for a call, in person: whom it was for or is asked for it, and who approved it."""
    asked = addressee(call.turn.origin, call.turn.principal)
    approver = call.carried_by.principal if call.carried_by else None
    return [one for one in dict.fromkeys((asked, approver)) if isinstance(one, Person)]


def thread_of(call: UUID) -> Thread:
    """Return the thread of a call.

    Raises:
        NotFound: there is no such call.
    """
    found = Thread.objects.filter(turns__calls=call).first()
    if found is None:
        raise NotFound()
    return found


def own_call(locked: Locked, actor: Actor, call: UUID, *, whom: Actor | None, only: str) -> tuple[Call, int]:
    """Return a call of someone's own, and the grants epoch at which the actor may use its tool.

    Args:
        whom: whose it has to be, in person: the actor, or the person whom an agent acts for.
        only: the sentence that says so to anyone else.

    Raises:
        NotFound: the actor may not see the thread.
        Refused: it is someone else's; or the actor may no longer use its tool.
        Invalid: the thread is archived.
    """
    epoch = require(actor, Action.VIEW, locked.row, for_write=True).grants_epoch or 0
    found = Call.objects.select_related("turn__thread", "carried_by").defer("turn__history").get(pk=call)
    if whom not in whose(found):
        raise Refused(only)
    require_open(locked.row)
    tool = TOOLS.get(found.called_as)
    if tool is not None and tool.permission:
        rights.require_use(actor, locked.row.workspace_id, tool)
    return found, epoch
