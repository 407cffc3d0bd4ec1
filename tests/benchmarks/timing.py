"""Timing calls that are short: alternately, so that a busy moment of the machine strikes all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

WARM_UP = 20


def alternately(
    calls: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = WARM_UP
) -> dict[str, list[float]]:
    """Call each once a round, and return how long each took, in ms, without the first rounds."""
    took: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(warm_up + rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if number >= warm_up:
                took[name].append((time.perf_counter() - start) * 1e3)
    return took
