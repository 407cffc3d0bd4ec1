"""Carrying out one frozen step of an approved action (DESIGN 7, Consent).

What a person approved is one call with one set of arguments. Whether it may still be sent is asked again when it is:
for the person who approved it, on what it touches, as that stands then.
"""

from __future__ import annotations

from functools import partial

from pydantic import ValidationError

from agents.models.turns import Call, Turn
from agents.tools import gate, rights
from agents.tools.asked import Made
from agents.tools.consent import Frozen, step_hash
from agents.tools.outcomes import Outcome
from agents.tools.registry import TOOLS
from agents.turns import lease
from agents.turns.boundary import Work
from collab.db import in_db
from collab.log import thread_locked
from collab.models.documents import Revision


async def carry_out_step(work: Work, call: Call, frozen: Frozen) -> Call:
    """Carry out a step in the turn of its approval, and return its call with what it came to. One that has been carried
    out is left as it is; one that an abandoned turn of this approval left ``unknown`` is sent again with its key, where
    that makes it safe.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    if call.outcome != Call.Outcome.PENDING_CONFIRMATION and not await in_db(_sent_again, work, call):
        return call
    made = _made(work, call, frozen)
    call.carried_by = work.turn
    if isinstance(made, Outcome):
        await in_db(_not_run, work, call, made)
    else:
        await gate.run(work, made)
    return call


def _made(work: Work, call: Call, frozen: Frozen) -> Made | Outcome:
    """Return the step with its arguments read, or why it is none that was approved."""
    if step_hash(call.called_as, call.args) != frozen.hash:
        return Outcome("failed", "changed", "It is not what was approved any more, so nothing was done.")
    tool = TOOLS.get(call.called_as)
    if tool is None:
        return Outcome("refused", "unknown_tool", f"There is no tool called {call.called_as[:60]} any more.")
    try:
        args = tool.args.model_validate_json(call.args)
    except ValidationError:
        return Outcome("refused", "argument_schema", f"{tool.label} takes other arguments than those approved.")
    return Made(call, tool, args, frozen=True, stands=partial(_stands, work, call, frozen))


def _sent_again(work: Work, call: Call) -> bool:
    tool = TOOLS.get(call.called_as)
    if call.outcome != Call.Outcome.UNKNOWN or tool is None or not tool.keyed:
        return False
    return call.carried_by is not None and call.carried_by.root_id == work.turn.root_id


def _stands(work: Work, call: Call, frozen: Frozen) -> Outcome | None:
    """Return why a step is refused though its approver may do it; called in the transaction that sends it."""
    if rights.unknown_before(work.turn.thread_id, TOOLS[call.called_as], call.args, but=call.id):
        return rights.not_known(TOOLS[call.called_as])
    for document, version in frozen.versions.items():
        newer = Revision.objects.filter(document_id=document, version__gt=version)
        if newer.exclude(turn_id__in=Turn.objects.filter(root_id=work.turn.root_id).values("id")).exists():
            return Outcome("refused", "changed_since", "A document it names has changed since it was asked for.")
    return None


def _not_run(work: Work, call: Call, outcome: Outcome) -> None:
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        if gate.still(call):
            gate.begin(locked, work, call)
            gate.settle(locked, work, call, outcome)
