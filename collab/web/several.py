"""Accepting several proposals with one command: each in a transaction of its own, refused for itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

from collab.commands import Result, run
from collab.errors import CollabError
from permissions.actors import Actor
from permissions.errors import PermissionsError

MOST_AT_ONCE = 50
"""Proposals that one command may accept."""


def accept_each(actor: Actor, command_id: str, proposals: Sequence[UUID]) -> Result:
    """Accept proposals in the order given, each as its own ``proposal_accept``, and say what came of each.

    One that is refused stays as it is and keeps none of the others.

    Raises:
        PermissionsError, CollabError: every one of them is refused for the same reason, which is then said once.
    """
    found = {id: _accepted(actor, command_id, id) for id in dict.fromkeys(proposals)}
    refusals = [outcome for outcome in found.values() if isinstance(outcome, PermissionsError | CollabError)]
    if len(refusals) == len(found) and len({(refusal.code, refusal.because) for refusal in refusals}) == 1:
        raise refusals[0]
    return {"results": [_told(id, outcome) for id, outcome in found.items()]}


def _accepted(actor: Actor, command_id: str, proposal: UUID) -> Result | PermissionsError | CollabError:
    # Of a length that any command's id may have, and the same when the whole is sent again.
    part = hashlib.sha256(f"{command_id}:{proposal}".encode()).hexdigest()
    try:
        return run(actor, "proposal_accept", part, {"proposal": str(proposal)})
    except (PermissionsError, CollabError) as refused:
        return refused


def _told(proposal: UUID, outcome: Result | PermissionsError | CollabError) -> Result:
    if isinstance(outcome, PermissionsError | CollabError):
        return {"proposal": str(proposal), "ok": False, "code": outcome.code, "because": outcome.because}
    return {**outcome, "proposal": str(proposal), "ok": True}
