"""How this app hangs on the ones below: the one signal, its commands, and what viewers read of it (DESIGN 3)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from agents import items, waiting
from agents.turns import dispatch, live
from agents.turns.services import question_answer, question_dismiss, turn_ask_again, turn_stop
from agents.turns.sharing import call_share
from collab import commands, reads
from collab.reads import Reading
from collab.signals import thread_asked
from permissions.actors import Actor


class TurnArgs(commands.Args):
    """Names a turn."""

    turn: UUID


class CallArgs(commands.Args):
    """Names a call."""

    call: UUID


class AnswerArgs(commands.Args):
    """Names a question, and answers it."""

    question: UUID
    answer: str


def connect() -> None:
    """Listen for threads that are asked for a turn, and register commands and reads."""
    thread_asked.connect(_wake, dispatch_uid="agents.wake")
    commands.register("turn_stop", TurnArgs, _stop)
    commands.register("turn_ask_again", TurnArgs, _ask_again)
    commands.register("question_answer", AnswerArgs, _answer)
    commands.register("question_dismiss", TurnArgs, _dismiss)
    commands.register("call_share", CallArgs, _share)
    reads.register_items("turn", items.turn_items)
    reads.register_items("call", items.call_items, Reading.PERSON)
    reads.register_items("question", items.question_items)
    for event_type, touched in items.TOUCHED.items():
        reads.register_event_items(event_type, touched)
    for event_type, looked_up in items.LOOKED_UP.items():
        reads.register_looked_up(event_type, looked_up)
    reads.register_standing(items.standing)
    reads.register_snapshot(live.snapshot)
    waiting.register()


def _wake(sender: Any, thread_id: UUID, **_: Any) -> None:
    dispatch.wake_on_commit(thread_id)


def _stop(actor: Actor, args: TurnArgs) -> commands.Result:
    return {"turn": str(turn_stop(actor=actor, turn=args.turn).id)}


def _ask_again(actor: Actor, args: TurnArgs) -> commands.Result:
    message = turn_ask_again(actor=actor, turn=args.turn)
    return {"message": str(message.id), "seq": message.seq}


def _answer(actor: Actor, args: AnswerArgs) -> commands.Result:
    return {"question": str(question_answer(actor=actor, question=args.question, answer=args.answer).id)}


def _dismiss(actor: Actor, args: TurnArgs) -> commands.Result:
    return {"turn": str(question_dismiss(actor=actor, turn=args.turn).id)}


def _share(actor: Actor, args: CallArgs) -> commands.Result:
    return {"call": str(call_share(actor=actor, call=args.call).id)}
