"""Timers: what a thread is told or asked at a moment, once or again and again (DESIGN 8)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from collab.models.threads import Thread
from permissions.fields import ActorField
from permissions.ids import new_id


class Timer(models.Model):
    """A moment at which a thread gets a message or a notice. ``due_at`` is the next one; it keeps its time zone."""

    class State(models.TextChoices):
        WAITING = "waiting"
        FIRED = "fired"
        SUPERSEDED = "superseded"
        CANCELLED = "cancelled"

    class Repeats(models.TextChoices):
        NEVER = "never"
        DAILY = "daily"
        WEEKDAYS = "weekdays"
        WEEKLY = "weekly"
        MONTHLY = "monthly"

    class Does(models.TextChoices):
        TELLS = "tells", "Tells the people of the thread"
        ASKS = "asks", "Asks the agent, for no one"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="timers")
    number = models.PositiveIntegerField()
    set_by = ActorField()
    owner = ActorField(help_text="The person whose timer it is: asked for consent, and their rights cap its turns.")
    does = models.CharField(max_length=10, choices=Does.choices, default=Does.TELLS)
    text = models.TextField()
    due_at = models.DateTimeField()
    repeats = models.CharField(max_length=10, choices=Repeats.choices, default=Repeats.NEVER)
    local = models.CharField(max_length=16, help_text="The first moment as people said it: 2026-06-12T20:30.")
    zone = models.CharField(max_length=50, default="UTC", help_text="An IANA time zone.")
    subject = models.CharField(max_length=200, blank=True, help_text="When this is moot, the timer is superseded.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    reason = models.TextField(blank=True, help_text="Why it was superseded or cancelled.")
    fired = models.PositiveIntegerField(default=0, help_text="How often it fired.")
    fired_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True, help_text="When it was last found due.")
    set_at = models.DateTimeField()
    ended_by = ActorField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "number"], name="one_timer_a_number")]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="waiting"), name="timers_that_wait"),
            models.Index(fields=["subject"], condition=Q(state="waiting"), name="timers_by_subject"),
        ]

    def __str__(self) -> str:
        return self.text[:60]
