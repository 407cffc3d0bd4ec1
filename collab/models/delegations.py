"""What an owner lets an agent do in one thread until a moment: more than its grants, or less (DESIGN 4)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collab.models.threads import Thread
from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id


class Delegation(models.Model):
    """One agent's level on one thread until a moment. It stands until then, or until it is ended or replaced."""

    class Level(models.TextChoices):
        DENY = "deny"
        PROPOSE = "propose"
        ALLOW = "allow"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="delegations")
    agent = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    level = models.CharField(max_length=10, choices=Level.choices)
    until = models.DateTimeField()
    given_by = ActorField()
    given_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    reason = models.TextField(blank=True)
    ended_by = ActorField(null=True)
    ended_at = models.DateTimeField(null=True)

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
