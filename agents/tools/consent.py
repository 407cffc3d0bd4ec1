"""When a call waits for a person's consent, and whose (DESIGN 7). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

from agents.tools.contract import Tool
from collab.canonical import canonical
from permissions.actors import Actor, Person, Principal, Source, person

MOST_OPEN = 20
"""Open actions of one thread, and steps of one action, at most: more would be approved unread."""


def waits(tool: Tool, *, asks_first: bool, steps: int) -> bool:
    """Say whether a call is not sent but becomes a step of the action that its turn asks for.

    Args:
        asks_first: whether something that the turn's lineage began with is no person.
        steps: how many calls of the turn wait already: every later write waits with them, so that their order stands.
    """
    if tool.effect == "write" and steps:
        return True
    return tool.consent == "always" or (tool.consent == "unless_person" and asks_first)


def addressee(origin: Actor, on_behalf_of: Principal | None) -> Person | None:
    """Return who is asked: the turn's person; for a delivery or a timer, the owner its route or timer was made with."""
    if isinstance(origin, Source):
        return Person(origin.owner) if origin.owner else None
    return person(on_behalf_of) if on_behalf_of else None


@dataclass(frozen=True, slots=True)
class Frozen:
    """A step as its action froze it: the hash of its tool and arguments, the version of each document they name."""

    hash: str
    versions: Mapping[UUID, int] = field(default_factory=dict)


def step_hash(called_as: str, args: str) -> str:
    """Return the hash that freezes a step.

    Args:
        called_as: the name of its tool.
        args: its arguments as canonical JSON.
    """
    return sha256(canonical([called_as, args]).encode()).hexdigest()
