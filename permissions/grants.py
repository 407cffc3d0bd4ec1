"""Reading grants: one query reads all that a decision needs, and lists follow the same rule (DESIGN 5).

Neither asks ``has_perm``: it caches, lets model-wide permissions in, and says yes to misspelt codenames for superusers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from string import Template
from typing import Any, TypeVar
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import connection, models
from django.db.models import Exists, Q, QuerySet

from permissions.actors import Actor, Agent, Client, Person, Source, System, consulted, source_of, within_of
from permissions.clock import NOW_SQL, AccordNow
from permissions.decisions import (
    KINDS,
    SOURCE_MAY,
    SYSTEM_MAY,
    AccountKind,
    Action,
    Delegated,
    Facts,
    Held,
    Level,
    Lowering,
    Standing,
    accounts_of,
    giving,
)
from permissions.delegated import COLUMNS, GIVER, JOIN, delegating_model, given_of, given_sql
from permissions.models import GrantScope, GroupObjectPermission, Guarded, User, UserObjectPermission
from permissions.senders import senders_of

ModelT = TypeVar("ModelT", bound=models.Model)
GrantModels = tuple[type[UserObjectPermission], type[GroupObjectPermission]]
Places = Mapping[str, type[models.Model]]
"""Where a grant for an object may be held: the model of each place, by the lookup that names it."""

_NEVER = Q(pk__in=[])


@lru_cache
def all_user_grants() -> tuple[type[UserObjectPermission], ...]:
    """Return every model that keeps grants of accounts."""
    return tuple(known for known in apps.get_models() if issubclass(known, UserObjectPermission))


@lru_cache
def all_group_grants() -> tuple[type[GroupObjectPermission], ...]:
    """Return every model that keeps grants of groups."""
    return tuple(known for known in apps.get_models() if issubclass(known, GroupObjectPermission))


@lru_cache
def grant_models(model: type[models.Model]) -> GrantModels:
    """Return the two models that keep a guarded model's grants: those accounts hold and those groups hold.

    Raises:
        LookupError: the model has no such pair; grants can be held only on models that have one.
    """
    users = [known for known in all_user_grants() if _related(known, "content_object") is model]
    groups = [known for known in all_group_grants() if _related(known, "content_object") is model]
    if len(users) != 1 or len(groups) != 1:
        raise LookupError(f"{model.__name__} needs one model of user grants and one of group grants")
    return users[0], groups[0]


@lru_cache
def scope_path(model: type[models.Model]) -> str:
    """Return the lookup from a guarded model to its scope's id: ``pk`` for a scope, else its one foreign key to one."""
    if issubclass(model, GrantScope):
        return "pk"
    keys = [
        field.attname
        for field in model._meta.concrete_fields
        if isinstance(field.related_model, type) and issubclass(field.related_model, GrantScope)
    ]
    if len(keys) != 1:
        raise LookupError(f"{model.__name__} needs one foreign key to its scope")
    return keys[0]


@lru_cache
def scope_model(model: type[models.Model]) -> type[GrantScope]:
    """Return the model of a guarded model's scope."""
    if issubclass(model, GrantScope):
        return model
    related = _related(model, scope_path(model))
    if not (isinstance(related, type) and issubclass(related, GrantScope)):
        raise LookupError(f"{model.__name__} has no scope")
    return related


def facts(actor: Actor, obj: Guarded, *, lowers: Sequence[Lowering] = (), cap: UUID | None = None) -> Facts:
    """Read, in one query, all that any decision about ``actor`` and ``obj`` needs, as it is at this moment.

    Args:
        lowers: what lowers a change to a proposal here (suggest mode, a document's policy).
        cap: the owner of the timer or route the turn came from, whose rights bound it.
    """
    accounts = accounts_of(actor, cap)
    agent = actor if isinstance(actor, Agent) else None
    standings, given = _standings(accounts, obj.grant_objects(), agent) if accounts else ({}, None)
    within = within_of(actor)
    outside = within is not None and obj.scope_id not in within
    return Facts(obj.guarded_name, standings, tuple(lowers), cap, given, outside)


