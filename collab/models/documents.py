"""Documents that a workspace shares, each version they had, and the threads that follow them (DESIGN 4)."""

from __future__ import annotations

from uuid import UUID

from django.db import models

from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id
from permissions.models import Guarded
from permissions.roles import OBJECT_PERMISSIONS


class Document(Guarded):
    """A document of a registered kind; ``data`` is what its kind's model validates."""

    class WritePolicy(models.TextChoices):
        DIRECT = "direct"
        PROPOSE = "propose"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="documents")
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    version = models.PositiveIntegerField(default=1)
    data = models.JSONField()
    text = models.TextField(blank=True, default="", db_default="", help_text="The data as text of its kind.")
    write_policy = models.CharField(max_length=10, choices=WritePolicy.choices, default=WritePolicy.DIRECT)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        default_permissions = ()
        permissions = OBJECT_PERMISSIONS
        indexes = [models.Index(fields=["workspace", "archived_at"], name="documents_of_a_workspace")]

    def __str__(self) -> str:
        return self.title

    @property
    def guarded_name(self) -> str:
        return self.title

    @property
    def scope_id(self) -> UUID:
        return self.workspace_id

    def grant_objects(self) -> tuple[tuple[type[models.Model], UUID], ...]:
        return ((Document, self.id), (Workspace, self.workspace_id))


class Revision(models.Model):
    """One version of a document: what changed, the whole data after it, and who changed it for whom."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="revisions")
    version = models.PositiveIntegerField()
    patch = models.JSONField()
    title = models.CharField(max_length=200)
    data = models.JSONField()
    actor = ActorField()
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, null=True, related_name="+")
    turn_id = models.UUIDField(null=True)
    proposal = models.ForeignKey("collab.Proposal", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "version"], name="one_revision_a_version")]

    def __str__(self) -> str:
        return f"version {self.version}"


class Follow(models.Model):
    """A thread shows a document and is told of its changes."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="follows")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="follows")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "document"], name="one_follow_a_document")]

    def __str__(self) -> str:
        return f"{self.thread} follows {self.document}"
