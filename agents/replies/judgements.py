"""What is found in a span: what it speaks of, and what is untrue in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.replies.acts import Reading
from agents.replies.record import CallRecord
from agents.replies.ties import Tie
from agents.replies.values import Value


@dataclass(frozen=True)
class Fault:
    """Something untrue in a span: which rule it breaks, and the call whose phrasing takes its place."""

    rule: str
    tool: str
    call: CallRecord | None


@dataclass(frozen=True)
class Tied:
    """A reading with the tools it means.

    Attributes:
        identifiers: of its own words, else of its clause.
        values: of its own words.
    """

    reading: Reading
    tie: Tie
    identifiers: tuple[str, ...]
    values: Sequence[Value]


@dataclass
class Judgement:
    """What was found in a span.

    Attributes:
        faults: what is untrue in it.
        covers: the calls it tells of.
        stated: the readings that state outcomes, with the calls whose they are.
        is_tied: it speaks of a write tool, or of what this turn did.
    """

    faults: list[Fault] = field(default_factory=list)
    covers: list[CallRecord] = field(default_factory=list)
    stated: list[tuple[Tied, list[CallRecord]]] = field(default_factory=list)
    is_tied: bool = False
    language: str = ""