def readable(
    queryset: QuerySet[ModelT], actor: Actor, action: Action | str = Action.VIEW, *, cap: UUID | None = None
) -> QuerySet[ModelT]:
    """Keep the rows of a guarded model on which :func:`permissions.decisions.decide` would allow the action by grants
    alone: what lowers a change, and what is delegated, is asked about one object at a time.

    Raises:
        ValueError: ``action`` is none.
    """
    places: Places = {"pk": queryset.model, scope_path(queryset.model): scope_model(queryset.model)}
    return queryset.filter(allowed_at(actor, action, places, cap=cap))


def allowed_at(actor: Actor, action: Action | str, places: Places, *, cap: UUID | None = None) -> Q:
    """Return the condition, on rows that name a guarded object, that :func:`permissions.decisions.decide` would allow
    the action on it: what lists of such rows are narrowed by.

    Args:
        places: by the lookup that names each, where a grant for the object may be held: itself and its scope.

    Raises:
        ValueError: ``action`` is none.
    """
    wanted = Action(action)
    allowed = _inside(places, within_of(actor))
    for party in consulted(actor, cap):
        match party:
            case System():
                allowed &= Q() if wanted in SYSTEM_MAY else _NEVER
            case Source():
                allowed &= Q() if wanted in SOURCE_MAY else _NEVER
            case Person(id=id):
                allowed &= _superuser(id) | _held(places, id, AccountKind.PERSON, wanted)
            case Client(id=id) | Agent(id=id):
                allowed &= _held(places, id, KINDS[type(party)], wanted)
    return allowed


def names_of(*actors: Actor) -> dict[UUID, str]:
    """Read, in one query, the names of every account in the actors' chains; and those of sources, where there are."""
    accounts = {account for actor in actors for account in accounts_of(actor)}
    sources = {id for actor in actors if (id := source_of(actor)) is not None}
    names = {account.pk: account.name for account in User.objects.filter(pk__in=accounts)}
    return names | {id: sender.name for id, sender in senders_of(sources).items()}


def unexpired() -> Q:
    """Return the condition on a grant that it still stands."""
    return Q(expires_at__isnull=True) | Q(expires_at__gt=AccordNow())


def _inside(places: Places, within: frozenset[UUID] | None) -> Q:
    """Return the condition that what a row names is of a scope that the actor's token is for."""
    if within is None:
        return Q()
    # A row always names its scope, but not always something narrower in it.
    path, model = min(places.items(), key=lambda place: not issubclass(place[1], GrantScope))
    scope = scope_path(model)
    lookup = scope if path == "pk" else path if scope == "pk" else f"{path}__{scope}"
    return Q(**{f"{lookup}__in": within})


def _related(model: type[models.Model], name: str) -> object:
    fields = (field for field in model._meta.concrete_fields if name in (field.name, field.attname))
    return next((field.related_model for field in fields), None)


def _superuser(account: UUID) -> Q:
    return Q(Exists(User.objects.filter(pk=account, is_active=True, is_superuser=True, kind=AccountKind.PERSON.value)))


def _held(places: Places, account: UUID, kind: AccountKind, action: Action) -> Q:
    codenames = [codename for codename, level in giving(action, kind).items() if level is Level.ALLOW]
    held = _NEVER
    for path, place in places.items():
        users, groups = grant_models(place)
        grants = Q(unexpired(), permission__codename__in=codenames)
        direct = users._default_manager.filter(grants, user=account, user__is_active=True, user__kind=kind.value)
        through = groups._default_manager.filter(
            grants, group__user=account, group__user__is_active=True, group__user__kind=kind.value
        )
        held |= Q(**{f"{path}__in": direct.values("content_object_id")})
        held |= Q(**{f"{path}__in": through.values("content_object_id")})
    return held


