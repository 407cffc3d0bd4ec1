"""Writing grants and their history, under the lock that orders them against writes. Only the services use it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.db.models import F, Q
from django.utils.module_loading import import_string

from permissions import roles
from permissions.actors import Actor
from permissions.decisions import AccountKind
from permissions.errors import LastOwner, NotFound
from permissions.grants import all_group_grants, all_user_grants, grant_models, unexpired
from permissions.models import GrantChange, GroupObjectPermission, Guarded, User, UserObjectPermission

Holder = User | Group
Grant = UserObjectPermission | GroupObjectPermission
ScopeKey = tuple[type[models.Model], UUID]


class GrantsChanged(Protocol):
    """What ``settings.ACCORD_ON_GRANTS_CHANGED`` names by dotted paths; called after commit."""

    def __call__(self, scope_label: str, scope_id: UUID, accounts: Collection[UUID], /) -> None:
        """Take the scope's model label, its id and the accounts whose rights changed there."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """One object's grants, open for one change by ``by``: its scope is taken exclusively until the transaction ends."""

    by: Actor
    obj: Guarded
    epoch: int
    reason: str

    def give(self, holder: Holder, codename: str, expires_at: datetime | None) -> bool:
        """Make the holder hold the grant until ``expires_at``; return whether anything changed."""
        grants = _grants_on(self.obj, holder)
        grant = grants.filter(permission__codename=codename).first()
        if grant is not None and grant.expires_at == expires_at:
            return False
        if grant is None:
            _grant_made(self.obj, holder, codename, expires_at)
        else:
            grants.filter(pk=grant.pk).update(expires_at=expires_at)
        self.record(holder, codename, given=True, expires_at=expires_at)
        return True

    def take(self, holder: Holder, codename: str) -> bool:
        """Make the holder hold the grant no more; return whether anything changed."""
        taken, _ = _grants_on(self.obj, holder).filter(permission__codename=codename).delete()
        if taken:
            self.record(holder, codename, given=False)
        return bool(taken)

    def held(self, holder: Holder) -> dict[str, datetime | None]:
        """Return what the holder itself holds on the object and when each expires, expired grants too."""
        return dict(_grants_on(self.obj, holder).values_list("permission__codename", "expires_at"))

    def record(
        self, holder: Holder, codename: str, *, given: bool, expires_at: datetime | None = None, through: str = ""
    ) -> None:
        """Write one line of the history."""
        GrantChange.objects.create(
            by=self.by,
            account=holder if isinstance(holder, User) else None,
            group=holder if isinstance(holder, Group) else None,
            codename=codename,
            given=given,
            through=through,
            object_kind=self.obj._meta.label_lower,
            object_id=self.obj.pk,
            scope_id=self.obj.scope_id,
            expires_at=expires_at,
            reason=self.reason,
            epoch=self.epoch,
        )


def ledger_opened(*, by: Actor, obj: Guarded, reason: str) -> Ledger:
    """Take an object's scope exclusively and begin its next epoch.

    Raises:
        NotFound: the scope is gone.
    """
    return Ledger(by, obj, scope_taken(scope_of(obj)), reason)


def scope_of(obj: Guarded) -> ScopeKey:
    """Return the model and the id of the object's scope."""
    return obj.grant_objects()[-1]


def scope_taken(scope: ScopeKey) -> int:
    """Take a scope's row exclusively until the transaction ends and return the epoch that begins."""
    model, id = scope
    rows = model._default_manager.filter(pk=id)
    if not rows.update(grants_epoch=F("grants_epoch") + 1):
        raise NotFound
    return int(rows.values_list("grants_epoch", flat=True).get())


def holder_taken(holder: Holder) -> None:
    """Keep what the holder belongs to and holds from changing under a service that reads it before it locks scopes.
    Always taken before any scope."""
    if isinstance(holder, User):
        User.objects.select_for_update(no_key=True).get(pk=holder.pk)
    else:
        Group.objects.select_for_update(no_key=True).get(pk=holder.pk)


def group_grants(group: Group) -> list[GroupObjectPermission]:
    """Return every grant a group holds that has not expired, with its object and permission."""
    return [
        grant
        for model in all_group_grants()
        for grant in model._default_manager.filter(unexpired(), group=group).select_related(
            "content_object", "permission"
        )
    ]


