"""What people share, and who belongs to it (DESIGN 4)."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from permissions.clock import AccordNow
from permissions.ids import new_id
from permissions.models import GrantScope, Guarded
from permissions.roles import OBJECT_PERMISSIONS, Role


class Workspace(GrantScope, Guarded):
    """What people share: threads, documents, grants. Its ``grants_epoch`` orders grant changes and writes."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        default_permissions = ()
        permissions = OBJECT_PERMISSIONS

    def __str__(self) -> str:
        return self.name

    @property
    def guarded_name(self) -> str:
        return self.name

    @property
    def scope_id(self) -> UUID:
        return self.id

    def grant_objects(self) -> tuple[tuple[type[models.Model], UUID], ...]:
        return ((Workspace, self.id),)


class Membership(models.Model):
    """A person's place in a workspace (their hue). Rights are grants: being a member is holding any grant."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    place = models.PositiveIntegerField()
    joined_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    left_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_a_person"),
            models.UniqueConstraint(fields=["workspace", "place"], name="one_place_a_member"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"


class Invite(models.Model):
    """A link, or a named person's invitation, to join a workspace with a role. The token is stored hashed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invites")
    role = models.CharField(max_length=20, choices=[(role.value, role.value) for role in Role])
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used_by__isnull=True, used_at__isnull=True)
                | Q(used_by__isnull=False, used_at__isnull=False),
                name="an_invite_is_used_by_someone_at_some_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} in {self.workspace}"
