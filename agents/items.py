"""Items of turns, calls and questions: the full current view of each, as its viewer may read it (docs/protocol.md).

A builder takes ids and returns items in the same order, in a number of queries that does not grow with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.action_items import of_action_calls, of_asked_calls, open_actions, touched
from agents.models.agents import Agent
from agents.models.sources import Route
from agents.models.turns import Call, Question, Turn
from agents.tools.registry import TOOLS, label_of
from agents.tools.whose import whose
from agents.turns.ending import acting
from agents.turns.inflight import policy_of
from collab.reads import EventRow, Item, Ref
from collab.web.actors import Book
from collab.web.markdown import blocks
from permissions.actors import Actor, same_author

BRIEF_CHARS = 120


def turn_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of turns."""
    turns = {turn.id: turn for turn in Turn.objects.filter(pk__in=ids).select_related("thread").defer("history")}
    actors = [actor for turn in turns.values() for actor in (acting(turn), turn.origin, turn.stop_asked_by)]
    book = _book(turns.values(), actors)
    policies = _policies(turns.values())
    return [{**_turn_item(turns[id], book), "in_flight": policies.get(id, "")} for id in ids if id in turns]


def call_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of calls: name and outcome for everyone, arguments and result for the turn's own person, and for
    everyone once they shared them (DESIGN 6, What the model sees)."""
    found = Call.objects.filter(pk__in=ids).select_related("turn__thread", "carried_by")
    calls = {call.id: call for call in found.defer("turn__history", "carried_by__history")}
    gone = _gone([call for call in calls.values() if call.gone_at])
    shared = [call for call in calls.values() if call.shared_by]
    book = _book((call.turn for call in shared), (call.shared_by for call in shared))
    return [{**_call_item(calls[id], viewer, book), "gone": gone.get(id)} for id in ids if id in calls]


def question_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of questions."""
    found = Question.objects.filter(pk__in=ids).select_related("turn__thread").defer("turn__history")
    questions = {question.id: question for question in found}
    book = _book(
        (question.turn for question in questions.values()), (question.answered_by for question in questions.values())
    )
    return [_question_item(questions[id], book) for id in ids if id in questions]


def standing(thread_id: UUID) -> Iterable[Ref]:
    """Return what a thread's page always shows of this app: the turn that runs or is paused, with what it did."""
    yield from open_actions(thread_id)
    unfinished = Turn.objects.filter(thread_id=thread_id, status__in=["running", "paused"], resumed_by=None)
    for id in unfinished.order_by("seq").values_list("id", flat=True):
        yield from _whole_turn(id)


def _whole_turn(id: UUID) -> Iterable[Ref]:
    yield ("turn", id)
    yield from (("call", call) for call in Call.objects.filter(turn=id).order_by("number").values_list("id", flat=True))
    yield from (("question", found) for found in Question.objects.filter(turn=id).values_list("id", flat=True))


def _of_the_turn(row: EventRow, _: Any) -> Iterable[Ref]:
    if row.turn_id is not None:
        yield ("turn", row.turn_id)


def _started(row: EventRow, fact: Any) -> Iterable[Ref]:
    yield from _of_the_turn(row, fact)
    yield from (("turn", id) for id in (fact.resumes, fact.continues, fact.restarts, fact.revises) if id is not None)
    yield from (("message", id) for id in fact.took)


def _ended(row: EventRow, fact: Any) -> Iterable[Ref]:
    yield ("turn", fact.turn)
    if fact.message is not None:
        yield ("message", fact.message)


def _of_ended_turns(facts: Sequence[Any]) -> list[list[Ref]]:
    """A turn's end settles what it left open: all that it called and asked."""
    refs: dict[UUID, list[Ref]] = {fact.turn: [] for fact in facts}
    for turn, id in Call.objects.filter(turn__in=refs).order_by("number").values_list("turn", "id"):
        refs[turn].append(("call", id))
    for turn, id in Question.objects.filter(turn__in=refs).values_list("turn", "id"):
        refs[turn].append(("question", id))
    return [refs[fact.turn] for fact in facts]


def _paused(row: EventRow, fact: Any) -> Iterable[Ref]:
    yield from _of_the_turn(row, fact)
    yield from (("question", id) for id in fact.questions)


def _answered(row: EventRow, fact: Any) -> Iterable[Ref]:
    yield from (("question", id) for id in fact.questions)
    if fact.message is not None:
        yield ("message", fact.message)


TOUCHED: Mapping[str, Callable[[EventRow, Any], Iterable[Ref]]] = {
    "turn_started": _started,
    "turn_ended": _ended,
    "turn_paused": _paused,
    "question_answered": _answered,
    "action_asked": touched,
    "action_resolved": touched,
    "call_started": lambda row, fact: [("call", fact.call)],
    "call_ended": lambda row, fact: [("call", fact.call)],
    "call_shared": lambda row, fact: [("call", fact.call)],
    "call_repeat_allowed": lambda row, fact: [("call", fact.call)],
}
"""Which entities each event of this app touches."""

LOOKED_UP: Mapping[str, Callable[[Sequence[Any]], list[list[Ref]]]] = {
    "turn_ended": _of_ended_turns,
    "call_ended": of_asked_calls,
    "action_asked": of_action_calls,
    "action_resolved": of_action_calls,
}
"""Which it touches beside those it names."""