def grants_on(obj: Guarded) -> list[tuple[Holder, str]]:
    """Return every grant on an object itself, as its holder and its codename, expired grants too."""
    users, groups = grant_models(type(obj))
    direct = users._default_manager.filter(content_object=obj).select_related("user", "permission")
    through = groups._default_manager.filter(content_object=obj).select_related("group", "permission")
    found: list[tuple[Holder, str]] = [(grant.user, grant.permission.codename) for grant in direct]
    return [*found, *((grant.group, grant.permission.codename) for grant in through)]


def scopes_of(account: User) -> list[ScopeKey]:
    """Return the scopes in which an account holds anything, itself or through a group, in locking order."""
    direct = [
        grant
        for model in all_user_grants()
        for grant in model._default_manager.filter(user=account).select_related("content_object")
    ]
    through = [grant for group in account.groups.all() for grant in group_grants(group)]
    return in_locking_order(scope_of(content_of(grant)) for grant in (*direct, *through))


def in_locking_order(scopes: Iterable[ScopeKey]) -> list[ScopeKey]:
    """Return the scopes once each, in the one order in which several are ever taken."""
    return sorted(set(scopes), key=lambda scope: (scope[0]._meta.label_lower, scope[1]))


def content_of(grant: Grant) -> Guarded:
    """Return the object a grant is held on."""
    obj: Guarded = attrgetter("content_object")(grant)
    return obj


@contextmanager
def owners_kept(scopes: Collection[ScopeKey]) -> Iterator[None]:
    """Check that a change leaves an owner to every one of the scopes that had one.

    Raises:
        LastOwner: it does not.
    """
    owned = [scope for scope in scopes if has_owner(scope)]
    yield
    if not all(has_owner(scope) for scope in owned):
        raise LastOwner


def has_owner(scope: ScopeKey) -> bool:
    """Say whether an active person manages the scope, themselves or through a group."""
    model, id = scope
    users, groups = grant_models(model)
    manages = Q(unexpired(), content_object=id, permission__codename=roles.MANAGE)
    people = User.objects.filter(kind=AccountKind.PERSON.value, is_active=True)
    direct = Q(pk__in=users._default_manager.filter(manages).values("user"))
    through = Q(groups__in=groups._default_manager.filter(manages).values("group"))
    return people.filter(direct | through).exists()


def announce_changed(scope: ScopeKey, accounts: Collection[UUID]) -> None:
    """After commit, tell whoever ``settings.ACCORD_ON_GRANTS_CHANGED`` names, so that open sockets are checked again.
    The change stands even when telling fails: sockets are also checked periodically."""
    for listener in _listeners(tuple(getattr(settings, "ACCORD_ON_GRANTS_CHANGED", ()))):
        call = partial(listener, scope[0]._meta.label_lower, scope[1], tuple(accounts))
        transaction.on_commit(call, robust=True)


def accounts_behind(holder: Holder) -> tuple[UUID, ...]:
    """Return the accounts whose rights follow from what the holder holds."""
    if isinstance(holder, User):
        return (holder.pk,)
    return tuple(User.objects.filter(groups=holder).values_list("pk", flat=True))


@lru_cache
def _listeners(paths: tuple[str, ...]) -> tuple[GrantsChanged, ...]:
    return tuple(import_string(path) for path in paths)


def _grants_on(obj: Guarded, holder: Holder) -> models.QuerySet[Any]:
    users, groups = grant_models(type(obj))
    if isinstance(holder, User):
        return users._default_manager.filter(content_object=obj, user=holder)
    return groups._default_manager.filter(content_object=obj, group=holder)


def _grant_made(obj: Guarded, holder: Holder, codename: str, expires_at: datetime | None) -> None:
    users, groups = grant_models(type(obj))
    kind = ContentType.objects.get_for_model(type(obj))
    permission = Permission.objects.get(content_type=kind, codename=codename)
    if isinstance(holder, User):
        users._default_manager.create(content_object=obj, permission=permission, user=holder, expires_at=expires_at)
    else:
        groups._default_manager.create(content_object=obj, permission=permission, group=holder, expires_at=expires_at)
