"""Who does things: the five kinds of actor, whom each acts for, and who counts as one author (DESIGN 2 and 5).

Pure. An actor is a frozen value that holds ids only; names and rights are read when they are needed.
An agent's and a client's id is the id of its account, so every party that can hold a grant is an account id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Person:
    """A signed-in person. ``id`` is their account."""

    id: UUID


@dataclass(frozen=True, slots=True)
class Client:
    """An external agent or API client, acting for ``person``, or for no one when that is None.

    ``within`` are the scopes (workspaces) that the token it came with is for; None where it came with none. It bounds
    what the client may do at this moment and is no part of who it is: neither compared nor kept with what it wrote.
    """

    id: UUID
    person: UUID | None = None
    within: frozenset[UUID] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Agent:
    """A thread's agent in a turn, working for ``on_behalf_of``, or for no one when that is None."""

    id: UUID
    thread: UUID
    on_behalf_of: Person | Client | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A verified sender (webhook or timer). ``owner`` is the person its route or timer belongs to: they are
    asked, and their rights cap it; it does not act for them."""

    id: UUID
    owner: UUID | None = None


@dataclass(frozen=True, slots=True)
class System:
    """Accord itself."""


Actor = Person | Client | Agent | Source | System
Principal = Person | Client
"""Whom a turn can be for."""

Party = Person | Client | Agent | Source | System
"""One link of a chain: an actor without those it acts for (a client's ``person`` and an agent's
``on_behalf_of`` are None in a party)."""


def chain(actor: Actor) -> tuple[Party, ...]:
    """Return the actor and, after it, everyone it acts for, nearest first (DESIGN 5)."""
    match actor:
        case Person() | Source() | System():
            return (actor,)
        case Client(id=id, person=None):
            return (Client(id),)
        case Client(id=id, person=UUID() as person):
            return (Client(id), Person(person))
        case Agent(id=id, thread=thread, on_behalf_of=None):
            return (Agent(id, thread),)
        case Agent(id=id, thread=thread, on_behalf_of=Person() | Client() as principal):
            return (Agent(id, thread), *chain(principal))
    raise AssertionError(f"not an actor: {actor!r}")


def account_of(party: Party) -> UUID | None:
    """Return a party's account, None for one that has none."""
    return party.id if isinstance(party, Person | Client | Agent) else None


def consulted(actor: Actor, cap: UUID | None = None) -> tuple[Party, ...]:
    """Return everyone whose rights bound the actor: its chain, then the owner of the timer or route it came from."""
    owner = actor.owner if isinstance(actor, Source) else None
    caps = (Person(id) for id in (owner, cap) if id is not None)
    return tuple(dict.fromkeys((*chain(actor), *caps)))


def within_of(actor: Actor) -> frozenset[UUID] | None:
    """Return the scopes that the token in an actor's chain is for; None where there is no token to bound it."""
    acts = principal(actor)
    return acts.within if isinstance(acts, Client) else None


def source_of(actor: Actor) -> UUID | None:
    """Return the source that an actor is; None for any other."""
    return actor.id if isinstance(actor, Source) else None


def cap_of(origin: Actor) -> UUID | None:
    """Return the owner of the timer or route that a turn with this origin came from: their rights bound it though it
    does not act for them (DESIGN 5)."""
    return origin.owner if isinstance(origin, Source) else None


def person(actor: Actor) -> Person | None:
    """Return the person in the actor's chain, or None when it acts for no one (DESIGN 5)."""
    return next((party for party in chain(actor) if isinstance(party, Person)), None)


def principal(actor: Actor) -> Principal | None:
    """Return whom a turn that this actor's input starts is for: a person, a client (itself, and so its person),
    whom an agent works for; None for a source and the system."""
    match actor:
        case Person() | Client():
            return actor
        case Agent():
            return actor.on_behalf_of
        case Source() | System():
            return None
        case _:
            assert_never(actor)


def same_author(a: Actor, b: Actor) -> bool:
    """Say whether two actors are one author, so that their messages may share a turn (DESIGN 5).

    Compares whom they act for: a person, a (client, its person or none) pair, a (source, owner) pair. The system and
    everything else that acts for no one is one author. A person and their own client are different authors.
    """
    return author_key(a) == author_key(b)


def author_key(actor: Actor) -> str:
    """Return the text that is equal for two actors exactly when :func:`same_author` holds; kept in a column so that
    the database can compare authors too."""
    match actor:
        case Source():
            return dumps(actor)
        case Person() | Client() | Agent() | System():
            acts_for = principal(actor)
            return "no one" if acts_for is None else dumps(acts_for)
        case _:
            assert_never(actor)


def dumps(actor: Actor) -> str:
    """Write an actor as one line: its chain from itself to its person, as ``kind:id`` joined by ``/``."""
    match actor:
        case Person(id=id):
            return f"person:{id}"
        case Client(id=id, person=None):
            return f"client:{id}"
        case Client(id=id, person=owner):
            return f"client:{id}/person:{owner}"
        case Agent(id=id, thread=thread, on_behalf_of=None):
            return f"agent:{id}@{thread}"
        case Agent(id=id, thread=thread, on_behalf_of=Person() | Client() as acts_for):
            return f"agent:{id}@{thread}/{dumps(acts_for)}"
        case Source(id=id, owner=None):
            return f"source:{id}"
        case Source(id=id, owner=owner):
            return f"source:{id}/owner:{owner}"
        case System():
            return "system"
    raise AssertionError(f"not an actor: {actor!r}")


def loads(text: str) -> Actor:
    """Read what :func:`dumps` wrote.

    Raises:
        ValueError: the text is no actor.
    """
    head, _, rest = text.partition("/")
    kind, _, id = head.partition(":")
    match kind:
        case "system" if not id and not rest:
            return System()
        case "person" if not rest:
            return Person(UUID(id))
        case "client":
            return Client(UUID(id), _id_of(rest, "person"))
        case "source":
            return Source(UUID(id), _id_of(rest, "owner"))
        case "agent":
            account, _, thread = id.partition("@")
            acts_for = loads(rest) if rest else None
            if acts_for is None or isinstance(acts_for, Person | Client):
                return Agent(UUID(account), UUID(thread), acts_for)
    raise ValueError(f"not an actor: {text!r}")


def _id_of(text: str, kind: str) -> UUID | None:
    if not text:
        return None
    found, _, id = text.partition(":")
    if found != kind:
        raise ValueError(f"expected {kind}: {text!r}")
    return UUID(id)
