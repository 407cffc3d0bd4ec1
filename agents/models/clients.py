"""Clients, the tokens they come with, and how a program that registers itself gets one (DESIGN 4 and 11)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collab.models.workspaces import Workspace
from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id


class Registration(models.Model):
    """A program that registered itself (RFC 7591). It holds no rights and belongs to nobody: each person who consents
    to it gets a client of their own."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, help_text="What its maker calls it.")
    metadata = models.JSONField(help_text="What it registered, without secrets.")
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="registrations_by_age")]

    def __str__(self) -> str:
        return self.name


class Client(models.Model):
    """An external agent or API client: its account, which holds its grants, and whose it is.

    One that is a person's acts for nobody else. One that is nobody's acts for no one, or for whoever issues it a token
    for themselves.
    """

    account = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, primary_key=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="clients")
    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, null=True, related_name="clients")
    registered_by = ActorField(editable=False)
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    disabled_by = ActorField(null=True, editable=False)
    disabled_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["registration", "person"], name="a_program_is_one_client_of_each_person")
        ]

    def __str__(self) -> str:
        return self.account.name


class AccessToken(models.Model):
    """What a client comes with: whom it acts for, in which workspaces, until when. Its secret is kept as a digest."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    client = models.ForeignKey(Client, on_delete=models.PROTECT, related_name="tokens")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="Whom it acts for; empty: no one.",
    )
    name = models.CharField(max_length=100, help_text="Where it is used.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(max_length=20, editable=False, help_text="How its secret begins.")
    audience = models.CharField(
        max_length=300, blank=True, default="", help_text="The one address it is good for; empty: all of them."
    )
    workspaces = models.ManyToManyField(Workspace, related_name="+", help_text="Where it may be used.")
    created_by = ActorField(editable=False)
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, editable=False)
    rotated_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="rotated_to")
    family = models.UUIDField(
        editable=False, db_index=True, help_text="The first of those that it was rotated or renewed from, or itself."
    )
    revoked_by = ActorField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    revoked_because = models.TextField(blank=True, editable=False)

    class Meta:
        verbose_name = "token"
        indexes = [models.Index(fields=["client", "-created_at"], name="tokens_of_a_client")]

    def __str__(self) -> str:
        return self.name


class Authorization(models.Model):
    """What a person decided about a program that asked for a token, and its way from there to the token. Each step is
    done once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    registration = models.ForeignKey(Registration, on_delete=models.CASCADE, related_name="authorizations")
    ticket = models.CharField(
        max_length=64, unique=True, help_text="Digest of what the consent page's address carries."
    )
    redirect_uri = models.TextField()
    explicit = models.BooleanField(help_text="The program said where to go back to.")
    challenge = models.CharField(max_length=43, help_text="PKCE, S256.")
    resource = models.CharField(max_length=300, help_text="The audience.")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    decided_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    client = models.ForeignKey(Client, on_delete=models.CASCADE, null=True, related_name="+")
    workspaces = models.ManyToManyField(Workspace, related_name="+")
    code = models.CharField(max_length=64, unique=True, null=True, help_text="Its digest; null: not allowed.")
    code_expires_at = models.DateTimeField(null=True)
    exchanged_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(code=None) | Q(client__isnull=False), name="a_code_is_of_a_client")
        ]

    def __str__(self) -> str:
        return f"{self.registration} for {self.person}"


class Refresh(models.Model):
    """What renews a token, once: used again, everything that came of its authorization is revoked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    authorization = models.ForeignKey(Authorization, on_delete=models.CASCADE, related_name="refreshes")
    token = models.ForeignKey(AccessToken, on_delete=models.CASCADE, related_name="refreshes")
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"for {self.token}"
