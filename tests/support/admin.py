"""Opening the admin site as someone of the cast, and the rows its pages are tried with."""

from __future__ import annotations

from uuid import uuid4

from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models.turns import Call, Question, Turn
from collab.services.messages import message_post
from permissions.actors import Actor
from tests.support.cast import Someone, Studio

SECRET = "the cake is a surprise"
"""What only those who may view it are shown."""


def staffed(someone: Someone) -> Client:
    """Make someone staff, no superuser, and return their signed-in browser."""
    return _signed_in(someone, is_staff=True)


def supered(someone: Someone) -> Client:
    """Make someone a superuser and return their signed-in browser."""
    return _signed_in(someone, is_staff=True, is_superuser=True)


def listing(model: type[Model]) -> str:
    """Return the address of a model's list."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def page(obj: Model, what: str = "change") -> str:
    """Return the address of a page of one object: ``change``, ``delete``, or the name of an action."""
    return reverse(f"admin:{obj._meta.app_label}_{obj._meta.model_name}_{what}", args=[obj.pk])


def message(studio: Studio, by: Someone, text: str = SECRET):
    """Post a comment in the studio's thread."""
    return message_post(actor=by.actor, thread=studio.thread.id, content=text, client_id=str(uuid4()), kind="comment")


def turn(studio: Studio, acts_for: Actor, number: int = 1) -> Turn:
    """Make a finished turn of Robin's in the studio's thread."""
    return Turn.objects.create(
        thread=studio.thread,
        number=number,
        seq=number,
        trigger=Turn.Trigger.MESSAGE,
        origin=acts_for,
        on_behalf_of=acts_for,
        agent_id=studio.robin.id,
        root_id=uuid4(),
        status=Turn.Status.COMPLETED,
        lease_epoch=1,
        history=SECRET,
        text=SECRET,
        because=SECRET,
        started_at=timezone.now(),
    )


def call(of: Turn, number: int = 1) -> Call:
    """Make a finished call of a turn."""
    return Call.objects.create(
        turn=of,
        step=1,
        number=number,
        tool="read_document",
        called_as="read_document",
        args=f'{{"find":"{SECRET}"}}',
        key=str(uuid4()),
        effect="read",
        outcome=Call.Outcome.DONE,
        because=SECRET,
        result=f'"{SECRET}"',
        model_call_id="1",
        sent_at=timezone.now(),
    )


def question(of: Call) -> Question:
    """Make an answered question of a turn."""
    return Question.objects.create(
        turn=of.turn, call=of, seq=1, text=SECRET, choices=[SECRET], answer=SECRET, asked_at=timezone.now()
    )


def _signed_in(someone: Someone, **flags: bool) -> Client:
    for name, value in flags.items():
        setattr(someone.user, name, value)
    someone.user.save(update_fields=list(flags))
    browser = Client()
    browser.force_login(someone.user)
    return browser
