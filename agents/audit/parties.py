"""Reading the line of text an actor is kept as, without the code that writes it. Pure.

``agent:A@T/client:C/person:P`` is the agent A in the thread T, for the client C, for the person P (DESIGN 5).
"""

from __future__ import annotations

NO_ONE = "no one"


def parties(actor: str) -> tuple[str, ...]:
    """Return everyone in the actor's chain, itself first. A source's owner is no link of it: they are only asked."""
    return tuple(part for part in actor.split("/") if not part.startswith("owner:"))


def accounts(actor: str) -> tuple[str, ...]:
    """Return the ids of the accounts in the chain: those whose grants bound what the actor does."""
    held = (part.partition(":") for part in parties(actor))
    return tuple(id.partition("@")[0] for kind, _, id in held if kind in {"person", "client", "agent"})


def kind(actor: str) -> str:
    """Return what the actor is: ``person``, ``client``, ``agent``, ``source`` or ``system``."""
    return actor.partition(":")[0]


def whom(actor: str) -> str | None:
    """Return whom a turn is for that this actor's words start: themselves, or whom an agent acts for; None: no one."""
    match kind(actor):
        case "person" | "client":
            return actor
        case "agent":
            return actor.partition("/")[2] or None
        case _:
            return None


def author(actor: str) -> str:
    """Return the text that is equal for two actors exactly when they are one author (DESIGN 5, same_author)."""
    return actor if kind(actor) == "source" else whom(actor) or NO_ONE


def may_resolve(responder: str, proposer: str) -> bool:
    """Say whether one may accept or reject what the other proposed (DESIGN 5, may_resolve)."""
    if kind(responder) in {"source", "system"}:
        return False
    if not set(parties(responder)) & set(parties(proposer)):
        return True
    return kind(responder) == "person" and kind(proposer) == "agent"


def may_withdraw(responder: str, proposer: str) -> bool:
    """Say whether a proposal is the responder's own, or was made for the person the responder is."""
    return responder == proposer or (kind(responder) == "person" and responder in parties(proposer))
