"""What people do to turns: stop, answer, dismiss, ask again (DESIGN 6)."""

from __future__ import annotations

from uuid import UUID

from agents.models.turns import Question, Turn
from agents.turns import dispatch, ending
from collab.errors import Gone, Invalid
from collab.log import Locked, thread_locked
from collab.models.threads import Message, Thread
from collab.services.checks import require_open, valid
from collab.services.messages import message_post
from collab.signals import thread_asked
from collab.text import clean_text
from permissions.actors import Actor, same_author
from permissions.decisions import Action, Level
from permissions.errors import NotFound, Refused
from permissions.gate import decide_on, require

LONGEST_ANSWER = 8_192
"""Bytes of an answer."""


def turn_stop(*, actor: Actor, turn: UUID) -> Turn:
    """Stop a turn, and with it its whole lineage: a running one at its next boundary or inside its model's answer, a
    paused one at once. Asking twice is asking once.

    Raises:
        NotFound: there is no such turn, or the actor may not see its thread.
        Refused: the turn is for someone else, and the actor does not manage the thread.
        Gone: it has ended.
    """
    with thread_locked(_thread_of(turn)) as locked:
        require(actor, Action.VIEW, locked.row)
        found = Turn.objects.get(pk=turn)
        _require_own_or_manager(actor, locked, found, "stop this turn")
        _require_unfinished(found)
        found.stop_asked_by = found.stop_asked_by or actor
        found.save(update_fields=["stop_asked_by"])
        locked.change(stop_turn_id=found.id)
        if found.status == Turn.Status.PAUSED:
            ending.end_unfinished(locked, found, status="stopped", reason="stopped", because="It was stopped.")
        else:
            dispatch.stop_on_commit(found.id)
        return found


def question_answer(*, actor: Actor, question: UUID, answer: str) -> Question:
    """Answer a question by button. When it was the turn's last open one, the turn resumes for who answered.

    Raises:
        NotFound: there is no such question, or the actor may not see its thread.
        Refused: the actor may not start turns there.
        Invalid: the answer is empty or too long, or none of the choices; or the thread is archived.
        Gone: it was answered or dismissed already.
    """
    thread = Question.objects.filter(pk=question).values_list("turn__thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    with thread_locked(thread) as locked:
        decision = require(actor, Action.START_TURN, locked.row, for_write=True)
        found = Question.objects.select_related("turn", "call").get(pk=question)
        if found.answered_at is not None or found.dismissed:
            raise Gone("It was answered already." if found.answered_at else "Its turn has ended.")
        require_open(locked.row)
        text, epoch = _answer_text(found, answer), decision.grants_epoch or 0
        ending.answer(locked, found.turn, [found], text=text, by=actor, grants_epoch=epoch)
        thread_asked.send(sender=Thread, thread_id=thread)
        return found


def question_dismiss(*, actor: Actor, turn: UUID) -> Turn:
    """End a paused turn whose questions nobody will answer.

    Raises:
        NotFound: there is no such turn, or the actor may not see its thread.
        Refused: the turn is for someone else, and the actor does not manage the thread.
        Gone: it is not paused.
    """
    with thread_locked(_thread_of(turn)) as locked:
        require(actor, Action.VIEW, locked.row)
        found = Turn.objects.get(pk=turn)
        _require_own_or_manager(actor, locked, found, "dismiss its questions")
        if found.status != Turn.Status.PAUSED or Turn.objects.filter(resumes=found).exists():
            raise Gone("The turn is not paused.")
        ending.end_unfinished(
            locked, found, status="failed", reason="unanswered", because="Its questions were dismissed."
        )
        return found


def turn_ask_again(*, actor: Actor, turn: UUID) -> Message:
    """Post once more, as a new message, what a failed or stopped turn was asked. Asking twice posts once.

    Raises:
        NotFound: there is no such turn, or the actor may not see its thread.
        Refused: it was someone else's, or the actor may not start turns there.
        Gone: it did not fail and was not stopped.
    """
    thread = _thread_of(turn)
    with thread_locked(thread) as locked:
        require(actor, Action.VIEW, locked.row)
        found = Turn.objects.get(pk=turn)
        if found.status not in {Turn.Status.FAILED, Turn.Status.STOPPED}:
            raise Gone("Only a turn that failed or was stopped can be asked again.")
        if not same_author(found.origin, actor):
            raise Refused("Only the one it was for can ask it again.")
        lineage = Turn.objects.filter(root_id=found.root_id).values("id")
        asked = Message.objects.filter(thread_id=thread, taken_by__in=lineage).exclude(taken_as="reply").order_by("seq")
        text = "\n\n".join(message.content for message in asked)
        if not text:
            raise Gone("It was asked nothing that could be asked again.")
        return message_post(actor=actor, thread=thread, content=text, client_id=f"again:{found.id}")


def _require_own_or_manager(actor: Actor, locked: Locked, turn: Turn, what: str) -> None:
    if turn.principal is not None and same_author(turn.principal, actor):
        return
    decision = decide_on(actor, Action.MANAGE, locked.row)
    if decision.level < Level.ALLOW:
        raise Refused(f"Only the one it is for or a manager may {what}. {decision.because}", decision)


def _require_unfinished(turn: Turn) -> None:
    resumed = turn.status == Turn.Status.PAUSED and Turn.objects.filter(resumes=turn).exists()
    if resumed or turn.status not in {Turn.Status.RUNNING, Turn.Status.PAUSED}:
        raise Gone("The turn has ended already.")


def _answer_text(question: Question, answer: str) -> str:
    with valid():
        text = clean_text(answer, limit_bytes=LONGEST_ANSWER, name="the answer")
    if question.choices and text not in question.choices:
        raise Invalid(f"Choose one of: {', '.join(question.choices)}. Or answer in your own words with a message.")
    return text


def _thread_of(turn: UUID) -> UUID:
    thread = Turn.objects.filter(pk=turn).values_list("thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    return thread
