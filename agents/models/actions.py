"""Pending actions: what a person is asked to consent to (DESIGN 4 and 7)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from agents.models.turns import Turn
from collab.models.threads import Thread
from permissions.fields import ActorField
from permissions.ids import new_id


class PendingAction(models.Model):
    """A consent request: frozen steps, one addressee, an expiry. ``A1``, ``A2`` … within a thread."""

    class State(models.TextChoices):
        OPEN = "open"
        APPROVED = "approved"
        DECLINED = "declined"
        EXPIRED = "expired"
        SUPERSEDED = "superseded"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="actions")
    number = models.PositiveIntegerField()
    seq = models.PositiveBigIntegerField(help_text="Where the thread's log records that it was asked.")
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="actions", help_text="The turn that asked.")
    steps = models.JSONField(
        help_text="Frozen, in order: the call, its tool, its canonical arguments and their hash, and the version of "
        "each document they name."
    )
    subject = models.CharField(max_length=200, blank=True, help_text="A later action for the same supersedes it.")
    origin = ActorField(help_text="What the turn that asked began with.")
    addressee = ActorField(help_text="The person who alone may approve or decline it.")
    text = models.TextField(help_text="The question as it was put, rendered from the steps.")
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    reason = models.TextField(blank=True, help_text="Why it was declined or superseded.")
    decided_by = ActorField(null=True)
    decided_at = models.DateTimeField(null=True)
    approved_turn = models.OneToOneField(Turn, on_delete=models.PROTECT, null=True, related_name="approved_action")
    start_by = models.DateTimeField(null=True, help_text="Approved, it expires unless its turn starts before this.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "number"], name="one_action_a_number"),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True) | ~Q(state="open"),
                name="an_open_action_is_undecided",
            ),
        ]
        indexes = [
            models.Index(fields=["thread", "seq"], name="actions_of_a_thread"),
            models.Index(fields=["addressee", "asked_at"], condition=Q(state="open"), name="actions_that_wait"),
            models.Index(fields=["expires_at"], condition=Q(state="open"), name="actions_that_expire"),
            models.Index(
                fields=["thread"],
                condition=Q(state="approved", approved_turn__isnull=True),
                name="actions_to_carry_out",
            ),
        ]

    def __str__(self) -> str:
        return f"A{self.number}"
