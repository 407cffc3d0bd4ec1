"""What would have to change for a decision to reach another level (DESIGN 11). Pure.

Every way is decided again with its changes made, so what it promises is what :func:`decide` would say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from uuid import UUID

from permissions.actors import Actor, account_of
from permissions.decisions import (
    KINDS,
    LEVELS,
    Action,
    Decision,
    Facts,
    Held,
    Level,
    Lowering,
    decide,
    giving,
)


@dataclass(frozen=True, slots=True)
class Way:
    """The fewest changes with which the decision would reach ``level``."""

    level: Level
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Something that could be done. All of them only give, but for one that ``may_take``: the end of a delegation."""

    says: str
    made: Callable[[Facts], Facts] = field(repr=False)
    may_take: bool = False


def ways_to(actor: Actor, action: Action, facts: Facts, decision: Decision, *, narrowed: bool) -> Iterator[Way]:
    """Yield, for each level above a decision's, the fewest changes that lead there, where any do.

    Args:
        narrowed: the object is not its workspace, so that a grant may be given on either.
    """
    told: set[tuple[str, ...]] = set()
    reachable = sorted({*LEVELS[action].values()})
    for level in (level for level in reachable if level > decision.level):
        way = fewest(actor, action, facts, level, narrowed=narrowed)
        if way is not None and way.changes not in told:
            told.add(way.changes)
            yield way


def fewest(actor: Actor, action: Action, facts: Facts, level: Level, *, narrowed: bool) -> Way | None:
    """Find the fewest changes with which the decision reaches a level: all sets are tried, small ones first."""
    possible = list(changes_to(actor, action, facts, level, narrowed=narrowed))
    giving = [change for change in possible if not change.may_take]
    if all(decide(actor, action, with_changes(most, facts)).level < level for most in (possible, giving)):
        return None
    for number in range(1, len(possible) + 1):
        for some in combinations(possible, number):
            then = decide(actor, action, with_changes(some, facts)).level
            if then >= level:
                return Way(then, tuple(change.says for change in some))
    return None


def with_changes(changes: Sequence[Change], facts: Facts) -> Facts:
    """Return the facts as they would be after some changes."""
    for change in changes:
        facts = change.made(facts)
    return facts


def changes_to(actor: Actor, action: Action, facts: Facts, level: Level, *, narrowed: bool) -> Iterator[Change]:
    """Yield everything that could be done for a decision to reach a level: to who lacks it, to what lowers it."""
    lacking = [line for line in decide(actor, action, facts).parties if line.level < level]
    codename = _giving(action, level)
    for line in lacking:
        account = account_of(line.party)
        standing = facts.standings.get(account) if account else None
        if account is None or standing is None or standing.kind is not KINDS[type(line.party)]:
            continue
        if not standing.active:
            yield Change(f"switch {line.name} on again", _switched_on(account))
        if codename in giving(action, standing.kind):
            where = f"{facts.object_name} or its workspace" if narrowed else facts.object_name
            yield Change(f"give {line.name} {codename.replace('_', ' ')} on {where}", _given(account, codename))
    for lowering in facts.lowers:
        yield Change(lowering.undone_by or f"undo that {lowering.because}", _undone(lowering))
    if facts.delegated is not None:
        giver = facts.standings.get(facts.delegated.giver)
        says = f"end {giver.name}'s delegation in the thread" if giver else "end the delegation in the thread"
        yield Change(says, lambda facts: replace(facts, delegated=None), may_take=True)


def _giving(action: Action, level: Level) -> str:
    """Return the codename that gives a level and no more."""
    giving = [codename for codename, given in LEVELS[action].items() if given >= level]
    return min(giving, key=lambda codename: (LEVELS[action][codename], codename != action.value))


def _given(account: UUID, codename: str) -> Callable[[Facts], Facts]:
    def made(facts: Facts) -> Facts:
        standing = facts.standings[account]
        given = replace(standing, grants=(*standing.grants, Held(codename)))
        return replace(facts, standings={**facts.standings, account: given})

    return made


def _switched_on(account: UUID) -> Callable[[Facts], Facts]:
    def made(facts: Facts) -> Facts:
        standing = replace(facts.standings[account], active=True)
        return replace(facts, standings={**facts.standings, account: standing})

    return made


def _undone(lowering: Lowering) -> Callable[[Facts], Facts]:
    return lambda facts: replace(facts, lowers=tuple(one for one in facts.lowers if one != lowering))