def _turn_item(turn: Turn, book: Book) -> Item:
    return {
        "item": "turn",
        "id": str(turn.id),
        "number": turn.number,
        "seq": turn.seq,
        "status": turn.status,
        "trigger": turn.trigger,
        "origin": book.json(turn.origin),
        "for": book.json(turn.on_behalf_of),
        "agent": book.json(acting(turn)),
        "resumes": _text(turn.resumes_id),
        "continues": _text(turn.continues_id),
        "restarts": _text(turn.restarts_id),
        "revises": _text(turn.revises_id),
        "reason": turn.reason,
        "because": turn.because,
        "started_at": turn.started_at.isoformat(),
        "ended_at": turn.ended_at and turn.ended_at.isoformat(),
        "stop_asked_by": book.json(turn.stop_asked_by),
        "text": turn.text,
        "html": blocks(turn.text) if turn.text else [],
    }


def _policies(turns: Iterable[Turn]) -> dict[UUID, str]:
    """Return what input that adds does to those turns that run and that it can do anything to."""
    running = [turn for turn in turns if turn.status == Turn.Status.RUNNING and turn.trigger != Turn.Trigger.APPROVAL]
    agents = Agent.objects.in_bulk({turn.agent_id for turn in running})
    found = ((turn.id, agents[turn.agent_id]) for turn in running if turn.agent_id in agents)
    return {id: "classify" if agent.classify else policy_of(agent) for id, agent in found}


def _call_item(call: Call, viewer: Actor | None, book: Book) -> Item:
    told = call.shared_at is not None or _is_of(call, viewer)
    return {
        "item": "call",
        "id": str(call.id),
        "turn": str(call.turn_id),
        "number": call.number,
        "tool": call.tool,
        "label": label_of(call.tool),
        "outcome": call.outcome,
        "reason": call.reason,
        "because": call.because,
        "args": call.args if told else None,
        "result": call.result if told else None,
        "brief": _brief(call) if told else None,
        "can": _can(call),
        "whose": [str(one.id) for one in whose(call)],
        "shared": {"by": book.json(call.shared_by), "at": call.shared_at.isoformat()} if call.shared_at else None,
    }


def _question_item(question: Question, book: Book) -> Item:
    return {
        "item": "question",
        "id": str(question.id),
        "turn": str(question.turn_id),
        "text": question.text,
        "choices": question.choices,
        "state": "answered" if question.answered_at else "dismissed" if question.dismissed else "open",
        "answer": question.answer if question.answered_at else None,
        "answered_by": book.json(question.answered_by),
        "at": (question.answered_at or question.asked_at).isoformat(),
    }


def _is_of(call: Call, viewer: Actor | None) -> bool:
    """Whether a call is the viewer's: their turn made it, or the turn in which they approved it ran it."""
    turns = (call.turn, call.carried_by)
    whom = [turn.principal for turn in turns if turn is not None and turn.principal is not None]
    return viewer is not None and any(same_author(viewer, principal) for principal in whom)


def _can(call: Call) -> dict[str, bool]:
    """What can be done about a call: by anyone who sees it (check), or by those whose it is."""
    tool, unknown = TOOLS.get(call.called_as), call.outcome == Call.Outcome.UNKNOWN
    return {
        "check": unknown and tool is not None and tool.lookup is not None,
        "repeat": unknown and call.repeat_by is None,
        "undo": call.outcome == Call.Outcome.DONE and tool is not None and tool.undo is not None
        and call.undone_by is None and call.gone_at is None,
    }  # fmt: skip


def _gone(calls: Sequence[Call]) -> dict[UUID, Item]:
    """Return, for calls whose effect is gone, which source says so and since when; nothing is read where there are
    none."""
    says = Route.objects.filter(call__in=calls).select_related("source") if calls else ()
    names = {route.call_id: route.source.label for route in says}
    return {
        call.id: {"says": names.get(call.id, "a source"), "at": call.gone_at.isoformat()}
        for call in calls
        if call.gone_at
    }


def _brief(call: Call) -> str:
    """What a call was about, in a few words: what its result says of itself, or what it was asked for."""
    result = json.loads(call.result) if call.result else None
    if isinstance(result, dict) and isinstance(result.get("title"), str):
        version = f", version {result['version']}" if isinstance(result.get("version"), int) else ""
        return f"{result['title']}{version}"[:BRIEF_CHARS]
    if isinstance(result, list):
        return f"{len(result)} found"
    return _in_words(call.args)[:BRIEF_CHARS]


def _in_words(args: str) -> str:
    """Arguments by name, what was left empty left out; as they were written where they are no object."""
    try:
        given = json.loads(args or "{}")
    except ValueError:
        return args
    if not isinstance(given, dict):
        return args
    told = {name: value for name, value in given.items() if value not in (None, "", [], {})}
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in told.items())


def _value(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _book(turns: Iterable[Turn], actors: Iterable[Actor | None]) -> Book:
    """The turns are of one thread, so of one workspace."""
    return Book(next((turn.thread.workspace_id for turn in turns), None), actors)


def _text(id: UUID | None) -> str | None:
    return None if id is None else str(id)
