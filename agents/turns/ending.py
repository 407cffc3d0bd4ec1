"""How a turn ends or pauses: one transaction for the end, the reply, the lease and the hand-over (DESIGN 6, Ending)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, Q

from agents.actions.closing import calls_dropped
from agents.actions.expiring import approved_in
from agents.models.turns import Call, Question, Turn
from agents.turns import lease
from collab.canonical import canonical
from collab.events import CallEnded, QuestionAnswered, TurnEnded, TurnPaused
from collab.log import Locked, append
from collab.models.threads import Message, Thread
from collab.services.messages import message_record
from collab.signals import thread_asked
from permissions.actors import Actor, Agent

_OWN = ["status", "reason", "because", "ended_at", "text", "history", "known", "input_tokens", "output_tokens"]
"""What the process that runs a turn writes of its row; who asked it to stop is written by others."""


def acting(turn: Turn) -> Agent:
    """Return the actor that a turn's work is done as: its agent, for whom the turn is."""
    return Agent(turn.agent_id, turn.thread_id, turn.principal)


def end(
    locked: Locked,
    turn: Turn,
    *,
    status: str,
    reason: str = "",
    because: str = "",
    text: str = "",
    whole: bool = True,
    more: bool | None = None,
) -> None:
    """End a running turn that this process holds: post its reply, record the end, release the thread, hand over.

    Args:
        status: ``completed``, ``failed`` or ``stopped``.
        reason: a stable code; ``because`` says the same to people.
        text: the reply as it was streamed; nothing is posted when it is empty.
        whole: False marks the reply as interrupted.
        more: whether messages wait or an action is approved, where the caller has just read it.
    """
    if status != Turn.Status.COMPLETED:
        _leave_nothing_open(locked, turn, reason=reason)
        calls_dropped(locked, turn)
    reply = post_reply(locked, turn, text, whole=whole)
    _close(locked, turn, status=status, reason=reason, because=because, reply=reply)
    lease.release(locked)
    hand_over(locked, more=more)


def end_unfinished(locked: Locked, turn: Turn, *, status: str, reason: str, because: str) -> None:
    """End a turn that no process works on: one that was abandoned, or a paused one. What it streamed up to its last
    boundary and never posted stays with it, marked interrupted; calls that were sent and have no outcome are
    ``unknown``."""
    _leave_nothing_open(locked, turn, reason=reason)
    _close(locked, turn, status=status, reason=reason, because=because, reply=None)
    hand_over(locked)


def pause(locked: Locked, turn: Turn, *, questions: tuple[UUID, ...], text: str) -> None:
    """Pause a running turn until its questions are answered, and release the thread."""
    post_reply(locked, turn, text)
    turn.status, turn.ended_at = Turn.Status.PAUSED, locked.now
    turn.save(update_fields=_OWN)
    seq = append(locked, TurnPaused(questions=questions), actor=acting(turn), turn=turn.id)
    Question.objects.filter(pk__in=questions).update(seq=seq)
    lease.release(locked)
    hand_over(locked)


def post_reply(locked: Locked, turn: Turn, text: str, *, whole: bool = True) -> Message | None:
    """Post what a turn said, if it said anything."""
    if not text.strip():
        return None
    return message_record(
        locked, actor=acting(turn), content=text, client_id=f"turn:{turn.id}", kind=Message.Kind.MESSAGE,
        turn=turn.id, interrupted=not whole,
    )  # fmt: skip


def answer(
    locked: Locked,
    turn: Turn,
    questions: Sequence[Question],
    *,
    text: str,
    by: Actor,
    message: UUID | None = None,
    grants_epoch: int = 0,
) -> None:
    """Record the answer to open questions of a paused turn, and so the outcome of the calls that asked them.

    Args:
        message: the message that is the answer, where it was not given by button.
    """
    event = QuestionAnswered(questions=tuple(question.id for question in questions), message=message)
    append(locked, event, actor=by, turn=turn.id, grants_epoch=grants_epoch)
    for question in questions:
        question.answer, question.answered_by, question.answered_at = text, by, locked.now
        question.save(update_fields=["answer", "answered_by", "answered_at"])
        question.call.result = canonical({"answer": text})
        _settle(locked, turn, question.call, Call.Outcome.DONE)


def hand_over(locked: Locked, *, more: bool | None = None) -> None:
    """Ask for the next turn when messages wait or an action was approved, in the transaction that ends this one: no
    window lies between."""
    if any(awaits(locked.row.id)) if more is None else more:
        thread_asked.send(sender=Thread, thread_id=locked.row.id)


def awaits(thread_id: UUID) -> tuple[bool, bool]:
    """Say whether a thread has messages that wait for a turn, and an approved action whose turn has not started."""
    waiting = Exists(Message.objects.filter(thread_id=thread_id, waits=True))
    asked = Thread.objects.filter(pk=thread_id).annotate(waiting=waiting, approved=approved_in(thread_id))
    messages, approved = asked.values_list("waiting", "approved").get()
    return messages, approved


def _close(locked: Locked, turn: Turn, *, status: str, reason: str, because: str, reply: Message | None) -> None:
    turn.status, turn.reason, turn.because, turn.ended_at = status, reason, because, locked.now
    if reply is not None:
        turn.text = ""
    turn.save(update_fields=_OWN)
    append(
        locked,
        TurnEnded(turn=turn.id, status=status, reason=reason, message=reply.id if reply else None),
        actor=acting(turn),
        turn=turn.id,
    )


def _leave_nothing_open(locked: Locked, turn: Turn, *, reason: str) -> None:
    """Settle the calls of a turn that breaks off: what was sent is ``unknown``, what asked is dismissed."""
    carried = Q(turn=turn, carried_by=None) | Q(carried_by=turn)
    for call in Call.objects.filter(carried, outcome=None).select_related("question"):
        asked = hasattr(call, "question")
        _settle(locked, turn, call, Call.Outcome.NOT_ATTEMPTED if asked else Call.Outcome.UNKNOWN, reason=reason)
    Question.objects.filter(turn=turn, answered_at=None).update(dismissed=True)


def _settle(locked: Locked, turn: Turn, call: Call, outcome: Call.Outcome, *, reason: str = "") -> None:
    call.outcome, call.reason, call.finished_at = outcome, reason, locked.now
    call.save(update_fields=["outcome", "reason", "result", "finished_at"])
    append(locked, CallEnded(call=call.id, outcome=outcome, reason=reason), actor=acting(turn), turn=turn.id)
