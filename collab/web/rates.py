"""How often something may happen (DESIGN 9, Limits). Pure."""

from __future__ import annotations

from collections import deque


class Window:
    """At most ``limit`` times within any ``seconds``."""

    def __init__(self, limit: int, seconds: float) -> None:
        self.limit = limit
        self.seconds = seconds
        self._times: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Count one more at ``now`` (seconds of any clock) and return 0, or, counting nothing, the seconds to wait."""
        while self._times and self._times[0] <= now - self.seconds:
            self._times.popleft()
        if len(self._times) >= self.limit:
            return self._times[0] + self.seconds - now
        self._times.append(now)
        return 0.0
