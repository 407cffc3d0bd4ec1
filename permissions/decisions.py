"""What an actor may do, and who may resolve what someone proposed (DESIGN 5). Pure: decides on facts, reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import assert_never
from uuid import UUID

from permissions import phrases, roles
from permissions.actors import Actor, Agent, Client, Party, Person, Source, System, account_of, chain, consulted


class Level(IntEnum):
    """How far an actor may go with an action."""

    DENY = 0
    PROPOSE = 1
    ALLOW = 2


class Action(StrEnum):
    """What can be asked about an object."""

    VIEW = roles.VIEW
    COMMENT = roles.COMMENT
    START_TURN = roles.START_TURN
    CHANGE_DOCUMENT = roles.CHANGE_DOCUMENT
    REVIEW_DOCUMENT = roles.REVIEW_DOCUMENT
    MANAGE = roles.MANAGE
    USE_TOOL = roles.USE_TOOL


class AccountKind(StrEnum):
    """What an account stands for; only a person signs in."""

    PERSON = "person"
    AGENT = "agent"
    CLIENT = "client"


KINDS: Mapping[type[Party], AccountKind] = MappingProxyType(
    {Person: AccountKind.PERSON, Agent: AccountKind.AGENT, Client: AccountKind.CLIENT}
)
"""The kind of account that each party with an account has."""

LEVELS: Mapping[Action, Mapping[str, Level]] = MappingProxyType(
    {
        Action.VIEW: {roles.VIEW: Level.ALLOW},
        Action.COMMENT: {roles.COMMENT: Level.ALLOW},
        Action.START_TURN: {roles.START_TURN: Level.ALLOW},
        Action.CHANGE_DOCUMENT: {roles.CHANGE_DOCUMENT: Level.ALLOW, roles.PROPOSE_DOCUMENT: Level.PROPOSE},
        Action.REVIEW_DOCUMENT: {roles.REVIEW_DOCUMENT: Level.ALLOW},
        Action.MANAGE: {roles.MANAGE: Level.ALLOW},
        Action.USE_TOOL: {roles.USE_TOOL: Level.ALLOW, roles.MANAGE: Level.ALLOW},
    }
)
"""The level each grant gives for each action. Whoever manages a workspace may use its tools (the owner's column)."""

SYSTEM_MAY = frozenset({Action.VIEW, Action.COMMENT})
SOURCE_MAY = frozenset({Action.VIEW, Action.COMMENT, Action.START_TURN})
"""Neither has an account or grants: the system tells people things; a source's input is a notice or asks for a turn."""


@dataclass(frozen=True, slots=True)
class Held:
    """One grant an account holds: on the object itself or on its workspace, directly or ``through`` a group."""

    codename: str
    on_scope: bool = False
    through: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the database says of one account at the moment of the decision; expired grants are not among ``grants``."""

    account: UUID
    name: str
    kind: AccountKind = AccountKind.PERSON
    active: bool = True
    superuser: bool = False
    grants: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class Lowering:
    """Something that lowers an agent's or a client's change to a proposal; ``because`` is a sentence without its
    full stop, like ``Launch is in suggest mode``. A delegation in the thread takes the place of what is ``of_mode``."""

    because: str
    of_mode: bool = False
    undone_by: str = ""
    """What would undo it, as an order: ``set Launch to edit mode``."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """What a manager lets the agent that is decided about do to documents in its thread until a moment (DESIGN 4).

    ``giver`` is the manager's account: it is consulted while the delegation stands.
    """

    level: Level
    giver: UUID
    until: datetime


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a decision reads. ``cap`` is the owner of the timer or route a turn came from: their rights bound it
    though it does not act for them. ``delegated`` is what stands for the actor's agent in its thread and the object's
    workspace; the giver's standing is among ``standings``. ``outside``: the token in the actor's chain is not for the
    object's scope."""

    object_name: str
    standings: Mapping[UUID, Standing] = field(default_factory=dict)
    lowers: tuple[Lowering, ...] = ()
    cap: UUID | None = None
    delegated: Delegated | None = None
    outside: bool = False


@dataclass(frozen=True, slots=True)
class PartyLine:
    """What was found for one party: ``name`` and ``via`` read as a sentence ("Ben holds view on Plan")."""

    party: Party
    name: str
    level: Level
    via: str
    only_views: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer, the sentence that every surface shows for it, and a line for each party consulted."""

    level: Level
    because: str
    parties: tuple[PartyLine, ...] = ()
    lowered_by: str = ""
    grants_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """The lines of everyone consulted, what lowers a change, and, where a delegation decided, its giver's line."""

    lines: tuple[PartyLine, ...]
    lowers: tuple[Lowering, ...] = ()
    giver: PartyLine | None = None

    @property
    def reasons(self) -> tuple[PartyLine, ...]:
        """Every line that decided: each party's once."""
        return self.lines if self.giver is None or self.giver in self.lines else (*self.lines, self.giver)


def decide(actor: Actor, action: Action, facts: Facts) -> Decision:
    """Decide how far an actor may go with an action on one object: the lowest of its chain (DESIGN 5).

    An inactive or missing account anywhere in the chain denies, and so does a token for other scopes. Suggest mode and
    a document's policy lower changes by agents and clients, never a person's own. A delegation takes the place of the
    agent's own grants and of the mode.
    """
    lines = tuple(_line(party, action, facts) for party in consulted(actor, facts.cap))
    found = _Found(lines, facts.lowers if _is_lowered(actor, action) else ())
    if facts.delegated is not None and isinstance(actor, Agent) and action is Action.CHANGE_DOCUMENT:
        found = _delegated(found, facts, facts.delegated)
    level = min(line.level for line in found.lines)
    lowered_by = _lowered_by(found, level)
    because = _because(actor, action, facts, found, lowered_by)
    return Decision(Level.PROPOSE if lowered_by else level, because, found.reasons, lowered_by)


def giving(action: Action, kind: AccountKind) -> Mapping[str, Level]:
    """Return the level that each grant of an account of a kind gives for an action: agents and clients never manage."""
    may_manage = kind is AccountKind.PERSON
    return {codename: level for codename, level in LEVELS[action].items() if may_manage or codename != roles.MANAGE}


def holds(held: Held, object_name: str) -> str:
    """Say what a grant gives, where, and through which group, of an object of this name."""
    return phrases.holds(held.codename, on="its workspace" if held.on_scope else object_name, through=held.through)


def accounts_of(actor: Actor, cap: UUID | None = None) -> tuple[UUID, ...]:
    """Return the accounts whose standing a decision about this actor needs."""
    return tuple(id for party in consulted(actor, cap) if (id := account_of(party)) is not None)


def _is_lowered(actor: Actor, action: Action) -> bool:
    return action is Action.CHANGE_DOCUMENT and isinstance(actor, Agent | Client)


def _delegated(found: _Found, facts: Facts, given: Delegated) -> _Found:
    """Put a delegation in the place of the agent's own grants and its thread's mode (docs/decisions/0013).

    It gives nothing on what the agent may not view, nor what its giver may not do themselves; then it only takes.
    """
    own, *others = found.lines
    giver = _line(Person(given.giver), Action.CHANGE_DOCUMENT, facts)
    via = phrases.delegated(given.level.name.lower(), giver.name, given.until)
    line = replace(own, level=given.level, via=via, only_views=False)
    if giver.level >= given.level and _line(own.party, Action.VIEW, facts).level is Level.ALLOW:
        lowers = tuple(lowering for lowering in found.lowers if not lowering.of_mode)
        return _Found((line, *others), lowers, giver)
    if given.level < own.level:
        return _Found((line, *others), found.lowers, giver)
    return found


def _lowered_by(found: _Found, level: Level) -> str:
    """Say what made a proposal of a change that everyone whom the agent or client acts for could make."""
    own, *others = found.lines
    if level is Level.ALLOW and found.lowers:
        return found.lowers[0].because
    if found.giver and own.level is level is Level.PROPOSE and all(line.level is Level.ALLOW for line in others):
        return f"{own.name} {own.via}"
    return ""


def _line(party: Party, action: Action, facts: Facts) -> PartyLine:
    match party:
        case Source():
            return _by_nature(party, phrases.SOURCE_NAME, may=action in SOURCE_MAY)
        case System():
            return _by_nature(party, phrases.SYSTEM_NAME, may=action in SYSTEM_MAY)
        case Person(id=id) | Client(id=id) | Agent(id=id):
            return _account_line(party, KINDS[type(party)], facts.standings.get(id), action, facts)
        case _:
            assert_never(party)


def _by_nature(party: Party, name: str, *, may: bool) -> PartyLine:
    if may:
        return PartyLine(party, name, Level.ALLOW, phrases.BY_NATURE)
    return PartyLine(party, name, Level.DENY, phrases.NO_GRANT)


def _account_line(
    party: Party, kind: AccountKind, standing: Standing | None, action: Action, facts: Facts
) -> PartyLine:
    if standing is None:
        return PartyLine(party, phrases.GONE_NAME, Level.DENY, phrases.IS_GONE)
    if bar := _bar(standing, kind, action) or _bar_of_token(party, facts):
        return PartyLine(party, standing.name, Level.DENY, bar)
    if standing.superuser and kind is AccountKind.PERSON:
        return PartyLine(party, standing.name, Level.ALLOW, phrases.IS_SUPERUSER)
    held = _best(standing, kind, action)
    if held is None:
        only_views = bool(standing.grants) and {grant.codename for grant in standing.grants} == {roles.VIEW}
        return PartyLine(party, standing.name, Level.DENY, phrases.NO_GRANT, only_views)
    return PartyLine(party, standing.name, LEVELS[action][held.codename], holds(held, facts.object_name))


def _bar(standing: Standing, kind: AccountKind, action: Action) -> str:
    if standing.kind is not kind:
        return phrases.IS_ANOTHER_KIND
    if not standing.active:
        return phrases.IS_INACTIVE
    if action is Action.MANAGE and kind is not AccountKind.PERSON:
        return phrases.NEVER_MANAGES
    return ""


def _bar_of_token(party: Party, facts: Facts) -> str:
    return phrases.IS_FOR_OTHERS if facts.outside and isinstance(party, Client) else ""


def _best(standing: Standing, kind: AccountKind, action: Action) -> Held | None:
    """Return the grant that gives the highest level; among equals the nearest: the object's own, then a direct one,
    then the group first by name, so that the same facts are told alike whatever order they are read in."""
    levels = giving(action, kind)
    candidates = [grant for grant in standing.grants if grant.codename in levels]
    return min(candidates, key=lambda grant: (-levels[grant.codename], grant.on_scope, grant.through), default=None)


def _because(actor: Actor, action: Action, facts: Facts, found: _Found, lowered_by: str) -> str:
    obj, lines = facts.object_name, found.lines
    subject = " for ".join(line.name for line in lines[: len(chain(actor))])
    others = [line.name for line in lines if line.level is Level.ALLOW]
    lacking = [line for line in lines if line.level is Level.DENY]
    proposing = [line.name for line in lines if line.level is Level.PROPOSE]
    if lowered_by:
        return phrases.lowered(subject, obj, lowered_by)
    if lacking:
        return _refusal(lacking, action, obj, others)
    if proposing:
        return phrases.only_proposes(proposing, obj, others=others)
    return phrases.allowed(subject, action, obj, [f"{line.name} {line.via}" for line in found.reasons])


def _refusal(lacking: list[PartyLine], action: Action, obj: str, others: list[str]) -> str:
    barred = next((line for line in lacking if line.via != phrases.NO_GRANT), None)
    if barred:
        return phrases.refused_because(barred.name, action, obj, barred.via)
    if len(lacking) == 1 and lacking[0].only_views:
        return phrases.only_views(lacking[0].name, action, obj, others=others)
    return phrases.refused([line.name for line in lacking], action, obj, others=others)
