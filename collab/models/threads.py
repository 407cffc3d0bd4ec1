"""Threads and what is in them: the log, messages, and where each reader is (DESIGN 2 and 4)."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from collab.models.workspaces import Workspace
from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id
from permissions.models import Guarded
from permissions.roles import OBJECT_PERMISSIONS


class Thread(Guarded):
    """An ordered conversation of people and one agent. Its row is its lock: see :mod:`collab.log`."""

    class Mode(models.TextChoices):
        EDIT = "edit"
        SUGGEST = "suggest"

    class Answers(models.TextChoices):
        EVERY_MESSAGE = "every message"
        WHEN_MENTIONED = "when mentioned"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="threads")
    title = models.CharField(max_length=200)
    agent_id = models.UUIDField(null=True, help_text="The agent's account; owned by the app above.")
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.EDIT)
    answers = models.CharField(max_length=20, choices=Answers.choices, default=Answers.EVERY_MESSAGE)
    focus = models.ForeignKey("collab.Document", on_delete=models.SET_NULL, null=True, related_name="+")
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    head_seq = models.PositiveBigIntegerField(default=0)
    head_hash = models.CharField(max_length=64, default="0" * 64)
    turn_count = models.PositiveIntegerField(default=0)

    lease_holder = models.CharField(max_length=100, blank=True, default="")
    lease_epoch = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    stop_turn_id = models.UUIDField(null=True, help_text="The running turn that someone asked to stop.")

    class Meta:
        default_permissions = ()
        permissions = OBJECT_PERMISSIONS
        indexes = [models.Index(fields=["workspace", "archived_at"], name="threads_of_a_workspace")]

    def __str__(self) -> str:
        return self.title

    @property
    def guarded_name(self) -> str:
        return self.title

    @property
    def scope_id(self) -> UUID:
        return self.workspace_id

    def grant_objects(self) -> tuple[tuple[type[models.Model], UUID], ...]:
        return ((Thread, self.id), (Workspace, self.workspace_id))


class Event(models.Model):
    """A fact in a thread's log. Append-only; only :mod:`collab.log` writes it.

    ``data`` is the canonical JSON text the hash was made over. It holds ids, versions and content hashes, never what
    a person wrote, so a person's words can be erased while the chain still verifies.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="events")
    seq = models.PositiveBigIntegerField()
    type = models.CharField(max_length=40)
    actor = ActorField()
    turn_id = models.UUIDField(null=True)
    lease_epoch = models.PositiveBigIntegerField(default=0)
    grants_epoch = models.PositiveBigIntegerField(default=0)
    data = models.TextField()
    at = models.DateTimeField()
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["thread", "seq"]
        constraints = [models.UniqueConstraint(fields=["thread", "seq"], name="one_event_a_seq")]
        indexes = [
            # "Why?" asks for the last of these before a moment; a log holds few of them.
            models.Index(
                fields=["thread", "seq"],
                condition=Q(type__in=["mode_changed", "policy_changed"]),
                name="events_that_bound_rights",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class Message(models.Model):
    """What an actor posted: a message asks for a turn, a comment is people talking, a notice informs people."""

    class Kind(models.TextChoices):
        MESSAGE = "message"
        COMMENT = "comment"
        NOTICE = "notice"

    class TakenAs(models.TextChoices):
        PROMPT = "prompt"
        STEER = "steer"
        REPLY = "reply"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="messages")
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    author = ActorField()
    author_key = models.CharField(max_length=255, help_text="Equal for two messages exactly when they have one author.")
    client_id = models.CharField(max_length=100)
    content = models.TextField()
    salt = models.CharField(max_length=32)
    posted_at = models.DateTimeField()
    interrupted = models.BooleanField(default=False)
    turn_id = models.UUIDField(null=True, help_text="The turn whose reply this is.")

    taken_by = models.UUIDField(null=True)
    taken_as = models.CharField(max_length=10, choices=TakenAs.choices, null=True)
    passed_over = models.TextField(null=True, help_text="Why the log was taken past this message.")
    cancelled_at = models.DateTimeField(null=True)
    held_at = models.DateTimeField(null=True, help_text="Held: what it means is unclear, and its author is asked.")
    meant = models.CharField(
        max_length=12, blank=True, default="", db_default="", help_text="What it means for the turn it came during."
    )
    waits = models.BooleanField(default=False, help_text="No turn has taken it, and one still may.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "seq"], name="one_message_a_seq"),
            # A retried post is the same message.
            models.UniqueConstraint(fields=["thread", "author_key", "client_id"], name="one_message_a_client_id"),
            # Waiting, taken, passed over, cancelled: one of them, so no message is both lost and carried out.
            models.CheckConstraint(
                condition=Q(waits=False)
                | Q(taken_by__isnull=True, passed_over__isnull=True, cancelled_at__isnull=True, held_at__isnull=True),
                name="a_waiting_message_is_not_settled",
            ),
            models.CheckConstraint(
                condition=Q(taken_by__isnull=True) | Q(passed_over__isnull=True, cancelled_at__isnull=True),
                name="a_taken_message_is_not_dropped",
            ),
        ]
        indexes = [
            models.Index(fields=["thread", "seq"], condition=Q(waits=True), name="messages_that_wait"),
            models.Index(fields=["thread", "seq"], condition=Q(held_at__isnull=False), name="messages_that_are_held"),
            models.Index(fields=["taken_by"], name="messages_a_turn_took"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq}"


class ReadMark(models.Model):
    """How far a person has read a thread."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="read_marks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "user"], name="one_read_mark_a_reader")]

    def __str__(self) -> str:
        return f"{self.user} at {self.seq}"


class Presence(models.Model):
    """Someone has the thread open, until a moment; their sockets renew it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="presences")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "user"], name="one_presence_a_person")]

    def __str__(self) -> str:
        return f"{self.user} here"


class Command(models.Model):
    """A command that was carried out, so that the same one sent again is answered and not repeated."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    actor = ActorField()
    command_id = models.CharField(max_length=100)
    body_hash = models.CharField(max_length=64)
    result = models.JSONField()
    at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor", "command_id"], name="one_command_an_id")]

    def __str__(self) -> str:
        return self.command_id
