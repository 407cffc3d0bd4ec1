"""Moving a call that has an outcome to another one, outside the turn that made it (DESIGN 7)."""

from __future__ import annotations

from typing import Any

from agents.models.turns import Call
from agents.tools.outcomes import Outcome
from collab.events import CallEnded
from collab.log import Locked, append
from permissions.actors import Actor


def call_moved(
    locked: Locked, call: Call, *, before: str, to: Outcome, actor: Actor, grants_epoch: int = 0, **more: Any
) -> bool:
    """Move a call to another outcome, if it still has the one it had before; say whether it was moved. Of several who
    move it at once, one does. Its thread is locked.

    Args:
        actor: who had it moved: whoever asked, or the system.
        more: other columns of the call that are written with it.
    """
    values = {
        "outcome": to.outcome, "moved_from": before, "reason": to.reason, "because": to.because,
        "finished_at": locked.now, **more,
    }  # fmt: skip
    if not Call.objects.filter(pk=call.pk, outcome=before).update(**values):
        return False
    for name, value in values.items():
        setattr(call, name, value)
    ended = CallEnded(call=call.id, outcome=to.outcome, reason=to.reason)
    append(locked, ended, actor=actor, grants_epoch=grants_epoch)
    return True
