"""Suggested changes to documents (DESIGN 4 and 5)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from collab.models.documents import Document
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.fields import ActorField
from permissions.ids import new_id


class Proposal(models.Model):
    """A suggested change, open until someone other than its proposer accepts or rejects it."""

    class Change(models.TextChoices):
        CREATE = "create"
        EDIT = "edit"
        ARCHIVE = "archive"

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="proposals")
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="proposals")
    turn_id = models.UUIDField(null=True)
    seq = models.PositiveBigIntegerField(help_text="Where the thread's log records it.")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, null=True, related_name="proposals")
    change = models.CharField(max_length=10, choices=Change.choices)
    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    base_version = models.PositiveIntegerField(null=True)
    edits = models.JSONField(help_text="The change as it was asked for: applied again when it is accepted.")
    base_data = models.JSONField(null=True)
    data = models.JSONField(help_text="What the document would be, from the dry run.")
    rationale = models.TextField(blank=True)
    proposer = ActorField()
    proposed_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    resolver = ActorField(null=True)
    resolved_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    resolver_edits = models.JSONField(
        null=True, help_text="What its resolver changed on top of it when they accepted it with edits."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="open", resolver__isnull=True, resolved_at__isnull=True)
                | (~Q(state="open") & Q(resolver__isnull=False, resolved_at__isnull=False)),
                name="a_resolved_proposal_says_by_whom",
            ),
        ]
        indexes = [
            models.Index(fields=["thread", "seq"], name="proposals_of_a_thread"),
            models.Index(fields=["workspace", "proposed_at"], condition=Q(state="open"), name="open_proposals"),
        ]

    def __str__(self) -> str:
        return f"{self.change} {self.title}"
