"""What an owner lets an agent do in one thread until a moment: more than its grants, or less (DESIGN 4)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from collab.models.threads import Thread
from permissions.models import DelegationBase


class Delegation(DelegationBase):
    """One agent's level on one thread until a moment."""

    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="delegations")

    class Meta:
        constraints = [
            # What is given next ends what stood before it, even where its time was over.
            models.UniqueConstraint(
                fields=["thread", "agent"],
                condition=Q(ended_at__isnull=True),
                name="one_delegation_an_agent_and_thread",
            ),
            models.CheckConstraint(
                condition=Q(ended_by__isnull=True, ended_at__isnull=True)
                | Q(ended_by__isnull=False, ended_at__isnull=False),
                name="an_ended_delegation_says_by_whom",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.level} in {self.thread} until {self.until}"
