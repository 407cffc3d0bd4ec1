"""Why a decision is as it is, and what would have to change (DESIGN 5 and 11). Pure: explains facts, reads nothing.

Every way named here was decided again with its changes made, so what it promises is what :func:`decide` would say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from permissions import phrases
from permissions.actors import Actor, Agent, Client, Party, Person, account_of, chain, dumps, person
from permissions.decisions import (
    KINDS,
    Action,
    Decision,
    Facts,
    Held,
    Level,
    Lowering,
    PartyLine,
    decide,
    giving,
    holds,
)
from permissions.ways import Way, ways_to


@dataclass(frozen=True, slots=True)
class Kept:
    """One grant as it is kept: ``stands`` is False once it has expired."""

    held: Held
    expires_at: datetime | None = None
    stands: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found about a party; ``counts`` where it gives the action."""

    says: str
    counts: bool


@dataclass(frozen=True, slots=True)
class Link:
    """One party of the chain: how far it may go, and every grant that bears on the action."""

    party: Party
    name: str
    part: str
    level: Level
    findings: tuple[Finding, ...]
    decides: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """Something that may lower a change to a proposal; ``lowers`` says whether it does so here."""

    says: str
    lowers: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with what was found and what would change it.

    Attributes:
        instead: who of the chain may go further by themselves, as sentences.
        unknown: what is not recorded of a moment in the past and was taken as it is at present, as sentences.
        at: the moment it is about, None for this one.
    """

    subject: str
    action: Action
    object_name: str
    decision: Decision
    links: tuple[Link, ...]
    bounds: tuple[Bound, ...] = ()
    ways: tuple[Way, ...] = ()
    instead: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    at: datetime | None = None


def explain(
    actor: Actor,
    action: Action,
    facts: Facts,
    kept: Mapping[UUID, Sequence[Kept]],
    *,
    narrowed: bool,
    unknown: Sequence[str] = (),
    at: datetime | None = None,
) -> Explanation:
    """Decide on facts and say why.

    Args:
        kept: by account, the grants on the object and its workspace, expired ones too.
        narrowed: the object is not its workspace, so that a grant may be given on either.
        unknown, at: what an explanation of a moment in the past carries; it names no ways, for the moment is over.
    """
    decision = decide(actor, action, facts)
    names = {id: standing.name for id, standing in facts.standings.items()}
    return Explanation(
        subject=phrases.told(actor, names),
        action=action,
        object_name=facts.object_name,
        decision=decision,
        links=_links(actor, action, facts, decision, kept),
        bounds=tuple(_bound(actor, action, facts, lowering) for lowering in facts.lowers),
        ways=() if at else tuple(ways_to(actor, action, facts, decision, narrowed=narrowed)),
        instead=() if at else tuple(_instead(actor, action, facts, decision)),
        unknown=tuple(unknown),
        at=at,
    )


def lines_of(explanation: Explanation) -> list[str]:
    """Return an explanation as the lines a terminal shows."""
    found = [f"{explanation.decision.level.name.lower()}: {explanation.decision.because}"]
    for link in explanation.links:
        found.append(f"  {link.name}, {link.part}: {link.level.name.lower()}{' (decides)' if link.decides else ''}")
        found += [f"    {'+' if finding.counts else '-'} {finding.says}" for finding in link.findings]
    found += [f"  {bound.says}: {'lowers it' if bound.lowers else 'does not decide'}" for bound in explanation.bounds]
    found += [f"To {way.level.name.lower()}: {phrases.listed(way.changes)}." for way in explanation.ways]
    return [*found, *explanation.instead, *(f"Not recorded: {unknown}" for unknown in explanation.unknown)]


def json_of(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain values."""
    return {
        "subject": explanation.subject,
        "action": explanation.action.value,
        "object": explanation.object_name,
        "level": explanation.decision.level.name.lower(),
        "because": explanation.decision.because,
        "lowered_by": explanation.decision.lowered_by or None,
        "at": explanation.at.isoformat() if explanation.at else None,
        "parties": [
            {
                "party": dumps(link.party),
                "name": link.name,
                "level": link.level.name.lower(),
                "decides": link.decides,
                "found": [{"says": finding.says, "counts": finding.counts} for finding in link.findings],
            }
            for link in explanation.links
        ],
        "bounds": [{"says": bound.says, "lowers": bound.lowers} for bound in explanation.bounds],
        "ways": [{"level": way.level.name.lower(), "changes": list(way.changes)} for way in explanation.ways],
        "instead": list(explanation.instead),
        "unknown": list(explanation.unknown),
    }


