"""The one table of words in which decisions are told. Every surface shows these sentences as they are. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import assert_never
from uuid import UUID

from permissions.actors import Actor, Agent, Client, Party, Person, Source, System, chain

VERBS = {
    "view": "view",
    "comment": "comment on",
    "start_turn": "start turns in",
    "change_document": "change",
    "review_document": "review proposals on",
    "manage": "manage",
    "use_tool": "use",
}
"""What each action does to its object, after "may"."""

GONE_NAME = "A removed account"
SOURCE_NAME = "The source"
SYSTEM_NAME = "The system"

NO_GRANT = "holds no grant for it"
IS_GONE = "is gone"
IS_INACTIVE = "is inactive"
IS_SUPERUSER = "is a superuser"
IS_ANOTHER_KIND = "is another kind of account"
NEVER_MANAGES = "is no person, and only people manage"
IS_FOR_OTHERS = "came with a token that is for other workspaces"
BY_NATURE = "may by what it is"


def party_name(party: Party, names: Mapping[UUID, str]) -> str:
    """Return what a sentence calls one party.

    Args:
        names: id → name, of accounts and sources; an id not in it reads as a removed account, or as "the source".
    """
    match party:
        case Person(id=id) | Client(id=id) | Agent(id=id):
            return names.get(id, GONE_NAME)
        case Source(id=id):
            return names.get(id, SOURCE_NAME)
        case System():
            return SYSTEM_NAME
        case _:
            assert_never(party)


def told(actor: Actor, names: Mapping[UUID, str]) -> str:
    """Return what a sentence calls an actor: ``Ben``, ``Robin for Ana``."""
    return " for ".join(party_name(party, names) for party in chain(actor))


def holds(codename: str, *, on: str, through: str) -> str:
    """Say which grant decided: ``holds change document on its workspace, through group Editors``."""
    group = f", through group {through}" if through else ""
    return f"holds {codename.replace('_', ' ')} on {on}{group}"


def ending(expires_at: datetime | None, *, over: bool) -> str:
    """Say, behind a grant, when it ends or ended: ``, until 2026-03-01 10:00 UTC``; nothing where it never does."""
    if expires_at is None:
        return ""
    return f", {'expired' if over else 'until'} {expires_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


DELEGATED = {
    "allow": "may change documents in this thread",
    "propose": "may only propose changes in this thread",
    "deny": "may change no document in this thread",
}
"""What a delegation says of its agent, by its level."""


def delegated(level: str, giver: str, until: datetime) -> str:
    """Say what a delegation makes of its agent: ``may change documents in this thread by Ana's delegation, until …``.

    Args:
        level: ``allow``, ``propose`` or ``deny``.
        until: in UTC.
    """
    return f"{DELEGATED[level]} by {giver}'s delegation, until {until.day} {until:%B %Y, %H:%M} UTC"


def listed(names: Sequence[str]) -> str:
    """Join names: ``Ben``, ``Ben and Robin``, ``Ana, Ben and Robin``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def allowed(subject: str, action: str, obj: str, reasons: Sequence[str]) -> str:
    """Say who may do it and which grants decided."""
    return f"{subject} may {VERBS[action]} {obj}: {'; '.join(reasons)}."


def refused(lacking: Sequence[str], action: str, obj: str, *, others: Sequence[str]) -> str:
    """Say who lacks the right, and who of the chain has it."""
    return f"{listed(lacking)} may not {VERBS[action]} {obj}{_others(others, 'may')}."


def refused_because(name: str, action: str, obj: str, reason: str) -> str:
    """Say who may not do it and what about their account is why."""
    return f"{name} may not {VERBS[action]} {obj}: {name} {reason}."


def only_views(name: str, action: str, obj: str, *, others: Sequence[str]) -> str:
    """Say that someone may view and nothing more, and who of the chain could do it."""
    return f"{name} may only view {obj}{_others(others, f'may {VERBS[action]} it')}."


def only_proposes(names: Sequence[str], obj: str, *, others: Sequence[str]) -> str:
    """Say whose grants reach no further than proposing."""
    return f"{listed(names)} may only propose changes to {obj}{_others(others, 'may change it')}."


def lowered(subject: str, obj: str, why: str) -> str:
    """Say what lowered a change to a proposal; ``why`` is a sentence without its full stop."""
    return f"{subject} may only propose changes to {obj}: {why}."


def proposed(names: Sequence[str]) -> str:
    """Say who proposed it and for whom: ``Robin proposed it for Desk, acting for you``."""
    head = names[0]
    principals = f" for {', acting for '.join(names[1:])}" if len(names) > 1 else ""
    return f"{head} proposed it{principals}"


def can_accept(responder: str, proposal: str) -> str:
    """Say that the responder may resolve the proposal."""
    return f"{responder} can accept: {proposal}."


def another_must_accept(proposal: str) -> str:
    """Tell a responder that the proposal is theirs or made for them."""
    return f"{proposal}: someone else must accept."


def cannot_accept(responder: str, reason: str) -> str:
    """Say that the responder may not resolve the proposal, and why."""
    return f"{responder} can't accept: {reason}."


def others_can(names: Sequence[str], *, more: bool) -> str:
    """Say who could do it: ``Ben can.``, ``Ana, Ben, Vera and others can.``"""
    return f"{listed([*names, 'others'] if more else names)} can."


def nobody_can_accept(obj: str) -> str:
    """Say that the proposal waits for nobody who is there now, and what that person would need."""
    return f"Nobody here can accept it at present: nobody else may review proposals on {obj} and change it."


def to_reader(sentence: str, name: str) -> str:
    """Return a sentence about a person as that person is told it: ``Vera may only view`` is ``you may only view``."""
    return f"you{sentence.removeprefix(name)}" if sentence.startswith(f"{name} ") else sentence


SOMEONE_CAN = "Someone else here can."
NO_RESOLVER = "only people, and agents and clients, resolve proposals"


def _others(names: Sequence[str], may: str) -> str:
    return f" ({listed(names)} {may})" if names else ""
