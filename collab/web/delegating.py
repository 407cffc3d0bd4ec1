"""Delegation in time on the page of a thread: its commands, and what everyone there is shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import AwareDatetime

from collab.commands import Args, Result, register
from collab.models.delegations import Delegation
from collab.selectors import names_of
from collab.services.delegations import delegation_end, delegation_give
from permissions.actors import Actor, Person
from permissions.clock import AccordNow
from permissions.phrases import GONE_NAME


class DelegationGive(Args):
    thread: UUID
    level: str
    until: AwareDatetime
    agent: UUID | None = None
    reason: str = ""


class DelegationEnd(Args):
    thread: UUID
    agent: UUID | None = None


def _give(actor: Actor, args: DelegationGive) -> Result:
    given = delegation_give(
        actor=actor, thread=args.thread, level=args.level, until=args.until, agent=args.agent, reason=args.reason
    )
    return {"thread": str(args.thread), "level": given.level, "until": given.until.isoformat()}


def _end(actor: Actor, args: DelegationEnd) -> Result:
    delegation_end(actor=actor, thread=args.thread, agent=args.agent)
    return {"thread": str(args.thread)}


def register_commands() -> None:
    """Register the commands about delegations."""
    register("delegation_give", DelegationGive, _give)
    register("delegation_end", DelegationEnd, _end)


def delegated_in(threads: Sequence[tuple[UUID, UUID | None]]) -> Mapping[UUID, dict[str, Any]]:
    """Return what stands for the agents of some threads, by thread, in two queries at most.

    Args:
        threads: ids of threads, each with the account of its agent.
    """
    agents = dict(threads)
    stands = Delegation.objects.filter(thread__in=agents, ended_at=None, until__gt=AccordNow())
    found = [one for one in stands if one.agent_id == agents[one.thread_id]]
    names = names_of(one.given_by.id for one in found if isinstance(one.given_by, Person)) if found else {}
    return {one.thread_id: _json(one, names) for one in found}


def _json(one: Delegation, names: Mapping[UUID, str]) -> dict[str, Any]:
    giver = one.given_by.id if isinstance(one.given_by, Person) else None
    by = {"id": str(giver), "name": names.get(giver, GONE_NAME)} if giver else None
    return {"level": one.level, "until": one.until.isoformat(), "by": by, "reason": one.reason}
