"""What a turn, and a person's day, may cost (DESIGN 6; FAILURES J3, J4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from django.db.models import Count, F, Sum

from agents.errors import LimitReached
from agents.models.agents import Agent
from agents.models.turns import Turn
from permissions.actors import Principal


@dataclass(slots=True)
class Spent:
    """What a running turn has used: model requests, calls, tokens, and the seconds since ``began``."""

    agent: Agent
    began: float
    steps: int = 0
    calls: int = 0
    tokens: int = 0

    @classmethod
    def by(cls, agent: Agent) -> Spent:
        """Begin to count, from this moment."""
        return cls(agent, monotonic())

    @property
    def seconds_left(self) -> float:
        """Seconds until the turn's time is up; never negative."""
        return max(0.0, self.began + self.agent.max_seconds - monotonic())

    def require_step(self) -> None:
        """Count one more model request.

        Raises:
            LimitReached: it would be one too many, or the tokens or the time are used up.
        """
        self.steps += 1
        if self.steps > self.agent.max_steps:
            raise LimitReached(f"The turn reached its limit of {self.agent.max_steps} steps.")
        if self.tokens >= self.agent.max_tokens:
            raise LimitReached(f"The turn reached its limit of {self.agent.max_tokens:,} tokens.")
        if not self.seconds_left:
            raise self.out_of_time()

    def require_call(self) -> None:
        """Count one more call.

        Raises:
            LimitReached: it would be one too many.
        """
        self.calls += 1
        if self.calls > self.agent.max_calls:
            raise LimitReached(f"The turn reached its limit of {self.agent.max_calls} calls.")

    def out_of_time(self) -> LimitReached:
        """Return the error that says the turn's time is up."""
        return LimitReached(f"The turn reached its limit of {self.agent.max_seconds} seconds.")


def day_refusal(agent: Agent, acts_for: Principal | None, now: datetime) -> str:
    """Return why no further turn may start today (UTC) for a principal, or an empty text when one may."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    used = Turn.objects.filter(on_behalf_of=acts_for, agent_id=agent.pk, started_at__gte=midnight).aggregate(
        turns=Count("id"), tokens=Sum(F("input_tokens") + F("output_tokens"))
    )
    if used["turns"] >= agent.turns_a_day:
        return f"Today's {agent.turns_a_day:,} turns are used up; the next day begins at 00:00 UTC."
    if (used["tokens"] or 0) >= agent.tokens_a_day:
        return f"Today's {agent.tokens_a_day:,} tokens are used up; the next day begins at 00:00 UTC."
    return ""
