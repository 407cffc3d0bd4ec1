"""Sources, what they deliver, and what their subjects name (DESIGN 4 and 8)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from agents.models.turns import Call
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id


class Source(models.Model):
    """A registered sender of webhooks. What it sends is read by the handler of its kind (``agents/sources/``)."""

    class Scheme(models.TextChoices):
        STANDARD = "standard", "Standard Webhooks"
        STRIPE = "stripe", "Stripe's header"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.SlugField(max_length=50, unique=True, help_text="Its address: /hooks/<name>/.")
    label = models.CharField(max_length=100, help_text="What people read.")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="sources")
    handler = models.CharField(max_length=50, help_text="Which handler of agents/sources reads what it sends.")
    scheme = models.CharField(max_length=20, choices=Scheme.choices, default=Scheme.STANDARD)
    secret = models.CharField(max_length=200)
    old_secret = models.CharField(max_length=200, blank=True, help_text="Valid too until the moment below.")
    old_secret_until = models.DateTimeField(null=True, blank=True)
    tolerance_seconds = models.PositiveIntegerField(default=300, help_text="How far its clock may be from ours.")
    keep_days = models.PositiveIntegerField(default=7, help_text="How long deliveries are kept, and so deduplicated.")
    per_minute = models.PositiveIntegerField(default=600, help_text="Deliveries a minute that are taken.")
    default_thread = models.ForeignKey(
        Thread,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="For what matches no route.",
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    def __str__(self) -> str:
        return self.label


class Delivery(models.Model):
    """One input that a source delivered, stored before it was acknowledged. Its key is also what deduplicates it."""

    class State(models.TextChoices):
        STORED = "stored"
        ACTED = "acted"
        SUPERSEDED = "superseded"
        UNROUTABLE = "unroutable"

    WAITS = (State.STORED, State.UNROUTABLE)
    """The states of one that was not acted on."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="deliveries")
    event_id = models.CharField(max_length=200)
    body = models.BinaryField()
    body_hash = models.CharField(max_length=64)
    sent_at = models.DateTimeField(help_text="The signed time.")
    received_at = models.DateTimeField(db_default=AccordNow(), editable=False)
    state = models.CharField(max_length=12, choices=State.choices, default=State.STORED)
    reason = models.TextField(blank=True, help_text="Why it is where it is, in a sentence.")
    repeats = models.PositiveIntegerField(default=0, help_text="How often it came again.")
    conflicts = models.PositiveIntegerField(default=0, help_text="How often its id came with another body.")
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, null=True, related_name="deliveries")
    message_id = models.UUIDField(null=True, help_text="The message or notice it became.")
    routed_by = ActorField(null=True, help_text="Who routed it by hand.")
    attempts = models.PositiveIntegerField(default=0)
    tried_at = models.DateTimeField(null=True, help_text="When the sweep last tried to act on it.")
    acted_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["source", "event_id"], name="a_delivery_is_stored_once")]
        indexes = [
            models.Index(fields=["received_at"], condition=Q(state="stored"), name="deliveries_to_act_on"),
            models.Index(fields=["source", "state", "received_at"], name="deliveries_of_a_source"),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} ({self.state})"


class Route(models.Model):
    """What a source's subject names: ``reservation R1`` is of this thread, for this person, because of this call."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="routes")
    subject = models.CharField(max_length=200)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="routes")
    owner = ActorField(null=True, help_text="Whom a turn that it starts asks, and whose rights cap it.")
    call = models.ForeignKey(Call, on_delete=models.PROTECT, null=True, related_name="routes")
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "subject"], name="a_subject_has_one_route")]
        indexes = [models.Index(fields=["thread", "subject"], name="routes_of_a_thread")]

    def __str__(self) -> str:
        return self.subject
