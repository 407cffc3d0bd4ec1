"""Agents themselves: making one (DESIGN 4)."""

from __future__ import annotations

from django.db import transaction

from agents.models.agents import Agent
from permissions.actors import Actor, Person, System
from permissions.decisions import AccountKind
from permissions.errors import Refused
from permissions.models import User
from permissions.services import account_create_service


@transaction.atomic
def agent_create(*, actor: Actor, name: str, instructions: str = "", model: str = "") -> Agent:
    """Create an agent and its account, which holds no grant until a workspace enables it.

    Args:
        name: what people call it.
        instructions: what it is told at the start of each turn.
        model: which model it works with; empty: the one of ACCORD_MODEL.

    Raises:
        Refused: the actor is neither the system nor a superuser in person.
    """
    require_administrator(actor, "Only an administrator may create agents.")
    account = account_create_service(kind=AccountKind.AGENT, name=name)
    return Agent.objects.create(account=account, instructions=instructions, model=model)


def require_administrator(actor: Actor, because: str) -> None:
    """Check that an actor is the system or an active superuser in person.

    Raises:
        Refused: they are not; ``because`` is the sentence that says so.
    """
    if not (isinstance(actor, System) or (isinstance(actor, Person) and _is_superuser(actor))):
        raise Refused(because)


def _is_superuser(person: Person) -> bool:
    return User.objects.filter(pk=person.id, is_active=True, is_superuser=True).exists()
