"""The names of sources, which have no account: whoever keeps their rows says them (DESIGN 3).

The upper app registers how it reads them; nothing here knows what a source is a row of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Sender:
    """What is said of a source: its name, and by what its input is known to be its own (``signature``)."""

    name: str
    verified: str


Reads = Callable[[Iterable[UUID]], Mapping[UUID, Sender]]
"""Returns the senders among some ids, in a number of queries that does not grow with them."""

_READS: list[Reads] = []


def register(reads: Reads) -> None:
    """Add a way to read senders. Registering again changes nothing."""
    if reads not in _READS:
        _READS.append(reads)


def senders_of(ids: Iterable[UUID]) -> dict[UUID, Sender]:
    """Return the senders among some ids; nothing is read where there are no ids."""
    left = set(ids)
    found: dict[UUID, Sender] = {}
    for reads in _READS:
        if left:
            found |= reads(left)
            left -= found.keys()
    return found
