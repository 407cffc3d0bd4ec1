"""Items of pending actions: the question and its steps for everyone in the thread, and who may answer it
(docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.actions.expiring import NOT_BEGUN
from agents.models.actions import PendingAction
from agents.models.turns import Call
from agents.turns.ending import acting
from collab.reads import EventRow, Item, Ref
from collab.web.actors import Book
from permissions import phrases
from permissions.actors import Actor, Person
from permissions.grants import names_of

_OPEN = PendingAction.State.OPEN


def action_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of pending actions."""
    found = PendingAction.objects.filter(pk__in=ids).select_related("turn", "thread").defer("turn__history")
    actions = {action.pk: action for action in found}
    steps = [step["call"] for action in actions.values() for step in action.steps]
    calls = {str(call.pk): call for call in Call.objects.filter(pk__in=steps)}
    actors = [
        actor
        for action in actions.values()
        for actor in (acting(action.turn), action.origin, action.addressee, action.decided_by)
        if actor is not None
    ]
    book = Book(next((action.thread.workspace_id for action in actions.values()), None), actors)
    names = names_of(*actors) if actors else {}
    return [_action_item(actions[id], calls, viewer, book, names) for id in ids if id in actions]


def open_actions(thread_id: UUID) -> Iterable[Ref]:
    """Return the actions of a thread that its page always shows: those that wait for someone, or for their turn."""
    waiting = PendingAction.objects.filter(thread_id=thread_id, state=_OPEN)
    approved = PendingAction.objects.filter(NOT_BEGUN, thread_id=thread_id)
    yield from (("action", id) for id in (waiting | approved).order_by("number").values_list("pk", flat=True))


def actions_of_calls(calls: Sequence[UUID]) -> Iterable[Ref]:
    """Return the actions whose steps some calls of one turn are."""
    turns = Call.objects.filter(pk__in=calls).values("turn")
    yield from (("action", id) for id in PendingAction.objects.filter(turn__in=turns).values_list("pk", flat=True))


def touched(row: EventRow, fact: Any) -> Iterable[Ref]:
    """Return what an event about an action touches."""
    yield ("action", fact.action)


def of_asked_calls(facts: Sequence[Any]) -> list[list[Ref]]:
    """A call that ended may be a step of an action, whose card tells what became of it; in one query."""
    turns = dict(Call.objects.filter(pk__in=[fact.call for fact in facts]).values_list("pk", "turn"))
    actions = PendingAction.objects.filter(turn__in=set(turns.values()))
    refs: dict[UUID, list[Ref]] = {}
    for id, turn in actions.values_list("pk", "turn"):
        refs.setdefault(turn, []).append(("action", id))
    return [refs.get(turns[fact.call], []) if fact.call in turns else [] for fact in facts]


def of_action_calls(facts: Sequence[Any]) -> list[list[Ref]]:
    """An action's end settles the calls that are its steps."""
    steps = dict(PendingAction.objects.filter(pk__in=[fact.action for fact in facts]).values_list("pk", "steps"))
    return [[("call", UUID(step["call"])) for step in steps.get(fact.action, [])] for fact in facts]


def _action_item(
    action: PendingAction, calls: Mapping[str, Call], viewer: Actor | None, book: Book, names: Mapping[UUID, str]
) -> Item:
    state = "failed" if _has_failed(action) else action.state
    return {
        "item": "action",
        "id": str(action.pk),
        "number": action.number,
        "seq": action.seq,
        "turn": str(action.turn_id),
        "state": state,
        "title": _title(action, names),
        "text": action.text,
        "steps": [_step(step, calls.get(step["call"]), is_theirs=viewer == action.addressee) for step in action.steps],
        "origin": book.json(action.origin),
        "from": phrases.told(action.origin, names),
        "for": book.json(action.addressee),
        "asked_at": action.asked_at.isoformat(),
        "expires_at": action.expires_at.isoformat(),
        "decided_by": book.json(action.decided_by),
        "decided_at": action.decided_at and action.decided_at.isoformat(),
        "reason": action.reason,
        "approved_turn": action.approved_turn_id and str(action.approved_turn_id),
        "may": _may(action, viewer, names),
    }


def _has_failed(action: PendingAction) -> bool:
    """Approved, and ended without its turn: whoever approved it might not start one any more."""
    approved = action.state == PendingAction.State.APPROVED
    return approved and action.approved_turn_id is None and action.start_by is None


def _title(action: PendingAction, names: Mapping[UUID, str]) -> str:
    number = len(action.steps)
    agent = names.get(action.turn.agent_id, phrases.GONE_NAME)
    steps = "1 step" if number == 1 else f"{number} steps"
    return f"{agent} asks {phrases.told(action.addressee, names)} to approve {steps}"


def _step(step: Mapping[str, Any], call: Call | None, *, is_theirs: bool) -> dict[str, Any]:
    return {
        "call": step["call"],
        "tool": step["tool"],
        "label": step["label"],
        "text": step["text"],
        "parts": step.get("parts", []),
        "arguments": step["arguments"],
        "outcome": call.outcome if call else None,
        "reason": call.reason if call else "",
        "because": call.because if call else "",
        "result": call.result if call and (is_theirs or call.shared_at) else None,
    }


def _may(action: PendingAction, viewer: Actor | None, names: Mapping[UUID, str]) -> dict[str, Any]:
    ok, because = False, f"Only {phrases.told(action.addressee, names)} may answer A{action.number}."
    if viewer == action.addressee and isinstance(viewer, Person):
        ok = action.state == _OPEN and action.thread.archived_at is None
        because = f"A{action.number} is addressed to you." if ok else f"A{action.number} is over."
    decision = {"ok": ok, "because": because}
    return {"approve": decision, "decline": decision}