def _links(
    actor: Actor, action: Action, facts: Facts, decision: Decision, kept: Mapping[UUID, Sequence[Kept]]
) -> tuple[Link, ...]:
    parts = [*_parts(actor), *(_beyond(line.party, facts) for line in decision.parties[len(chain(actor)) :])]
    short = decision.level < Level.ALLOW and not decision.lowered_by
    return tuple(
        Link(
            party=line.party,
            name=line.name,
            part=part,
            level=line.level,
            findings=_findings(line, action, facts, kept),
            decides=short and line.level is decision.level,
        )
        for line, part in zip(decision.parties, parts, strict=True)
    )


def _parts(actor: Actor) -> list[str]:
    """Say what each party of the chain is to the decision."""
    parts: list[str] = []
    for party in chain(actor):
        match party:
            case Person():
                parts.append("whom it is for" if parts else "in person")
            case Client():
                parts.append("the client it works for" if parts else "the client")
            case Agent():
                parts.append("the agent")
            case _:
                parts.append("by what it is")
    return parts


def _beyond(party: Party, facts: Facts) -> str:
    """Say what a party is to the decision that the actor does not act for."""
    delegated = facts.delegated is not None and party == Person(facts.delegated.giver)
    return "who delegated it" if delegated else "whose rights cap it"


def _findings(
    line: PartyLine, action: Action, facts: Facts, kept: Mapping[UUID, Sequence[Kept]]
) -> tuple[Finding, ...]:
    account = account_of(line.party)
    mine = kept.get(account, ()) if account else ()
    levels = giving(action, KINDS[type(line.party)]) if account else {}
    serving = sorted(
        (grant for grant in mine if grant.held.codename in levels),
        key=lambda grant: (not grant.stands, -levels[grant.held.codename], grant.held.on_scope),
    )
    may = line.level > Level.DENY
    found = [Finding(_told(grant, facts.object_name), grant.stands and may) for grant in serving]
    if line.via not in {holds(grant.held, facts.object_name) for grant in serving if grant.stands}:
        found.insert(0, Finding(line.via, counts=may))
    others = sorted({grant.held.codename for grant in mine if grant.stands and grant not in serving})
    if others and not may:
        named = phrases.listed([codename.replace("_", " ") for codename in others])
        found.append(Finding(f"holds {named}, which is not enough", counts=False))
    return tuple(found)


def _told(grant: Kept, object_name: str) -> str:
    held = holds(grant.held, object_name)
    if not grant.stands:
        held = f"held {held.removeprefix('holds ')}"
    return f"{held}{phrases.ending(grant.expires_at, over=not grant.stands)}"


def _bound(actor: Actor, action: Action, facts: Facts, lowering: Lowering) -> Bound:
    alone, without = (decide(actor, action, replace(facts, lowers=lowers)).level for lowers in ((lowering,), ()))
    return Bound(lowering.because, lowers=alone < without)


def _instead(actor: Actor, action: Action, facts: Facts, decision: Decision) -> Iterator[str]:
    by_hand = person(actor)
    if by_hand is None or by_hand == actor:
        return
    alone = decide(by_hand, action, replace(facts, cap=None))
    if alone.level > decision.level:
        name = phrases.party_name(by_hand, {id: standing.name for id, standing in facts.standings.items()})
        may = "may" if alone.level is Level.ALLOW else "may only propose to"
        yield f"In person, {name} {may} {phrases.VERBS[action]} {facts.object_name}."
