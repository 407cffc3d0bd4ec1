"""What a benchmark says: a number, what it was held against in the same run, and whether that is good enough.

Pure. Absolute times belong to one machine at one moment; what travels is the ratio of two of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

TEXT = {"at most": "≤", "at least": "≥"}


@dataclass(frozen=True, slots=True)
class Target:
    """What a result is held to: its ``ratio`` or its ``value``, ``at most`` or ``at least`` a limit."""

    of: str
    bound: str
    limit: float

    def holds(self, value: float, ratio: float | None) -> bool:
        """Say whether a result meets it."""
        held = ratio if self.of == "ratio" else value
        if held is None:
            return False
        return held <= self.limit if self.bound == "at most" else held >= self.limit

    def text(self, unit: str) -> str:
        """Write it as the tables do."""
        return f"{TEXT[self.bound]} {self.limit:g}{' ×' if self.of == 'ratio' else f' {unit}'.rstrip()}"


@dataclass(frozen=True, slots=True)
class Result:
    """One measured number.

    Attributes:
        name: what was measured, in words.
        value: the number, None when it was not measured; ``note`` then says why.
        reference: what it is compared with, measured in the same run, and ``against`` says what that is.
    """

    name: str
    value: float | None
    unit: str
    reference: float | None = None
    against: str = ""
    target: Target | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The value in terms of the reference, None without one."""
        if self.value is None or not self.reference:
            return None
        return self.value / self.reference

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one, or without a number."""
        if self.target is None or self.value is None or (self.target.of == "ratio" and self.ratio is None):
            return None
        return self.target.holds(self.value, self.ratio)

    def json(self) -> dict[str, Any]:
        """Return everything, with what follows from it, for the stored results."""
        row = asdict(self)
        row["target"] = self.target.text(self.unit) if self.target else None
        for name in ("value", "reference"):
            row[name] = None if row[name] is None else rounded(row[name])
        return {**row, "ratio": None if self.ratio is None else rounded(self.ratio), "met": self.met}


def ratio_at_most(limit: float) -> Target:
    """Hold the ratio to at most a limit."""
    return Target("ratio", "at most", limit)


def ratio_at_least(limit: float) -> Target:
    """Hold the ratio to at least a limit."""
    return Target("ratio", "at least", limit)


def at_most(limit: float) -> Target:
    """Hold the value itself to at most a limit."""
    return Target("value", "at most", limit)


def p50(samples: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(samples)


def p95(samples: Sequence[float]) -> float:
    """Return the value that 95 in 100 samples do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def rounded(value: float) -> float:
    """Keep three significant digits, and whole numbers whole."""
    if value == int(value) or abs(value) >= 1_000:
        return round(value)
    return float(f"{value:.3g}")
