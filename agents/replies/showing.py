"""How a reply is read and held to its record, span by span, for whoever edits the words (REPLIES, The check). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agents.replies.check import check
from agents.replies.judgements import Judgement, Tied
from agents.replies.judging import Judge, TooMuch
from agents.replies.known import Known
from agents.replies.mending import Ruling, Setting
from agents.replies.record import CallRecord, Record
from agents.replies.spans import Span, spans_of
from agents.replies.tokens import Tokens

MOST_SPANS = 300
"""Spans of one reply that are shown."""


@dataclass(frozen=True)
class ReadingShown:
    """What one verb says: of which tools, tied to which calls."""

    word: str
    act: str
    tools: tuple[str, ...]
    calls: tuple[str, ...]


@dataclass(frozen=True)
class FaultShown:
    """A rule that a span breaks, and what its place is given to: a call, or a tool nobody called."""

    rule: str
    tool: str
    call: str


@dataclass(frozen=True)
class SpanShown:
    """A span with everything that was found in it."""

    kind: str
    text: str
    language: str
    readings: tuple[ReadingShown, ...]
    faults: tuple[FaultShown, ...]


@dataclass(frozen=True)
class Shown:
    """A reply as it is read, and as it may be shown.

    Attributes:
        left_off: spans that are not listed, since there are too many.
        is_read: False when it speaks of too many actions to be read, and is replaced whole.
    """

    spans: tuple[SpanShown, ...]
    left_off: int
    is_read: bool
    text: str
    rulings: tuple[Ruling, ...]


def shown(text: str, record: Record, setting: Setting) -> Shown:
    """Return how a reply is read, and what the check makes of it."""
    spans = spans_of(text)
    judge = _Watched(Known(record, setting.words), setting)
    judgements: list[Judgement] = []
    with suppress(TooMuch):
        judgements = judge.judge(spans)
    found = [pair for pair in zip(spans, judgements, strict=False) if pair[0].kind != "blank"]
    told = tuple(
        _span(span, judgement, judge.tied.get(span.start, ()), record) for span, judgement in found[:MOST_SPANS]
    )
    checked = check(text, record, setting)
    is_read = bool(judgements) or not spans
    return Shown(told, len(found) - len(told), is_read, checked.text, checked.rulings)


class _Watched(Judge):
    """A judge that keeps what it read, by where each span begins."""

    def __init__(self, known: Known, setting: Setting) -> None:
        super().__init__(known, setting.derived)
        self.tied: dict[int, list[tuple[str, Tied]]] = {}

    def _tied(self, tokens: Tokens, span: Span) -> Iterator[Tied]:
        for one in super()._tied(tokens, span):
            self.tied.setdefault(span.start, []).append((tokens.words[one.reading.at], one))
            yield one


def _span(span: Span, judgement: Judgement, tied: Sequence[tuple[str, Tied]], record: Record) -> SpanShown:
    stated = [(one, tuple(_named(call, record) for call in calls)) for one, calls in judgement.stated]
    readings = tuple(
        ReadingShown(
            word, one.reading.act.replace("_", " "), one.tie.tools,
            next((calls for stating, calls in stated if stating is one), ()),
        )
        for word, one in tied
    )  # fmt: skip
    faults = tuple(
        FaultShown(fault.rule, fault.tool, _named(fault.call, record) if fault.call else "")
        for fault in judgement.faults
    )
    return SpanShown(span.kind, span.text.strip(), judgement.language, readings, faults)


def _named(call: CallRecord, record: Record) -> str:
    """Return what a call is called beside the record: "call 2" of the turn, or "earlier call 1" of the thread."""
    for place, one in enumerate(record.calls, 1):
        if one is call:
            return f"call {place} ({call.outcome.replace('_', ' ')})"
    place = next(place for place, one in enumerate(record.earlier, 1) if one is call)
    return f"earlier call {place} ({call.outcome.replace('_', ' ')})"
