"""How many deliveries are taken, kept in memory so that one that is refused costs the database nothing (D14). Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

MOST_KEPT = 10_000
"""Whose rates are kept at once; the one heard of longest ago is forgotten first."""


class Rates:
    """So many at once for each key, and as many again in each minute."""

    def __init__(self, *, most: int = MOST_KEPT) -> None:
        self._most = most
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, key: Hashable, *, per_minute: int, now: float) -> float:
        """Count one more and return 0, or, counting nothing, the seconds until one more is taken.

        Args:
            per_minute: how many; 0 takes none.
            now: seconds of a clock that never goes back.
        """
        if per_minute <= 0:
            return 60.0
        left, at = self._left.pop(key, (float(per_minute), now))
        left = min(per_minute, left + (now - at) * per_minute / 60)
        taken = left >= 1
        self._left[key] = (left - taken, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return 0.0 if taken else (1 - left) * 60 / per_minute
