"""Sources and what people do with deliveries: registering, secrets, routing by hand, acting again (DESIGN 8 and 11)."""

from __future__ import annotations

import re
import secrets as random
from base64 import b64encode
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from agents.models.sources import Delivery, Source
from agents.sources import acting
from agents.sources.handlers import HANDLERS
from agents.sources.retention import LEAST_DAYS
from agents.sources.schemes import SCHEMES
from collab.errors import Conflict, Gone, Invalid
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from collab.services.checks import line, require_open
from permissions.actors import Actor
from permissions.clock import AccordNow
from permissions.decisions import Action
from permissions.errors import NotFound
from permissions.gate import require

OLD_SECRET_FOR = timedelta(hours=24)
"""How long the secret before still holds after a rotation."""

MOST_TOLERANCE, MOST_DAYS, MOST_A_MINUTE = 3_600, 3_650, 100_000
_NAME = re.compile(r"[-_a-z0-9]{1,50}")
CHANGEABLE = ("label", "handler", "tolerance_seconds", "keep_days", "per_minute", "default_thread_id", "enabled")


@transaction.atomic
def source_create(
    *, actor: Actor, workspace: UUID, name: str, label: str, handler: str, scheme: str = "standard",
    secret: str = "", **settings: Any,
) -> Source:  # fmt: skip
    """Register a sender of webhooks in a workspace.

    Args:
        name: the end of its address, unique on this server: small letters, digits, ``-`` and ``_``.
        label: what people read.
        handler: which handler reads what it sends.
        scheme: how it signs: ``standard`` or ``stripe``.
        secret: what it signs with, where the sender makes it; empty: one is made.
        settings: others of ``CHANGEABLE``.

    Raises:
        NotFound: there is no such workspace, or the actor may not see it.
        Refused: the actor may not manage it.
        Invalid: something given cannot be, which the sentence names.
        Conflict: there is a source of this name.
    """
    found = Workspace.objects.filter(pk=workspace).first()
    if found is None:
        raise NotFound()
    require(actor, Action.MANAGE, found, for_write=True)
    source = Source(workspace=found, name=name, scheme=scheme, secret=secret or secret_made())
    _set(source, label=label, handler=handler, **settings)
    try:
        with transaction.atomic():
            source.save(force_insert=True)
    except IntegrityError as taken:
        raise Conflict(f"There is a source named {source.name} already.") from taken
    return source


@transaction.atomic
def source_change(*, actor: Actor, source: UUID, **settings: Any) -> Source:
    """Change what ``CHANGEABLE`` names of a source; within seconds every process keeps to it.

    Raises: as :func:`source_create`.
    """
    found = source_managed(actor, source)
    _set(found, **settings)
    found.save(update_fields=list(settings))
    return found


@transaction.atomic
def source_secret_rotate(*, actor: Actor, source: UUID, secret: str = "") -> Source:
    """Give a source a new secret; the one before holds for ``OLD_SECRET_FOR`` too, and no earlier one does.

    Args:
        secret: the new one, where the sender makes it; empty: one is made.

    Raises:
        NotFound, Refused, Invalid: as :func:`source_create`.
    """
    found = source_managed(actor, source)
    kept = secret or secret_made()
    if fault := SCHEMES[found.scheme].fault(kept):
        raise Invalid(fault)
    Source.objects.filter(pk=source).update(
        old_secret=F("secret"), old_secret_until=AccordNow() + OLD_SECRET_FOR, secret=kept
    )
    found.refresh_from_db()
    return found


@transaction.atomic
def delivery_replay(*, actor: Actor, delivery: UUID) -> Delivery:
    """Have a delivery that found no place, or that nobody acted on yet, acted on again.

    Raises:
        NotFound, Refused: as :func:`source_managed`, of its source.
        Gone: it was acted on; nothing is acted on twice.
    """
    found = _delivery_managed(actor, delivery)
    _back_to_stored(found, reason="", attempts=0)
    return found


