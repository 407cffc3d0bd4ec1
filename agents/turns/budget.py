"""What a turn, and a person's day, may cost (DESIGN 6; FAILURES J3, J4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from uuid import UUID

from django.db.models import BigIntegerField, Count, F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

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


def agent_today(agent_id: UUID | None, acts_for: Principal | None, now: datetime) -> tuple[Agent, str]:
    """Return an agent, and why no further turn of it may start today (UTC) for a principal: empty when one may.

    One query reads both.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = Turn.objects.filter(on_behalf_of=acts_for, agent_id=OuterRef("pk"), started_at__gte=midnight)
    used = today.order_by().values("agent_id")
    tokens = used.annotate(sum=Sum(F("input_tokens") + F("output_tokens"))).values("sum")
    agent = (
        Agent.objects.select_related("account")
        .annotate(
            turns_today=Coalesce(Subquery(used.annotate(number=Count("pk")).values("number")), 0),
            tokens_today=Coalesce(Subquery(tokens), 0, output_field=BigIntegerField()),
        )
        .get(pk=agent_id)
    )
    if agent.turns_today >= agent.turns_a_day:
        return agent, f"Today's {agent.turns_a_day:,} turns are used up; the next day begins at 00:00 UTC."
    if agent.tokens_today >= agent.tokens_a_day:
        return agent, f"Today's {agent.tokens_a_day:,} tokens are used up; the next day begins at 00:00 UTC."
    return agent, ""
