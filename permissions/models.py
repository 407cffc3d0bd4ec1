"""Accounts, the history of grants, and the bases of everything that grants are held on.

The object-permission models are guardian's, re-exported here so that no other app imports it.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import AbstractUser, Group
from django.db import models
from django.db.models import Q
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from permissions.clock import AccordNow
from permissions.decisions import AccountKind
from permissions.fields import ActorField
from permissions.ids import new_id


class User(AbstractUser):
    """An account: of a person, or of an agent or a client, which holds grants and can never sign in."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(
        max_length=10, choices=[(kind.value, kind.value) for kind in AccountKind], default=AccountKind.PERSON.value
    )
    display_name = models.CharField(max_length=100, blank=True)

    class Meta(AbstractUser.Meta):
        verbose_name, verbose_name_plural = "account", "accounts"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in AccountKind]), name="an_account_is_of_a_known_kind"
            ),
            # Whatever form, command or reset is used, these accounts never get a password to sign in with.
            models.CheckConstraint(
                condition=Q(kind=AccountKind.PERSON.value) | Q(password__startswith=UNUSABLE_PASSWORD_PREFIX),
                name="only_people_have_passwords",
            ),
            models.CheckConstraint(
                condition=Q(kind=AccountKind.PERSON.value) | Q(is_staff=False, is_superuser=False),
                name="only_people_are_staff",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """What everyone reads for this account."""
        return self.display_name or self.username

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name


class GrantScope(models.Model):
    """What orders grant changes and writes: a write takes this row shared, a grant change exclusively (DESIGN 5)."""

    grants_epoch = models.BigIntegerField(default=0, editable=False)

    class Meta:
        abstract = True


class Guarded(models.Model):
    """An object that grants are held on. A subclass has one foreign key to its scope, or is the scope itself."""

    class Meta:
        abstract = True

    @property
    def guarded_name(self) -> str:
        """What a decision's sentence calls the object."""
        raise NotImplementedError

    @property
    def scope_id(self) -> UUID:
        """The id of the scope whose row orders this object's writes."""
        raise NotImplementedError

    def grant_objects(self) -> tuple[tuple[type[models.Model], UUID], ...]:
        """Return where a grant for this object may be held, itself first, its scope last, without a query."""
        raise NotImplementedError


class UserObjectPermission(UserObjectPermissionBase):
    """A grant an account holds. A subclass adds ``content_object``, a foreign key that cascades."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    expires_at = models.DateTimeField(null=True)

    class Meta(UserObjectPermissionBase.Meta):
        abstract = True
        default_permissions = ()


class GroupObjectPermission(GroupObjectPermissionBase):
    """A grant a group holds. A subclass adds ``content_object``, a foreign key that cascades."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    expires_at = models.DateTimeField(null=True)

    class Meta(GroupObjectPermissionBase.Meta):
        abstract = True
        default_permissions = ()


class DelegationBase(models.Model):
    """What a manager lets an agent do until a moment. A subclass adds ``thread``, a foreign key to where it holds.

    It stands until then, or until it is ended or replaced.
    """

    class Level(models.TextChoices):
        DENY = "deny"
        PROPOSE = "propose"
        ALLOW = "allow"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    level = models.CharField(max_length=10, choices=Level.choices)
    until = models.DateTimeField()
    given_by = ActorField()
    given_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    reason = models.TextField(blank=True)
    ended_by = ActorField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class GrantChange(models.Model):
    """Who gave whom which grant on what, or took it, when and why. Append-only: PostgreSQL refuses anything else.

    Accounts and groups with a history cannot be deleted, only deactivated or emptied, so that no line loses its name.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    by = ActorField()
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    group = models.ForeignKey(Group, on_delete=models.PROTECT, null=True, related_name="+")
    codename = models.CharField(max_length=100)
    given = models.BooleanField()
    through = models.CharField(max_length=150, blank=True, help_text="The group that was joined or left.")
    object_kind = models.CharField(max_length=100, help_text="The model, like collab.document.")
    object_id = models.UUIDField()
    scope_id = models.UUIDField()
    expires_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    epoch = models.BigIntegerField(help_text="The scope's grants epoch that this change began.")
    at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(account__isnull=True, group__isnull=False) | Q(account__isnull=False, group__isnull=True),
                name="a_grant_has_one_holder",
            )
        ]
        indexes = [
            models.Index(fields=["scope_id", "-at"], name="grant_changes_of_a_scope"),
            models.Index(fields=["object_id", "-at"], name="grant_changes_of_an_object"),
            models.Index(fields=["account", "-at"], name="grant_changes_of_an_account"),
            models.Index(fields=["group", "-at"], name="grant_changes_of_a_group"),
        ]

    def __str__(self) -> str:
        return f"{'gave' if self.given else 'took'} {self.codename}"
