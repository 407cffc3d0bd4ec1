"""Who holds rights on some objects: the other way round from a decision, for naming people (DESIGN 5, may_resolve).

What is returned is decided on with :func:`permissions.decisions.decide`, so a person is named exactly where the check
would let them act.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import QuerySet

from permissions.decisions import AccountKind, Held, Standing
from permissions.grants import grant_models, unexpired
from permissions.models import Guarded

Standings = Mapping[UUID, Standing]
"""By account."""

Places = Mapping[type[models.Model], Collection[UUID]]
Row = tuple[UUID, str, str, bool, UUID, str]

_COLUMNS = ("", "__display_name", "__username", "__is_superuser")


def people_holding(codename: str, objs: Sequence[Guarded]) -> dict[UUID, Standings]:
    """Return the standing, on each of some objects, of the active people who hold a grant on one of them or its scope.

    Two queries, however many objects there are. A superuser who holds nothing there is not among them.

    Args:
        codename: the grant that makes someone worth looking at.

    Returns:
        By the object's id: the people whose grants reach it, by name.
    """
    places: dict[type[models.Model], set[UUID]] = {}
    for obj in objs:
        for model, pk in obj.grant_objects():
            places.setdefault(model, set()).add(pk)
    named = {row[0]: row[1] or row[2] for row in _rows(places, {"permission__codename": codename}, None)}
    candidates = sorted(named, key=lambda account: (named[account], account))
    held: dict[tuple[UUID, UUID], list[Row]] = {}
    for row in _rows(places, {}, candidates) if candidates else ():
        held.setdefault((row[4], row[0]), []).append(row)
    return {obj.pk: _standings(obj, candidates, held) for obj in objs}


def _standings(obj: Guarded, candidates: Sequence[UUID], held: Mapping[tuple[UUID, UUID], Sequence[Row]]) -> Standings:
    places = [pk for _, pk in obj.grant_objects()]
    found: dict[UUID, Standing] = {}
    for account in candidates:
        theirs = [row for place in places for row in held.get((place, account), ())]
        if theirs:
            _, display_name, username, superuser, _, _ = theirs[0]
            grants = tuple(Held(row[5], on_scope=row[4] == places[-1]) for row in theirs)
            found[account] = Standing(account, display_name or username, superuser=superuser, grants=grants)
    return found


def _rows(places: Places, which: Mapping[str, Any], accounts: Collection[UUID] | None) -> QuerySet[Any, Row]:
    """The grants of active people in some places: whose, where, and which."""
    parts = []
    for model, ids in places.items():
        for grants, holder in zip(grant_models(model), ("user", "group__user"), strict=True):
            whose = {} if accounts is None else {f"{holder}__in": accounts}
            person = {f"{holder}__is_active": True, f"{holder}__kind": AccountKind.PERSON.value}
            held: dict[str, Any] = {"content_object__in": ids, **which, **whose, **person}
            found = grants._default_manager.filter(unexpired(), **held)
            columns = [f"{holder}{column}" for column in _COLUMNS]
            parts.append(found.values_list(*columns, "content_object_id", "permission__codename"))
    first, *rest = parts
    return first.union(*rest, all=True)
