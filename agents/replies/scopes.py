"""Which words, identifiers and values belong to a verb (REPLIES 5)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.replies.acts import Reading
from agents.replies.spans import Span
from agents.replies.tokens import Tokens
from agents.replies.values import Value


def scope_of(tokens: Tokens, readings: Sequence[Reading], place: int) -> tuple[int, int]:
    """Return the words that belong to a verb: from the one before it in its clause to the one behind it."""
    reading = readings[place]
    low, high = reading.clause.start, reading.clause.end
    if place and readings[place - 1].at >= low:
        low = min(_between_verbs(tokens, readings[place - 1], reading), reading.group)
    if low == reading.group == reading.clause.start and low > 1 and tokens.words[low - 1] == ":":
        # "Refund: done": the label says what.
        low = next((clause.start for clause in tokens.clauses if clause.start <= low - 2 < clause.end), low)
    if place + 1 < len(readings) and reading.at < readings[place + 1].group < high:
        high = _between_verbs(tokens, reading, readings[place + 1])
    return low, high


def _between_verbs(tokens: Tokens, first: Reading, second: Reading) -> int:
    links = (
        place for place in range(second.group - 1, first.at, -1) if tokens.words[place] in {"and", "or", "but", ","}
    )
    return next(links, max(second.group, first.at + 1))


def identifiers_of(
    tokens: Tokens, values: Sequence[Value], scope: tuple[int, int], reading: Reading, *, alone: bool
) -> tuple[str, ...]:
    """Return the identifiers a verb's own words hold, or its clause, or a sentence with no other verb."""
    ranges = [scope, (reading.clause.start, reading.clause.end)]
    ranges += [(0, len(tokens.words))] if alone else []
    for start, end in ranges:
        if start >= end:
            continue
        first, last = tokens.starts[start], tokens.ends[end - 1]
        found = tuple(str(value.key) for value in values if value.kind == "identifier" and first <= value.start < last)
        if found:
            return found
    return ()


def listed(spans: Sequence[Span], place: int) -> tuple[str, ...]:
    """Return the identifiers of the list that a span ending in a colon leads."""
    found: list[str] = []
    for span in spans[place + 1 : place + 60]:
        if span.kind == "blank":
            continue
        if span.kind not in {"item", "row"}:
            break
        found += [str(value.key) for value in span.values if value.kind == "identifier"]
    return tuple(found)


def between(values: Sequence[Value], tokens: Tokens, low: int, high: int) -> list[Value]:
    """Return the values that stand in a stretch of words."""
    if low >= high:
        return []
    first, last = tokens.starts[low], tokens.ends[high - 1]
    return [value for value in values if first <= value.start < last]
