"""Whose proposals are whose, for lists: what :mod:`permissions.resolving` says of one, as conditions on many rows."""

from __future__ import annotations

from django.db.models import Q

from permissions.actors import Person, dumps

_ACTING = ("client:", "agent:")
"""How the kinds of actor begin that may act for someone."""


def proposed_for(someone: Person, field: str) -> Q:
    """Return the condition that a person proposed it themselves or that it was proposed for them.

    Args:
        field: the lookup of an :class:`~permissions.fields.ActorField`.
    """
    condition = Q(**{field: someone})
    for kind in _ACTING:
        condition |= _acting_for(someone, field, kind)
    return condition


def not_resolved_by(someone: Person, field: str) -> Q:
    """Return the condition that :func:`~permissions.resolving.may_resolve` refuses a person, in person: they proposed
    it, or a client did that acts for them. (What an agent proposed for them, they may resolve: DESIGN 5.)

    Args:
        field: as for :func:`proposed_for`.
    """
    return Q(**{field: someone}) | _acting_for(someone, field, "client:")


def _acting_for(someone: Person, field: str, kind: str) -> Q:
    return Q(**{f"{field}__startswith": kind, f"{field}__endswith": f"/{dumps(someone)}"})
