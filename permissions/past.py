"""What a decision would have read at a moment in the past: grants rebuilt from their history (DESIGN 5 and 11)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group
from django.db.models import Q

from permissions import phrases
from permissions.actors import Actor
from permissions.clock import AccordNow
from permissions.decisions import AccountKind, Delegated, Facts, Lowering, Standing, accounts_of
from permissions.models import GrantChange, Guarded, User
from permissions.replay import NEVER, History, Moment, Recorded, Team
from permissions.why import Kept

_COLUMNS = (
    "scope_id", "epoch", "at", "object_id", "codename", "given", "expires_at", "account_id", "group_id", "through",
)  # fmt: skip
"""Of a line of the history, in the order of :class:`Recorded`."""


@dataclass(frozen=True, slots=True)
class Past:
    """The facts of a moment, the grants behind them, and, as sentences, what no record shows of it."""

    facts: Facts
    kept: Mapping[UUID, Sequence[Kept]]
    unknown: tuple[str, ...]


def facts_at(
    actor: Actor,
    obj: Guarded,
    moment: Moment,
    *,
    lowers: Sequence[Lowering] = (),
    cap: UUID | None = None,
    delegated: Delegated | None = None,
) -> Past:
    """Rebuild what :func:`permissions.grants.facts` would have read, in four queries however long the history is.

    Grants and who was in which group come from the history. Accounts are as they are at present: whether one was active
    or a superuser's is recorded nowhere.

    Args:
        lowers, cap, delegated: as they were then; who asks knows where that is recorded.
    """
    asked = {*accounts_of(actor, cap), *([delegated.giver] if delegated else [])}
    accounts, now = _accounts(asked)
    history = _history(obj, asked, now)
    kept = {id: history.kept(id, moment) for id in accounts}
    standings = {
        id: replace(standing, grants=tuple(grant.held for grant in kept[id] if grant.stands))
        for id, standing in accounts.items()
    }
    known = Facts(obj.guarded_name, standings, tuple(lowers), cap, delegated)
    return Past(known, kept, (*_unrecorded(accounts), *_unsure(accounts, history, moment)))


def _accounts(ids: Collection[UUID]) -> tuple[dict[UUID, Standing], datetime]:
    rows: list[Any] = list(User.objects.filter(pk__in=ids).annotate(now=AccordNow()))
    standings = {
        row.pk: Standing(row.pk, row.name, AccountKind(row.kind), row.is_active, row.is_superuser) for row in rows
    }
    return standings, max((row.now for row in rows), default=NEVER)


def _history(obj: Guarded, accounts: Collection[UUID], now: datetime) -> History:
    places = Q(scope_id=obj.scope_id, object_id__in={obj.pk, obj.scope_id}, through="")
    holding = GrantChange.objects.filter(places, group__isnull=False).values("group")
    found = GrantChange.objects.filter(
        Q(places, account__in=accounts) | Q(group__in=holding) | Q(account__in=accounts) & ~Q(through="")
    )
    lines = [Recorded(*row) for row in found.order_by("at", "epoch", "pk").values_list(*_COLUMNS)]
    return History(obj.pk, obj.scope_id, lines, _teams(lines, accounts), now)


def _teams(lines: Sequence[Recorded], accounts: Collection[UUID]) -> dict[int, Team]:
    ids = {line.group for line in lines if line.group is not None}
    names = {line.through for line in lines if line.through}
    groups = dict(Group.objects.filter(Q(pk__in=ids) | Q(name__in=names)).values_list("pk", "name"))
    members: dict[int, set[UUID]] = {id: set() for id in groups}
    pairs = User.groups.through.objects.filter(user__in=accounts, group__in=groups)
    for group, account in pairs.values_list("group_id", "user_id"):
        members[group].add(account)
    return {id: Team(id, name, frozenset(members[id])) for id, name in groups.items()}


def _unrecorded(accounts: Mapping[UUID, Standing]) -> list[str]:
    if not accounts:
        return []
    whose = phrases.listed(sorted(standing.name for standing in accounts.values()))
    plural = len(accounts) > 1
    kind = "were active, or a superuser's. They are" if plural else "was active, or a superuser's. It is"
    return [f"Whether the account{'s' if plural else ''} of {whose} {kind} taken as at present."]


def _unsure(accounts: Mapping[UUID, Standing], history: History, moment: Moment) -> list[str]:
    return [
        f"Whether {standing.name} was in group {group} then."
        for id, standing in accounts.items()
        for group in history.unsure(id, moment)
    ]
