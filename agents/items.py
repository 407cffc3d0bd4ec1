"""Items of turns, calls and questions: the full current view of each, as its viewer may read it (docs/protocol.md).

A builder takes ids and returns items in the same order, in a number of queries that does not grow with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.models.turns import Call, Question, Turn
from agents.tools.registry import label_of
from agents.turns.ending import acting
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
    return [_turn_item(turns[id], book) for id in ids if id in turns]


def call_items(viewer: Actor | None, ids: Sequence[UUID]) -> list[Item]:
    """Build the items of calls: name and outcome for everyone, arguments and result for the turn's own person, and for
    everyone once they shared them (DESIGN 6, What the model sees)."""
    found = Call.objects.filter(pk__in=ids).select_related("turn__thread").defer("turn__history")
    calls = {call.id: call for call in found}
    shared = [call for call in calls.values() if call.shared_by]
    book = _book((call.turn for call in shared), (call.shared_by for call in shared))
    return [_call_item(calls[id], viewer, book) for id in ids if id in calls]


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
    yield from (("turn", id) for id in (fact.resumes, fact.continues) if id is not None)
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
    "call_started": lambda row, fact: [("call", fact.call)],
    "call_ended": lambda row, fact: [("call", fact.call)],
    "call_shared": lambda row, fact: [("call", fact.call)],
}
"""Which entities each event of this app touches."""

LOOKED_UP: Mapping[str, Callable[[Sequence[Any]], list[list[Ref]]]] = {"turn_ended": _of_ended_turns}
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
        "reason": turn.reason,
        "because": turn.because,
        "started_at": turn.started_at.isoformat(),
        "ended_at": turn.ended_at and turn.ended_at.isoformat(),
        "stop_asked_by": book.json(turn.stop_asked_by),
        "text": turn.text,
        "html": blocks(turn.text) if turn.text else [],
    }


def _call_item(call: Call, viewer: Actor | None, book: Book) -> Item:
    own = viewer is not None and call.turn.principal is not None and same_author(viewer, call.turn.principal)
    told = own or call.shared_at is not None
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


def _brief(call: Call) -> str:
    """What a call was about, in a few words: what its result says of itself, or what it was asked for."""
    result = json.loads(call.result) if call.result else None
    if isinstance(result, dict) and isinstance(result.get("title"), str):
        version = f", version {result['version']}" if isinstance(result.get("version"), int) else ""
        return f"{result['title']}{version}"[:BRIEF_CHARS]
    if isinstance(result, list):
        return f"{len(result)} found"
    return call.args[:BRIEF_CHARS] if call.args not in {"{}", ""} else ""


def _book(turns: Iterable[Turn], actors: Iterable[Actor | None]) -> Book:
    """The turns are of one thread, so of one workspace."""
    return Book(next((turn.thread.workspace_id for turn in turns), None), actors)


def _text(id: UUID | None) -> str | None:
    return None if id is None else str(id)
