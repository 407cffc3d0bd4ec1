"""Carrying out an approved action: its steps, in order, up to the first that is not done (DESIGN 7, Consent)."""

from __future__ import annotations

from collections.abc import Callable

from agents.actions.closing import approved_by, calls_left, calls_of
from agents.actions.freezing import read
from agents.models.turns import Call, Question, Turn
from agents.tools.consent import Frozen
from agents.tools.frozen import carry_out_step
from agents.tools.outcomes import Outcome
from agents.tools.registry import label_of
from agents.turns import boundary, lease
from agents.turns.boundary import Work
from agents.turns.ending import acting
from agents.turns.spoken import record_of
from collab.db import in_db
from collab.log import thread_locked

_STOPS = Outcome("not_attempted", "step_failed", "A step before it was not done.")


async def carry_out(work: Work, *, told: Callable[[], None], stops: Callable[[], bool]) -> None:
    """Carry out the steps of the action that a turn was started for. A step that has its outcome already, since the
    turn continues another, is not carried out again.

    Args:
        told: called after each step, whose record is then in the turn's work.
        stops: says whether the turn was asked to stop; the steps that are left are then not begun.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    work.reports, work.joins = True, False
    for frozen, row in await in_db(_steps, work.turn):
        if stops():
            return
        known = len(work.records)
        await carry_out_step(work, row, frozen)
        if len(work.records) == known:
            work.records.append(record_of(row))
        told()
        if row.outcome != Call.Outcome.DONE:
            break
    await in_db(_rest_left, work)
    told()


def told_of(work: Work) -> None:
    """Tell the turn's model what each step came to, and save that as the turn's first boundary.

    Raises:
        LeaseLost: another process took the thread over; nothing was written.
    """
    action = approved_by(work.turn)
    if action is None:
        return
    lines = [f"A{action.number} was approved. What each of its steps came to:"]
    for place, row in enumerate(calls_of(action), 1):
        because = f" ({row.because})" if row.because else ""
        result = f" {row.result}" if row.result and row.outcome == Call.Outcome.DONE else ""
        lines.append(f"{place}. {label_of(row.called_as)} {row.args}: {row.outcome}{because}{result}")
    boundary.account_given(work, "\n".join(lines), about=f"what A{action.number} came to")


def is_quiet(turn: Turn) -> bool:
    """Say whether the model is left out, because the thread's paused turn has a question open (DESIGN 7)."""
    paused = Question.objects.filter(turn__thread_id=turn.thread_id, turn__status=Turn.Status.PAUSED)
    return paused.filter(answered_at=None, dismissed=False, turn__resumed_by=None).exists()


def _steps(turn: Turn) -> list[tuple[Frozen, Call]]:
    action = approved_by(turn)
    if action is None:
        return []
    return list(zip(map(read, action.steps), calls_of(action), strict=True))


def _rest_left(work: Work) -> None:
    with thread_locked(work.turn.thread_id) as locked:
        lease.fence(locked, work.turn)
        left = calls_left(locked, [row for _, row in _steps(work.turn)], _STOPS, by=acting(work.turn))
        work.records.extend(map(record_of, left))