def _standings(
    accounts: Sequence[UUID], places: Sequence[tuple[type[models.Model], UUID]], agent: Agent | None
) -> tuple[dict[UUID, Standing], Delegated | None]:
    ids = [_adapted(User, account) for account in accounts]
    asked = (agent.thread, agent.id, places[-1][1]) if agent else ()
    params: list[Any] = [_adapted(User, id) for id in asked]
    for model, pk in places:
        params += [_adapted(model, pk), *ids, _adapted(model, pk), *ids]
    sql = _standings_sql(tuple(model for model, _ in places), len(ids), connection.vendor, has_agent=agent is not None)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*params, *ids])
        rows = cursor.fetchall()
    return _gathered(rows), given_of(rows[0][8:] if rows else ())


def _gathered(rows: Iterable[tuple[Any, ...]]) -> dict[UUID, Standing]:
    accounts: dict[UUID, Standing] = {}
    held: dict[UUID, list[Held]] = {}
    for id, name, kind, active, superuser, codename, place, through, *_ in rows:
        account = id if isinstance(id, UUID) else UUID(id)
        accounts[account] = Standing(account, name, AccountKind(kind), bool(active), bool(superuser))
        grants = held.setdefault(account, [])
        if codename is not None:
            grants.append(Held(codename, on_scope=place > 0, through=through or ""))
    return {id: replace(standing, grants=tuple(held[id])) for id, standing in accounts.items()}


def _adapted(model: type[models.Model], pk: UUID) -> Any:
    return model._meta.pk.get_db_prep_value(pk, connection) if model._meta.pk else pk


@lru_cache(maxsize=256)
def _standings_sql(places: tuple[type[models.Model], ...], accounts: int, vendor: str, *, has_agent: bool) -> str:
    """Build the query: each account's row, once for every grant it holds in any of the places; about an agent also
    what is delegated to it, with the giver among the accounts.

    Only names that Django made of our models are put in the text; ``vendor`` keeps the texts of two databases apart.
    """
    marks = ", ".join([*["%s"] * accounts, *([GIVER] if has_agent else [])])
    held = " UNION ALL ".join(
        part.substitute(_names(model, place), marks=marks)
        for place, model in enumerate(places)
        for part in (_USER_GRANTS, _GROUP_GRANTS)
    )
    return _STANDINGS.substitute(
        given=given_sql(vendor, scope_path(delegating_model())) if has_agent else "",
        columns=COLUMNS if has_agent else "",
        join=JOIN if has_agent else "",
        users=_quoted(User._meta.db_table),
        held=held,
        marks=marks,
    )


_STANDINGS = Template("""$given
SELECT u.id, COALESCE(NULLIF(u.display_name, ''), u.username), u.kind, u.is_active, u.is_superuser,
       held.codename, held.place, held.through$columns
FROM $users u LEFT JOIN ($held) held ON held.account = u.id $join
WHERE u.id IN ($marks)
""")

_USER_GRANTS = Template("""
SELECT g.user_id AS account, p.codename AS codename, $place AS place, CAST(NULL AS varchar(150)) AS through
FROM $user_grants g JOIN $permissions p ON p.id = g.permission_id
WHERE g.content_object_id = %s AND g.user_id IN ($marks) AND (g.expires_at IS NULL OR g.expires_at > $now)
""")

_GROUP_GRANTS = Template("""
SELECT m.user_id AS account, p.codename AS codename, $place AS place, team.name AS through
FROM $group_grants g
JOIN $permissions p ON p.id = g.permission_id
JOIN $teams team ON team.id = g.group_id
JOIN $members m ON m.group_id = g.group_id
WHERE g.content_object_id = %s AND m.user_id IN ($marks) AND (g.expires_at IS NULL OR g.expires_at > $now)
""")


def _names(model: type[models.Model], place: int) -> dict[str, str]:
    users, groups = grant_models(model)
    tables: dict[str, type[models.Model]] = {
        "user_grants": users,
        "group_grants": groups,
        "permissions": Permission,
        "teams": Group,
        "members": User.groups.through,
    }
    names = {name: _quoted(table._meta.db_table) for name, table in tables.items()}
    return {**names, "place": str(place), "now": NOW_SQL}


def _quoted(table: str) -> str:
    return connection.ops.quote_name(table)
