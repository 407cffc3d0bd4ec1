"""What is said of calls, as people edited it, and how often replies were ruled on (DESIGN 4; REPLIES)."""

from __future__ import annotations

from django.db import models

from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id


class Phrasing(models.Model):
    """What is said of a tool's calls with one outcome, in one language. Append-only: the newest version stands, and one
    without text gives the word back to the tool's pack."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tool = models.CharField(max_length=100)
    outcome = models.CharField(max_length=20)
    language = models.CharField(max_length=10)
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    by = ActorField()
    at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tool", "outcome", "language", "version"], name="one_phrasing_a_version")
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.outcome} ({self.language}), version {self.version}"


class ReplyCount(models.Model):
    """How often a rule did something to what an agent wrote about a tool, on one day (UTC); never what it wrote."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    day = models.DateField()
    agent_id = models.UUIDField(help_text="The agent's account.")
    rule = models.CharField(max_length=20)
    tool = models.CharField(max_length=100, blank=True)
    action = models.CharField(max_length=10)
    number = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["day", "agent_id", "rule", "tool", "action"], name="one_count_a_day_and_rule"
            )
        ]

    def __str__(self) -> str:
        return f"{self.rule} {self.tool} {self.action}: {self.number}"
