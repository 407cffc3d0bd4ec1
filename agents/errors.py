"""What agents refuses or gives up on, each with a stable code."""

from __future__ import annotations


class AgentsError(Exception):
    """The agent could not go on."""

    code = "failed"

    def __init__(self, because: str = "") -> None:
        self.because = because or (self.__doc__ or "").strip()
        super().__init__(self.because)


class LeaseLost(AgentsError):
    """Another process took this thread over; this one writes nothing more."""

    code = "lease_lost"


class LimitReached(AgentsError):
    """The turn reached its limit."""

    code = "limit"
