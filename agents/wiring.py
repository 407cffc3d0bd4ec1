"""How this app hangs on the ones below: the one signal, its commands, and what viewers read of it (DESIGN 3)."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from django.db.models import Q

from agents import action_items, items, timer_commands, waiting
from agents.actions.services import action_approve, action_decline
from agents.models.tools import WorkspaceTool
from agents.models.turns import Call
from agents.sources import naming
from agents.tools.enabling import workspace_tool_for
from agents.tools.services import call_check, call_repeat, call_undo
from agents.turns import dispatch, live
from agents.turns.holding import message_mean
from agents.turns.services import question_answer, question_dismiss, turn_ask_again, turn_stop
from agents.turns.sharing import call_share
from collab import asking, commands, reads
from collab.reads import Reading
from collab.signals import thread_asked
from permissions import senders
from permissions.actors import Actor
from permissions.decisions import Action


class TurnArgs(commands.Args):
    """Names a turn."""

    turn: UUID


class CallArgs(commands.Args):
    """Names a call."""

    call: UUID


class ActionArgs(commands.Args):
    """Names a pending action."""

    action: UUID


class DeclineArgs(ActionArgs):
    """Names a pending action, and says why not."""

    reason: str = ""


class AnswerArgs(commands.Args):
    """Names a question, and answers it."""

    question: UUID
    answer: str


class MeantArgs(commands.Args):
    """Names a held message, and says what it means for the turn it came during."""

    message: UUID
    meant: Literal["adds", "independent", "revises"]


def connect() -> None:
    """Listen for threads that are asked for a turn, and register commands and reads."""
    thread_asked.connect(_wake, dispatch_uid="agents.wake")
    commands.register("turn_stop", TurnArgs, _stop)
    commands.register("turn_ask_again", TurnArgs, _ask_again)
    commands.register("question_answer", AnswerArgs, _answer)
    commands.register("question_dismiss", TurnArgs, _dismiss)
    commands.register("message_mean", MeantArgs, _mean)
    commands.register("call_share", CallArgs, _share)
    commands.register("call_check", CallArgs, _check, apart=True)
    commands.register("call_repeat", CallArgs, _repeat)
    commands.register("call_undo", CallArgs, _undo, apart=True)
    commands.register("action_approve", ActionArgs, _approve)
    commands.register("action_decline", DeclineArgs, _decline)
    reads.register_items("action", action_items.action_items, Reading.EACH)
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
    timer_commands.register()
    senders.register(naming.senders)
    _ask_about_tools()


def _ask_about_tools() -> None:
    asking.register_kind(
        "tool",
        WorkspaceTool,
        actions=(Action.VIEW, Action.USE_TOOL, Action.MANAGE),
        called="tool__label",
        named=_tools_named,
        loads=workspace_tool_for,
    )


def _tools_named(words: str) -> Q:
    """The enabled tools of a name, in any workspace or, as ``Studio/reserve_table``, in one."""
    place, _, name = words.rpartition("/")
    return Q(tool=name, workspace__name=place) if place else Q(tool=name)


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


def _approve(actor: Actor, args: ActionArgs) -> commands.Result:
    found = action_approve(actor=actor, action=args.action)
    return {"action": str(found.pk), "state": found.state}


def _decline(actor: Actor, args: DeclineArgs) -> commands.Result:
    found = action_decline(actor=actor, action=args.action, reason=args.reason)
    return {"action": str(found.pk), "state": found.state}


def _mean(actor: Actor, args: MeantArgs) -> commands.Result:
    message = message_mean(actor=actor, message=args.message, meant=args.meant)
    return {"message": str(message.id), "seq": message.seq, "meant": message.meant}


def _share(actor: Actor, args: CallArgs) -> commands.Result:
    return {"call": str(call_share(actor=actor, call=args.call).id)}


def _check(actor: Actor, args: CallArgs) -> commands.Result:
    return _outcome(call_check(actor=actor, call=args.call))


def _repeat(actor: Actor, args: CallArgs) -> commands.Result:
    return {"call": str(call_repeat(actor=actor, call=args.call).id)}


def _undo(actor: Actor, args: CallArgs) -> commands.Result:
    return _outcome(call_undo(actor=actor, call=args.call))


def _outcome(call: Call) -> commands.Result:
    return {"call": str(call.id), "outcome": call.outcome, "because": call.because}
