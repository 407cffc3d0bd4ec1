"""How often a client may ask, and what it is told of that (DESIGN 9, Limits; draft-ietf-httpapi-ratelimit-headers).

Kept in memory, so each process counts for itself: what is refused costs the database nothing.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

MOST_KEPT = 10_000
"""Whose counts are kept at once; the one heard of longest ago is forgotten first."""

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How many requests of a kind a client may make within a minute."""

    name: str
    limit: int


READS = Policy("reads", 600)
COMMANDS = Policy("commands", 100)
STREAMS = Policy("streams", 30)


@dataclass(frozen=True, slots=True)
class Spent:
    """One request counted: what is left, the seconds until all of it is given back, and the seconds to wait where this
    one was too many (else 0)."""

    policy: Policy
    left: int
    reset: int
    wait: float

    @property
    def headers(self) -> dict[str, str]:
        """What an answer says of it."""
        policy = self.policy
        return {
            "RateLimit-Policy": f'"{policy.name}";q={policy.limit};w={int(SECONDS)}',
            "RateLimit": f'"{policy.name}";r={self.left};t={self.reset}',
        }


class Quotas:
    """The counts of one process; used from several threads."""

    def __init__(self, *, most: int = MOST_KEPT) -> None:
        self._most = most
        self._begun: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def spend(self, who: Hashable, policy: Policy, now: float) -> Spent:
        """Count one request, or, where it is too many, say how long to wait and count nothing.

        Args:
            now: seconds of a clock that never goes back.
        """
        with self._lock:
            used, since = self._begun.pop((policy, who), (0, now))
            if now - since >= SECONDS:
                used, since = 0, now
            fits = used < policy.limit
            used += fits
            self._begun[policy, who] = (used, since)
            if len(self._begun) > self._most:
                self._begun.popitem(last=False)
        remaining = since + SECONDS - now
        return Spent(policy, policy.limit - used, math.ceil(remaining), 0.0 if fits else remaining)
