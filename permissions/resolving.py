"""Who may resolve a proposal, whatever their grants: nobody accepts their own (DESIGN 5). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from permissions import phrases
from permissions.actors import Actor, Agent, Party, Person, Source, System, chain


class ResolveRule(StrEnum):
    """Which rule a verdict comes from."""

    ANOTHERS = "anothers"
    """Responder and proposer share no party."""
    AGENTS_IN_PERSON = "agents_in_person"
    """A person, in person, resolves what an agent proposed for them or for a client of theirs."""
    OWN = "own"
    """The responder proposed it."""
    SHARED = "shared"
    """The chains of responder and proposer share a party."""
    NO_RESOLVER = "no_resolver"
    """Sources and the system never resolve."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the responder may resolve it, by which rule, and the sentence for it: about the responder
    (``because``) and addressed to them (``to_responder``)."""

    allowed: bool
    rule: ResolveRule
    because: str
    to_responder: str


def may_resolve(responder: Actor, proposer: Actor, names: Mapping[UUID, str]) -> Verdict:
    """Say whether one actor may resolve what another proposed (DESIGN 5).

    Refused when the two chains share any party, except that a person, in person, may resolve what an agent proposed,
    even for them. This is about who they are; ``review_document`` and the change itself are decided apart.

    Args:
        names: account id → name, for the sentences; an id not in it reads as a removed account.
    """
    rule = _rule(responder, proposer)
    allowed = rule in (ResolveRule.ANOTHERS, ResolveRule.AGENTS_IN_PERSON)
    head = chain(responder)[0]
    told = phrases.proposed([phrases.party_name(party, names) for party in chain(proposer)])
    told_to_responder = phrases.proposed(_names_to(head, proposer, names))
    who = phrases.party_name(head, names)
    if allowed:
        to_responder = phrases.can_accept("You", told_to_responder)
        return Verdict(allowed, rule, phrases.can_accept(who, told), to_responder)
    if rule is ResolveRule.NO_RESOLVER:
        because = phrases.cannot_accept(who, phrases.NO_RESOLVER)
        return Verdict(allowed, rule, because, because)
    because = phrases.cannot_accept(who, told)
    return Verdict(allowed, rule, because, phrases.another_must_accept(told_to_responder))


def _rule(responder: Actor, proposer: Actor) -> ResolveRule:
    if isinstance(responder, Source | System):
        return ResolveRule.NO_RESOLVER
    theirs, own = chain(proposer), chain(responder)
    if not set(own) & set(theirs):
        return ResolveRule.ANOTHERS
    if isinstance(responder, Person) and isinstance(proposer, Agent):
        return ResolveRule.AGENTS_IN_PERSON
    return ResolveRule.OWN if own[0] == theirs[0] else ResolveRule.SHARED


def _names_to(responder: Party, proposer: Actor, names: Mapping[UUID, str]) -> list[str]:
    first, *rest = chain(proposer)
    return [
        "You" if first == responder else phrases.party_name(first, names),
        *("you" if party == responder else phrases.party_name(party, names) for party in rest),
    ]
