"""Calls that a turn's lineage made already, and that are not made again (DESIGN 7, keys)."""

from __future__ import annotations

from uuid import UUID

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolCallPart

from agents.models.turns import Call, Turn
from agents.tools.contract import LONGEST_ARGS, written
from agents.tools.registry import TOOLS
from collab.canonical import BadJson, parse_json

_HAPPENED = ("done", "unknown")
_STANDS = ("done", "unknown", "pending_confirmation")


def reusable(turn: Turn) -> list[Call]:
    """Return the calls that a turn may use again, in order: of one it restarts, every write of the lineage, since what
    was read may have changed; of one it continues, those behind the last boundary, and what that one might still use of
    the lineage it restarted."""
    since = _since_restart(turn)
    left = _writes_before(since[-1]) if since[-1].restarts_id else []
    if turn.continues_id:
        return [*_not_used(left, turn, since), *done_after_boundary(turn.continues_id, turn.steps)]
    return left


def written_before(turn: Turn) -> list[Call]:
    """Return what the lineage of a turn that restarts, or continues one that does, had certainly done before that."""
    since = _since_restart(turn)
    return [call for call in _writes_before(since[-1]) if call.outcome == "done"] if since[-1].restarts_id else []


def _since_restart(turn: Turn) -> list[Turn]:
    """Return a turn and those it continues, back to the one that started over, if one of them did."""
    since = [turn]
    while since[-1].continues_id and not since[-1].restarts_id:
        since.append(Turn.objects.defer("history").get(pk=since[-1].continues_id))
    return since


def _writes_before(turn: Turn) -> list[Call]:
    made = Call.objects.filter(turn__root_id=turn.root_id, turn__number__lt=turn.number, effect="write", question=None)
    return list(made.filter(outcome__in=_HAPPENED).order_by("turn__number", "number"))


def _not_used(left: list[Call], turn: Turn, since: list[Turn]) -> list[Call]:
    """Leave out what was used again up to the last boundary: the calls in the saved history that have no row there."""
    if not left:
        return []
    own = set(Call.objects.filter(turn__in=[one.pk for one in since]).values_list("model_call_id", flat=True))
    for message in ModelMessagesTypeAdapter.validate_json(turn.history) if turn.history else ():
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.tool_call_id not in own:
                used = next((call for call in left if (call.called_as, call.args) == _operation(part)), None)
                left = [call for call in left if call is not used]
    return left


def _operation(part: ToolCallPart) -> tuple[str, str]:
    """A call as its row names the operation; what cannot be read has no row to be compared with."""
    tool = TOOLS.get(part.tool_name)
    try:
        raw = parse_json(part.args_as_json_str(), max_bytes=LONGEST_ARGS)
        return part.tool_name, written(tool, raw) if tool else ""
    except (BadJson, ValidationError):
        return part.tool_name, ""


def done_after_boundary(turn_id: UUID, steps: int) -> list[Call]:
    """Return the calls that an abandoned turn had settled after its last saved boundary, in order; also those of the
    turns it continued itself without reaching another boundary: what it only told again has no row of its own.

    Args:
        steps: the boundaries that were saved.
    """
    lineage = [turn_id]
    while before := Turn.objects.filter(continued_by=lineage[-1], steps=steps).values_list("id", flat=True).first():
        lineage.append(before)
    settled = Call.objects.filter(turn__in=lineage, step__gt=steps, outcome__in=_STANDS, question=None)
    return list(settled.order_by("turn__number", "number"))
