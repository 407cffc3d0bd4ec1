"""What the messages that wait at a boundary do to the turn that runs (DESIGN 6, In flight). Pure.

Who sent them is compared first: only what comes from the turn's own origin, before the first message of anyone else,
may change it, and only that is ever put to a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args
from uuid import UUID

from agents.turns.plan import Waiting, joinable
from permissions.actors import Actor, Person

Policy = Literal["merge", "queue", "restart"]
"""What input that adds does: it joins, it waits for the next turn, or the turn starts over with it."""

POLICIES: tuple[Policy, ...] = get_args(Policy)

Meaning = Literal["adds", "independent", "revises", "unclear"]
"""What a message means for the turn it came during."""

MEANINGS: tuple[Meaning, ...] = get_args(Meaning)

Anew = Literal["", "restarted", "revised"]
"""Whether a turn stops at its boundary for another to begin: the same work from its start, or a change of it."""

MOST_ASKED = 5
"""Messages that a model is asked about at one boundary, at most; the rest wait for the next."""

MOST_RESTARTS = 5
"""How often the turns of one lineage start over; after that, what adds joins."""


class HasPolicy(Protocol):
    """What an agent's row says of input in flight."""

    in_flight: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a boundary does: which messages join the turn, which are held until their author says what they mean, and
    whether the turn stops for another that begins with ``joins``."""

    joins: tuple[Waiting, ...] = ()
    holds: tuple[Waiting, ...] = ()
    anew: Anew = ""


def policy_of(agent: HasPolicy) -> Policy:
    """Return an agent's policy; one that this code does not know is the first."""
    return next((policy for policy in POLICIES if policy == agent.in_flight), POLICIES[0])


def to_classify(waiting: Sequence[Waiting], origin: Actor, meanings: Mapping[UUID, str]) -> tuple[Waiting, ...]:
    """Return the messages whose meaning is asked for: the turn's own, up to the first of another author, in order.

    Args:
        meanings: what is known already.
    """
    own = joinable(waiting, origin)
    return tuple(message for message in own if not meanings.get(message.id))[:MOST_ASKED]


def what_joins(
    policy: Policy, waiting: Sequence[Waiting], origin: Actor, meanings: Mapping[UUID, str], *, classify: bool
) -> Verdict:
    """Decide what waiting messages do to a running turn.

    The order of the log stands: behind a message that waits for the next turn, the author's later ones wait too,
    unless one of them revises what the turn does. A message whose meaning is not known yet, because it came after the
    model was asked, waits for the next boundary.

    Args:
        waiting: the waiting messages in log order.
        origin: whom or what the turn works for.
        meanings: what each message means, by its id.
        classify: whether the meanings count; where not, everything from the turn's own origin adds.
    """
    own = joinable(waiting, origin)
    if not classify:
        return _adding(policy, own)
    known = _known(own, meanings)
    holds = tuple(message for message, meaning in known if meaning == "unclear")
    clear = [(message, meaning) for message, meaning in known if meaning != "unclear"]
    if any(meaning == "revises" for _, meaning in clear):
        return Verdict(tuple(message for message, _ in clear), holds, "revised")
    adding: list[Waiting] = []
    for message, meaning in clear:
        if meaning != "adds":
            break
        adding.append(message)
    decided = _adding(policy, tuple(adding))
    return Verdict(decided.joins, holds, decided.anew)


def _adding(policy: Policy, adding: tuple[Waiting, ...]) -> Verdict:
    match policy:
        case "merge":
            return Verdict(adding)
        case "queue":
            return Verdict()
        case "restart":
            return Verdict(adding, anew="restarted" if adding else "")


def _known(own: Sequence[Waiting], meanings: Mapping[UUID, str]) -> list[tuple[Waiting, str]]:
    """The messages up to the first whose meaning is not known. Only a person is asked by button, so what is unclear
    from anyone else is independent."""
    known: list[tuple[Waiting, str]] = []
    for message in own:
        meaning = meanings.get(message.id, "")
        if not meaning:
            break
        if meaning == "unclear" and not isinstance(message.author, Person):
            meaning = "independent"
        known.append((message, meaning))
    return known
