"""The agents that threads work with."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Agent(models.Model):
    """One agent: its account (which holds its grants), its instructions, its model, what a turn of it may cost, and how
    its replies are composed and checked (REPLIES)."""

    class Composer(models.TextChoices):
        MODEL = "model"
        TEMPLATE = "template"

    class Derived(models.TextChoices):
        ARITHMETIC = "arithmetic"
        STRICT = "strict"
        OFF = "off"

    class Reader(models.TextChoices):
        OFF = "off"
        ON = "on"

    class OnUnread(models.TextChoices):
        MODEL = "model"
        ASK = "ask"

    class InFlight(models.TextChoices):
        MERGE = "merge"
        QUEUE = "queue"
        RESTART = "restart"

    account = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, primary_key=True)
    instructions = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True, help_text="Empty: ACCORD_MODEL.")
    max_steps = models.PositiveIntegerField(default=25, help_text="Model requests a turn.")
    max_calls = models.PositiveIntegerField(default=50, help_text="Tool calls a turn.")
    max_tokens = models.PositiveIntegerField(default=200_000, help_text="Tokens in and out a turn.")
    max_seconds = models.PositiveIntegerField(default=600, help_text="Seconds a turn.")
    max_bytes = models.PositiveIntegerField(default=65_536, help_text="Bytes of reply text a turn.")
    history_tokens = models.PositiveIntegerField(default=16_000, help_text="Tokens of earlier talk a turn is given.")
    turns_a_day = models.PositiveIntegerField(default=500, help_text="Turns a person and day (UTC).")
    tokens_a_day = models.PositiveBigIntegerField(default=2_000_000, help_text="Tokens a person and day (UTC).")
    composer = models.CharField(
        max_length=10,
        choices=Composer.choices,
        default=Composer.MODEL,
        help_text="model: it writes, and what it writes is checked. template: people read the phrasings of its calls.",
    )
    derived = models.CharField(
        max_length=10,
        choices=Derived.choices,
        default=Derived.ARITHMETIC,
        help_text="Which totals and differences of recorded amounts a reply may state.",
    )
    reader = models.CharField(
        max_length=3,
        choices=Reader.choices,
        default=Reader.OFF,
        db_default=Reader.OFF,
        help_text="on: what a person asks of one tool in plain words is called without a model.",
    )
    on_unread = models.CharField(
        max_length=5,
        choices=OnUnread.choices,
        default=OnUnread.MODEL,
        db_default=OnUnread.MODEL,
        help_text="What happens to other words. model: its person is asked once a thread, then the model answers. "
        "ask: they are asked each time.",
    )
    never_show = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="Kinds of personal data that no reply shows."
    )
    never_say = models.TextField(blank=True, default="", db_default="", help_text="Phrases, one a line.")
    never_offer = models.TextField(blank=True, default="", db_default="", help_text="What is not on offer, one a line.")
    required = models.TextField(blank=True, default="", db_default="", help_text="Sentences every reply ends with.")
    region = models.CharField(
        max_length=2,
        default="GB",
        db_default="GB",
        help_text="The country whose telephone numbers are written without its code, as two letters.",
    )

    in_flight = models.CharField(
        max_length=10,
        choices=InFlight.choices,
        default=InFlight.MERGE,
        db_default=InFlight.MERGE,
        help_text="What a message does that its author adds while their turn runs: joins it, waits for the next, or "
        "has it start over.",
    )
    classify = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The model says whether such a message adds, is independent, revises or is unclear.",
    )

    def __str__(self) -> str:
        return self.account.name
