"""Turns, what they called and asked, and the summary that stands for older ones (DESIGN 2 and 4)."""

from __future__ import annotations

from typing import cast

from django.db import models
from django.db.models import Q

from collab.models.threads import Thread
from permissions.actors import Principal
from permissions.fields import ActorField
from permissions.ids import new_id


class Turn(models.Model):
    """One uninterrupted piece of agent work, for one author, from its start to its end or pause."""

    class Status(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        COMPLETED = "completed"
        FAILED = "failed"
        STOPPED = "stopped"

    class Trigger(models.TextChoices):
        MESSAGE = "message"
        ANSWER = "answer"
        APPROVAL = "approval"
        DELIVERY = "delivery"
        TIMER = "timer"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    thread = models.ForeignKey(Thread, on_delete=models.PROTECT, related_name="turns")
    number = models.PositiveIntegerField()
    seq = models.PositiveBigIntegerField(help_text="Where the thread's log records its start.")
    trigger = models.CharField(max_length=10, choices=Trigger.choices)
    origin = ActorField()
    on_behalf_of = ActorField(null=True)
    agent_id = models.UUIDField()
    resumes = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="resumed_by")
    continues = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="continued_by")
    restarts = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="restarted_by")
    revises = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="revised_by")
    root_id = models.UUIDField(help_text="The first turn of its lineage.")
    asks_first = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Something its lineage began with is no person: its writes need consent.",
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    reason = models.CharField(max_length=40, blank=True, help_text="A code: why it failed or stopped.")
    because = models.TextField(blank=True, help_text="The same in a sentence for people.")
    lease_epoch = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField(default=1)
    steps = models.PositiveIntegerField(default=0, help_text="Boundaries whose history is saved.")
    history = models.TextField(blank=True, help_text="Model messages up to the last boundary, as JSON.")
    text = models.TextField(blank=True, help_text="Reply text up to the last boundary.")
    known = models.JSONField(default=dict, help_text="Version of each followed document that the turn was told of.")
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    stop_asked_by = ActorField(null=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "number"], name="one_turn_a_number"),
            # One turn at a time: the lease says who runs it, this says that there is no second one.
            models.UniqueConstraint(fields=["thread"], condition=Q(status="running"), name="one_running_turn_a_thread"),
        ]
        indexes = [
            models.Index(fields=["thread", "seq"], name="turns_of_a_thread"),
            # What runs or is paused is asked for with each message, and ended turns are many.
            models.Index(fields=["thread", "status"], name="turns_of_a_thread_by_status"),
            models.Index(fields=["root_id"], name="turns_of_a_lineage"),
            models.Index(fields=["on_behalf_of", "started_at"], name="turns_for_a_person"),
        ]

    def __str__(self) -> str:
        return f"T{self.number}"

    @property
    def principal(self) -> Principal | None:
        """Whom the turn is for; None is no one."""
        return cast("Principal | None", self.on_behalf_of)


class Call(models.Model):
    """One invocation of a tool in a turn."""

    class Outcome(models.TextChoices):
        DONE = "done"
        FAILED = "failed"
        REFUSED = "refused"
        PENDING_CONFIRMATION = "pending_confirmation"
        UNKNOWN = "unknown"
        UNDONE = "undone"
        NOT_ATTEMPTED = "not_attempted"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="calls")
    step = models.PositiveIntegerField(help_text="Which model response of the turn made it.")
    number = models.PositiveIntegerField(help_text="Its place among the turn's calls.")
    tool = models.CharField(max_length=100, help_text="What was done: an edit that was lowered is a propose_change.")
    called_as = models.CharField(max_length=100, help_text="The tool's name as the model called it.")
    args = models.TextField(help_text="Canonical JSON; as the model wrote it where it is none.")
    key = models.CharField(max_length=100, unique=True)
    effect = models.CharField(max_length=10)
    outcome = models.CharField(max_length=20, choices=Outcome.choices, null=True)
    reason = models.CharField(max_length=40, blank=True)
    because = models.TextField(blank=True)
    result = models.TextField(blank=True, help_text="Canonical JSON.")
    model_call_id = models.CharField(max_length=200)
    sent_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    moved_from = models.CharField(
        max_length=20, blank=True, default="", db_default="", help_text="The outcome it had before this one."
    )
    carried_by = models.ForeignKey(
        Turn, on_delete=models.PROTECT, null=True, related_name="carried", help_text="The approved turn that ran it."
    )
    looked_up_at = models.DateTimeField(null=True, help_text="When it was last looked up, while it is unknown.")
    lookups = models.PositiveIntegerField(default=0, db_default=0)
    repeat_by = ActorField(null=True, help_text="Who let it be done again though nobody knows whether it was.")
    undone_by = ActorField(null=True)
    gone_at = models.DateTimeField(null=True, help_text="A source reported that what it did is gone.")
    shared_by = ActorField(null=True, help_text="Who let everyone in the thread see its arguments and result.")
    shared_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["turn", "number"], name="one_call_a_number")]
        indexes = [
            models.Index(fields=["tool", "sent_at"], name="calls_of_a_tool"),
            models.Index(fields=["tool"], condition=Q(outcome="unknown"), name="calls_not_known"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.outcome or 'sent'}"

    @property
    def name(self) -> str:
        """What it is called in its thread: ``T2-1`` is the first call of the second turn."""
        return f"{self.turn}-{self.number}"


class Question(models.Model):
    """Something the agent asked a person; its turn is paused until it is answered."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="questions")
    call = models.OneToOneField(Call, on_delete=models.PROTECT, related_name="question")
    seq = models.PositiveBigIntegerField(help_text="Where the thread's log records the pause; a reply comes after it.")
    text = models.TextField()
    choices = models.JSONField(default=list)
    answer = models.TextField(blank=True)
    answered_by = ActorField(null=True)
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    dismissed = models.BooleanField(default=False, help_text="Its turn ended before anyone answered.")

    def __str__(self) -> str:
        return f"question at {self.seq}"


class Summary(models.Model):
    """What a turn is given in place of the older part of its thread: made once, kept, extended (DESIGN 6)."""

    thread = models.OneToOneField(Thread, on_delete=models.CASCADE, primary_key=True)
    upto_seq = models.PositiveBigIntegerField()
    text = models.TextField()

    def __str__(self) -> str:
        return f"up to {self.upto_seq}"