@transaction.atomic
def delivery_route(*, actor: Actor, delivery: UUID, thread: UUID) -> Delivery:
    """Route a delivery that found no place to a thread of its source's workspace, and have it acted on there.

    Raises:
        NotFound: there is no such delivery or thread, or the actor may not see it.
        Refused: the actor may not manage the source's workspace, or may not start a turn in the thread.
        Invalid: the thread is of another workspace, or archived.
        Gone: it was acted on, or is about to be.
    """
    found = _delivery_managed(actor, delivery)
    place = Thread.objects.filter(pk=thread).first()
    if place is None:
        raise NotFound()
    require(actor, Action.START_TURN, place, for_write=True)
    if place.workspace_id != found.source.workspace_id:
        raise Invalid(f"{place.title} is not in {found.source.workspace}, where this source belongs.")
    require_open(place)
    if found.state != Delivery.State.UNROUTABLE:
        raise Gone(_why_not(found))
    _back_to_stored(found, thread_id=thread, routed_by=actor, reason="", attempts=0)
    return found


def source_managed(actor: Actor, source: UUID) -> Source:
    """Return a source whose workspace an actor manages.

    Raises:
        NotFound: there is no such source, or the actor may not see its workspace.
        Refused: they may not manage it.
    """
    found = Source.objects.select_related("workspace").filter(pk=source).first()
    if found is None:
        raise NotFound()
    require(actor, Action.MANAGE, found.workspace, for_write=True)
    return found


def secret_made() -> str:
    """Return a new secret, which every scheme takes."""
    return "whsec_" + b64encode(random.token_bytes(32)).decode()


def _delivery_managed(actor: Actor, delivery: UUID) -> Delivery:
    found = Delivery.objects.select_related("source__workspace").filter(pk=delivery).first()
    if found is None:
        raise NotFound()
    require(actor, Action.MANAGE, found.source.workspace, for_write=True)
    return found


def _back_to_stored(found: Delivery, **values: Any) -> None:
    """Put a delivery back among those to be acted on, unless someone acted on it meanwhile."""
    waiting = Delivery.objects.filter(pk=found.pk, state__in=Delivery.WAITS)
    changed = waiting.update(state=Delivery.State.STORED, **values)
    found.refresh_from_db()
    if not changed:
        raise Gone(_why_not(found))
    transaction.on_commit(partial(acting.delivered, [found.pk]), robust=True)


def _why_not(found: Delivery) -> str:
    match found.state:
        case Delivery.State.ACTED:
            return "It was acted on already, and nothing is acted on twice."
        case Delivery.State.SUPERSEDED:
            return "It was superseded, so there is nothing left to act on."
    return "It is about to be acted on."


def source_fits(source: Source) -> None:
    """Check what a source's row would hold.

    Raises:
        Invalid: something of it cannot be, which the sentence names.
    """
    if fault := _fault(source):
        raise Invalid(fault)


def _fault(source: Source) -> str:
    if not _NAME.fullmatch(source.name):
        return "The name is 1 to 50 small letters, digits, - and _."
    if source.scheme not in SCHEMES:
        return f"There is no scheme {source.scheme!r}."
    if fault := SCHEMES[source.scheme].fault(source.secret):
        return fault
    if source.handler not in HANDLERS:
        return f"There is no handler {source.handler!r}; there are: {', '.join(sorted(HANDLERS))}."
    if not LEAST_DAYS <= source.keep_days <= MOST_DAYS:
        return f"Deliveries are kept {LEAST_DAYS} to {MOST_DAYS:,} days: senders try again for days."
    if not 1 <= source.tolerance_seconds <= MOST_TOLERANCE:
        return f"The tolerance is 1 to {MOST_TOLERANCE:,} seconds."
    if not 1 <= source.per_minute <= MOST_A_MINUTE:
        return f"1 to {MOST_A_MINUTE:,} deliveries a minute are taken; switch the source off to take none."
    thread = source.default_thread_id
    if thread and not Thread.objects.filter(pk=thread, workspace=source.workspace_id).exists():
        return "The default thread must be one of the source's workspace."
    return ""


def _set(source: Source, **settings: Any) -> None:
    unknown = settings.keys() - set(CHANGEABLE)
    if unknown:
        raise Invalid(f"A source has no {min(unknown)} that could be set.")
    for name, value in settings.items():
        setattr(source, name, value)
    source.label = line(source.label, "the label")[:100]
    source_fits(source)
