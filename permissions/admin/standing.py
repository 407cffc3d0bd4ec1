"""Who holds which grant on one object, as the admin's page of grants shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group
from django.db.models import BooleanField, Case, Q, QuerySet, Value, When

from permissions.actors import Person
from permissions.decisions import AccountKind, Action
from permissions.grants import grant_models, readable, unexpired
from permissions.ledger import Holder
from permissions.models import Guarded, User


@dataclass(frozen=True, slots=True)
class Grant:
    """One codename a holder holds: ``ref`` names it in a form, ``stands`` is False once it has expired."""

    codename: str
    ref: str
    expires_at: datetime | None
    stands: bool

    @property
    def says(self) -> str:
        """The codename as people read it: ``change document``."""
        return self.codename.replace("_", " ")


@dataclass(frozen=True, slots=True)
class HolderLine:
    """A holder and all it holds on one object; ``detail`` tells holders of one name apart."""

    holder: Holder
    detail: str
    grants: tuple[Grant, ...]


def apart(account: User) -> str:
    """Return what tells accounts of one name apart: a person's user name; of an agent or a client, that it is one."""
    return account.username if account.kind == AccountKind.PERSON.value else account.kind


def named_apart(account: User) -> str:
    """Return an account's name with what tells it apart: ``Ana (ana)``, ``Robin (agent)``."""
    return f"{account} ({apart(account)})"


def holder_lines(obj: Guarded) -> list[HolderLine]:
    """Return who holds what on an object itself, accounts first, in three queries."""
    users, groups = grant_models(type(obj))
    on_it = Q(content_object=obj)
    direct = _rows(users._default_manager.filter(on_it).select_related("user", "permission"))
    through = _rows(groups._default_manager.filter(on_it).select_related("group", "permission"))
    lines = [_account_line(rows[0].user, rows) for rows in _by_holder(direct, "user_id")]
    members = _members(row.group_id for row in through)
    lines += [_group_line(rows[0].group, rows, members) for rows in _by_holder(through, "group_id")]
    return sorted(lines, key=lambda line: (isinstance(line.holder, Group), str(line.holder), line.detail))


def group_grants_seen_by(actor: Person, group: Group) -> list[str]:
    """Return what a group holds on the objects the actor manages: ``view on Launch plan``. Grants on others are not
    theirs to read (FAILURES L4)."""
    found: list[str] = []
    for guarded in (model for model in apps.get_models() if issubclass(model, Guarded)):
        _, groups = grant_models(guarded)
        seen = readable(guarded._default_manager.all(), actor, Action.MANAGE)
        held = groups._default_manager.filter(Q(content_object__in=seen), group=group)
        rows = held.select_related("content_object", "permission").order_by("content_object_id", "permission_id")
        found += [f"{row.permission.codename} on {attrgetter('content_object')(row)}" for row in rows]
    return found


def _rows(grants: QuerySet[Any]) -> list[Any]:
    stands = Case(When(unexpired(), then=Value(value=True)), default=Value(value=False), output_field=BooleanField())
    return list(grants.annotate(stands=stands).order_by("permission_id"))


def _by_holder(rows: list[Any], key: str) -> list[list[Any]]:
    held: dict[Any, list[Any]] = {}
    for row in rows:
        held.setdefault(getattr(row, key), []).append(row)
    return list(held.values())


def _account_line(account: User, rows: list[Any]) -> HolderLine:
    detail = apart(account) if account.is_active else f"{apart(account)}, switched off"
    return HolderLine(account, detail, _grants("account", account, rows))


def _group_line(group: Group, rows: list[Any], members: dict[int, list[str]]) -> HolderLine:
    detail = f"group of {', '.join(members.get(group.pk, [])) or 'nobody'}"
    return HolderLine(group, detail, _grants("group", group, rows))


def _grants(kind: str, holder: Holder, rows: list[Any]) -> tuple[Grant, ...]:
    return tuple(
        Grant(row.permission.codename, f"{kind}:{holder.pk}:{row.permission.codename}", row.expires_at, row.stands)
        for row in rows
    )


def _members(groups: Any) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    pairs = User.groups.through.objects.filter(group_id__in=set(groups)).select_related("user")
    for pair in pairs.order_by("user__display_name"):
        found.setdefault(pair.group_id, []).append(pair.user.name)
    return found
