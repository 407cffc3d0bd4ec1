"""True replies made untrue, one change at a time, and how many the check catches (REPLIES, Targets)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agents.replies.cases import Case, writes_of
from agents.replies.check import check
from agents.replies.judging import Judge
from agents.replies.known import Known
from agents.replies.mending import Setting
from agents.replies.record import CallRecord, Outcome, Record
from agents.replies.spans import Span, spans_of
from agents.replies.values import Value

FLIPS: Sequence[Outcome] = ("failed", "refused", "pending_confirmation", "unknown")


@dataclass(frozen=True)
class Mutant:
    """A case with one thing wrong: ``kind`` names what."""

    kind: str
    case: Case


@dataclass(frozen=True)
class Detection:
    """Of one kind of mutant: how many there were, and in how many the reply was changed."""

    kind: str
    caught: int
    of: int


def detections(cases: Sequence[Case], setting: Setting) -> list[Detection]:
    """Return the table of detection over the replies of turns that did a write."""
    counts: dict[str, list[int]] = {}
    for case in cases:
        if check(case.reply, case.record, setting).rulings:
            continue
        for mutant in mutants(case, setting):
            tally = counts.setdefault(mutant.kind, [0, 0])
            tally[0] += bool(check(mutant.case.reply, mutant.case.record, setting).rulings)
            tally[1] += 1
    return [Detection(kind, caught, of) for kind, (caught, of) in sorted(counts.items())]


def mutants(case: Case, setting: Setting) -> Iterator[Mutant]:
    """Yield a case's mutants: outcomes flipped, calls dropped, and values of the tied block changed."""
    writes = writes_of(case, setting)
    for call in writes:
        for outcome in FLIPS:
            yield Mutant(f"outcome {outcome}", Case(case.reply, _with(case.record, call, outcome)))
        yield Mutant(
            "call dropped",
            Case(case.reply, Record([c for c in case.record.calls if c is not call], case.record.earlier)),
        )
    if writes:
        for kind, reply in _changed_values(case, setting):
            yield Mutant(f"{kind} changed", Case(reply, case.record))


def _with(record: Record, call: CallRecord, outcome: Outcome) -> Record:
    flipped = replace(call, outcome=outcome, result=None)
    return Record([flipped if other is call else other for other in record.calls], record.earlier)


def _changed_values(case: Case, setting: Setting) -> Iterator[tuple[str, str]]:
    known = Known(case.record, setting.words)
    spans = spans_of(case.reply)
    in_block = False
    for span, judgement in zip(spans, Judge(known).judge(spans), strict=True):
        in_block = judgement.is_tied or (in_block and span.kind in {"item", "row", "blank"})
        if in_block and not span.text.rstrip().endswith("?"):
            yield from _of_span(case.reply, span)


def _of_span(reply: str, span: Span) -> Iterator[tuple[str, str]]:
    folded = span.folded
    for value in span.values:
        if value.kind == "suffix" and value.unit:
            continue
        start, end = (span.start + span.marker + folded.at(place) for place in (value.start, value.end))
        changed = _changed(value, reply[start:end])
        if changed != reply[start:end]:
            yield value.kind, reply[:start] + changed + reply[end:]


def _changed(value: Value, text: str) -> str:
    """Return a value's text with another of its kind in its place."""
    if value.kind == "date":
        return re.sub(
            r"(?<![\d])(\d{1,2})(?=\D*$|(?:st|nd|rd|th)?,? \d{4}$)",
            lambda day: str(int(day[1]) % 27 + 1).zfill(len(day[1])),
            text,
            count=1,
        )
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    if digits:
        place = digits[len(digits) // 2]
        return f"{text[:place]}{(int(text[place]) + 3) % 9 + 1}{text[place + 1 :]}"
    return f"{text[:-1]}{'Q' if text[-1:] != 'Q' else 'K'}"
