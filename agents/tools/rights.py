"""Whether a call may be sent at this moment: the right to its tool, its limits, and what is not known (DESIGN 7)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Q

from agents.models.tools import WorkspaceTool
from agents.models.turns import Call, Turn
from agents.tools.alike import as_read
from agents.tools.contract import Tool
from agents.tools.outcomes import Outcome
from agents.tools.registry import TOOLS
from agents.turns.ending import acting
from collab.log import Locked
from collab.models.workspaces import Workspace
from collab.selectors import told
from collab.services.changes import Within
from permissions.actors import Actor, Person, cap_of
from permissions.decisions import Action, Level
from permissions.errors import Refused
from permissions.gate import decide_on
from permissions.grants import readable

LATER = "no person asked for what this work began with"
"""Why a turn only proposes that goes on from one that no person began."""

_COUNTED = ~Q(outcome__in=["refused", "not_attempted"]) | Q(outcome=None)
"""Calls that count toward a limit: those that were sent, and those that wait to be."""


def within_of(turn: Turn, names: Mapping[UUID, str]) -> Within:
    """Return what bounds a turn's changes to documents: one that no person began only proposes (DESIGN 7)."""
    if not turn.asks_first:
        return Within(cap=cap_of(turn.origin))
    why = LATER if isinstance(turn.origin, Person) else f"{told(turn.origin, names)}, no person, asked for it"
    return Within(cap=cap_of(turn.origin), only_proposes=why)


def use_decided(turn: Turn, workspace: UUID, tool: Tool) -> tuple[Outcome | None, int]:
    """Decide, in the transaction that stores a call, whether its turn may use the tool; return the refusal, if it is
    one, and the grants epoch the decision was made at, 0 where the tool's services decide on what it touches."""
    if not tool.permission:
        return None, 0
    enabled = WorkspaceTool.objects.filter(workspace_id=workspace, tool_id=tool.name).first()
    if enabled is None:
        place = Workspace.objects.values_list("name", flat=True).get(pk=workspace)
        return Outcome("refused", "not_enabled", f"{tool.label} is not enabled in {place}."), 0
    decision = decide_on(acting(turn), Action.USE_TOOL, enabled, cap=cap_of(turn.origin), for_write=True)
    refusal = None if decision.level is Level.ALLOW else Outcome("refused", "forbidden", decision.because)
    return refusal, decision.grants_epoch or 0


def require_use(actor: Actor, workspace: UUID, tool: Tool) -> None:
    """Check that someone may use an enabled tool themselves, in the transaction of what relies on it.

    Raises:
        Refused: they may not, or it is not enabled.
    """
    enabled = WorkspaceTool.objects.filter(workspace_id=workspace, tool_id=tool.name).first()
    if enabled is None:
        raise Refused(f"{tool.label} is not enabled here.")
    decision = decide_on(actor, Action.USE_TOOL, enabled, for_write=True)
    if decision.level < Level.ALLOW:
        raise Refused(decision.because, decision)


def usable(turn: Turn, workspace: UUID) -> frozenset[str]:
    """Return the names of the enabled tools that a turn may use as things stand: what its model is offered of them."""
    if not any(tool.permission for tool in TOOLS.values()):
        return frozenset()
    enabled = WorkspaceTool.objects.filter(workspace_id=workspace)
    held = readable(enabled, acting(turn), Action.USE_TOOL, cap=cap_of(turn.origin))
    return frozenset(held.values_list("tool_id", flat=True))


def barred(locked: Locked, turn: Turn, workspace: UUID, tool: Tool, args: str) -> Outcome | None:
    """Return why a call may not be sent though its turn may use the tool: a limit is reached, or nobody knows whether
    the same was done before."""
    if unknown_before(locked.row.id, tool, args):
        return not_known(tool)
    if tool.per_turn is not None:
        lineage = Call.objects.filter(_COUNTED, turn__root_id=turn.root_id, tool=tool.name)
        if lineage.count() >= tool.per_turn:
            return Outcome("refused", "limit", f"{tool.label} may be used {tool.per_turn} times in a turn.")
    if tool.per_day is not None and _today(locked, turn, workspace, tool) >= tool.per_day:
        return Outcome("refused", "limit", f"{tool.label} may be used {tool.per_day} times a day (UTC) for one person.")
    return None


def unknown_before(thread_id: UUID, tool: Tool, args: str, *, but: UUID | None = None) -> bool:
    """Say whether nobody knows if the same was done before in a thread, and nobody let it be done again. A blank more,
    or a letter that is written another way, makes it no other.

    Args:
        args: canonical JSON.
        but: a call that does not count.
    """
    if tool.effect != "write" or tool.local:
        return False
    unknown = Call.objects.filter(tool=tool.name, outcome=Call.Outcome.UNKNOWN, repeat_by=None)
    found = unknown.filter(turn__thread_id=thread_id).exclude(pk__in=[but] if but else [])
    wanted = as_read(args)
    return any(as_read(earlier) == wanted for earlier in found.values_list("args", flat=True))


def not_known(tool: Tool) -> Outcome:
    """Return the refusal of a call of which nobody knows whether the same was done before."""
    because = (
        f"Nobody knows yet whether {tool.label.lower()} was done with these arguments. It can be checked, or whom it "
        "was for can let it be done again."
    )
    return Outcome("refused", "unknown_before", because)


def _today(locked: Locked, turn: Turn, workspace: UUID, tool: Tool) -> int:
    """Count the calls of a day for one person, while no other thread of the workspace counts them."""
    WorkspaceTool.objects.select_for_update(no_key=True).filter(workspace_id=workspace, tool_id=tool.name).first()
    midnight = locked.now.replace(hour=0, minute=0, second=0, microsecond=0)
    calls = Call.objects.filter(_COUNTED, tool=tool.name, sent_at__gte=midnight, turn__thread__workspace_id=workspace)
    return calls.filter(turn__on_behalf_of=turn.on_behalf_of).count()
