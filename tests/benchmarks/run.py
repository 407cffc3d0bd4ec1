"""One run of one figure: what it was asked for, and where it is measured."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.server import Server, serving


@dataclass(frozen=True, slots=True)
class Run:
    """How a figure is measured: on which database, and whether quickly, to see that it works."""

    database: str
    quick: bool

    def size(self, full: int, quick: int) -> int:
        """Return how much to measure."""
        return quick if self.quick else full

    @contextmanager
    def accord(self, **variables: str) -> Iterator[Server]:
        """Serve Accord from a process of its own, on this run's database."""
        with serving({**os.environ, **variables}) as server:
            yield server
