"""Giving and taking grants, roles, groups and accounts: the only writer of any of them (DESIGN 5).

Each is one transaction that takes the scope's row exclusively, so that it has an order with every write, and leaves a
line of history for every grant that changed. Nobody grants what they lack, agents and clients neither hold nor grant
``manage``, and the last owner stays. :class:`~permissions.actors.System` acts where no person can: first owners, demo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import Group
from django.db import transaction

from permissions import roles
from permissions.actors import Actor, Person, System
from permissions.clock import AccordNow
from permissions.decisions import LEVELS, AccountKind, Action, Level
from permissions.errors import NeverExpires, NotForAgents, NotFound, OverAlready, Refused
from permissions.gate import require
from permissions.ids import new_id
from permissions.ledger import (
    Holder,
    Ledger,
    accounts_behind,
    announce_changed,
    content_of,
    grants_on,
    group_grants,
    holder_taken,
    in_locking_order,
    ledger_opened,
    owners_kept,
    scope_of,
    scope_taken,
    scopes_of,
)
from permissions.models import GroupObjectPermission, Guarded, User


@transaction.atomic
def grant_give(
    *,
    by: Actor,
    holder: Holder,
    codename: str,
    obj: Guarded,
    reason: str = "",
    expires_at: datetime | None = None,
) -> bool:
    """Give a holder one grant on one object, until ``expires_at`` or for good; return whether anything changed.

    Given again, it changes nothing but when it expires.

    Raises:
        ValueError: the object's kind knows no such codename.
        NotFound: ``by`` may not see the object, or it is gone.
        Refused: ``by`` may not manage the object or lacks what they would give.
        NotForAgents: the holder is, or holds, an agent or a client, and the grant is ``manage``.
        NeverExpires: ``manage`` with a moment to expire.
        OverAlready: the moment to expire has passed.
    """
    ledger = _opened(by, holder, obj, reason)
    return _announced(ledger, holder, changed=_given(ledger, holder, codename, expires_at))


@transaction.atomic
def grant_take(*, by: Actor, holder: Holder, codename: str, obj: Guarded, reason: str = "") -> bool:
    """Take one grant on one object from a holder; return whether anything changed.

    Raises:
        NotFound: ``by`` may not see the object, or it is gone.
        Refused: ``by`` may not manage the object.
        LastOwner: no active person would manage the scope.
    """
    ledger = _opened(by, holder, obj, reason)
    with owners_kept([scope_of(obj)]):
        changed = ledger.take(holder, codename)
    return _announced(ledger, holder, changed=changed)


@transaction.atomic
def role_set(
    *,
    by: Actor,
    holder: Holder,
    role: roles.Role | None,
    scope: Guarded,
    reason: str = "",
    expires_at: datetime | None = None,
) -> bool:
    """Make what a holder holds on a scope exactly a role's grants, until ``expires_at`` or for good, or nothing; return
    whether anything changed.

    Grants on the scope's threads and documents stay as they are.

    Raises:
        NotFound: ``by`` may not see the scope, or it is gone.
        Refused: ``by`` may not manage it, or lacks what the role would add.
        NotForAgents: the role manages and the holder is, or holds, an agent or a client.
        NeverExpires, OverAlready: as for :func:`grant_give`.
        LastOwner: no active person would manage the scope.
    """
    ledger = _opened(by, holder, scope, reason)
    wanted = roles.ROLE_GRANTS[role] if role else frozenset()
    held = ledger.held(holder)
    as_wanted = {codename for codename, until in held.items() if until == expires_at}
    with owners_kept([scope_of(scope)]):
        given = [_given(ledger, holder, codename, expires_at) for codename in sorted(wanted - as_wanted)]
        taken = [ledger.take(holder, codename) for codename in sorted(held.keys() - wanted)]
    return _announced(ledger, holder, changed=bool(given or taken))


@transaction.atomic
def grants_withdrawn(*, by: Actor, obj: Guarded, reason: str = "") -> int:
    """Take every grant on one object from whoever holds it, as before the object goes, so that the history tells it;
    return how many there were, expired ones too.

    Raises:
        NotFound: ``by`` may not see the object, or it is gone.
        Refused: ``by`` may not manage the object.
        LastOwner: no active person would manage the scope.
    """
    ledger = ledger_opened(by=by, obj=obj, reason=reason)
    _require(by, Action.MANAGE, obj)
    held = grants_on(obj)
    with owners_kept([scope_of(obj)]):
        for holder, codename in held:
            ledger.take(holder, codename)
    touched = {account for holder, _ in held for account in accounts_behind(holder)}
    if touched:
        announce_changed(scope_of(obj), tuple(touched))
    return len(held)


@transaction.atomic
def grants_given_up(
    *, by: Person, scope: Guarded, narrowed: Callable[[User], Iterable[Guarded]], reason: str = ""
) -> bool:
    """Give up all that a person holds themselves on a scope and on some objects in it; what a group holds stays the
    group's. Return whether anything changed.

    Args:
        narrowed: returns the objects in the scope on which the account holds anything; called once nothing can change.

    Raises:
        NotFound: there is no such account, or the scope is gone.
        LastOwner: no active person would manage the scope.
    """
    account = User.objects.filter(pk=by.id, kind=AccountKind.PERSON.value).first()
    if account is None:
        raise NotFound
    holder_taken(account)
    opened = ledger_opened(by=by, obj=scope, reason=reason)
    ledgers = [opened, *(replace(opened, obj=obj) for obj in narrowed(account))]
    with owners_kept([scope_of(scope)]):
        taken = [ledger.take(account, codename) for ledger in ledgers for codename in sorted(ledger.held(account))]
    return _announced(opened, account, changed=bool(taken))


@transaction.atomic
def group_join(*, by: Actor, account: User, group: Group, reason: str = "") -> bool:
    """Put an account into a group, and so give it all that the group holds; return whether anything changed.

    Raises:
        NotFound, Refused: ``by`` could not give each of the group's grants themselves; of an empty group, is no
            superuser.
        NotForAgents: the group manages something and the account is an agent's or a client's.
    """
    return _membership_changed(by, account, group, reason, joins=True)


@transaction.atomic
def group_leave(*, by: Actor, account: User, group: Group, reason: str = "") -> bool:
    """Take an account out of a group, and so take all that it held through it; return whether anything changed.

    Raises:
        NotFound, Refused: ``by`` may not manage everything the group holds grants on; of an empty group, is no
            superuser.
        LastOwner: no active person would manage one of the scopes.
    """
    return _membership_changed(by, account, group, reason, joins=False)


@transaction.atomic
def account_deactivate(*, by: Actor, account: User) -> bool:
    """Switch an account off everywhere at once; its grants stay for when it is switched on. Return whether it was on.

    Raises:
        Refused: ``by`` is no superuser.
        LastOwner: no active person would manage one of the scopes it manages.
    """
    return _activity_set(by, account, active=False)


@transaction.atomic
def account_activate(*, by: Actor, account: User) -> bool:
    """Switch an account on again, with the grants it holds; return whether it was off.

    Raises:
        Refused: ``by`` is no superuser.
    """
    return _activity_set(by, account, active=True)


@transaction.atomic
def bound_change(*, by: Actor, obj: Guarded) -> int:
    """Begin the next epoch of an object's scope, for a change to what bounds rights on it without being a grant, like a
    document's write policy: every write is ordered before or after it. Return the epoch.

    Raises:
        NotFound: ``by`` may not see the object, or it is gone.
        Refused: ``by`` may not manage it.
    """
    epoch = scope_taken(scope_of(obj))
    _require(by, Action.MANAGE, obj)
    return epoch


def account_create_service(*, kind: AccountKind, name: str) -> User:
    """Create the account of an agent or a client: it can hold grants and never sign in.

    Raises:
        ValueError: ``kind`` is a person's.
    """
    if kind is AccountKind.PERSON:
        raise ValueError("people sign up; only agents and clients get service accounts")
    id = new_id()
    account = User(id=id, username=f"{kind.value}-{id}", kind=kind.value, display_name=name)
    account.set_unusable_password()
    account.save(force_insert=True)
    return account


def _opened(by: Actor, holder: Holder, obj: Guarded, reason: str) -> Ledger:
    holder_taken(holder)
    ledger = ledger_opened(by=by, obj=obj, reason=reason)
    _require(by, Action.MANAGE, obj)
    return ledger


def _announced(ledger: Ledger, holder: Holder, *, changed: bool) -> bool:
    if changed:
        announce_changed(scope_of(ledger.obj), accounts_behind(holder))
    return changed


def _given(ledger: Ledger, holder: Holder, codename: str, expires_at: datetime | None) -> bool:
    if codename not in dict(ledger.obj._meta.permissions):
        raise ValueError(f"{ledger.obj._meta.label} knows no {codename!r}")
    action, level = _GIVING[codename]
    _require(ledger.by, action, ledger.obj, at_least=level)
    if codename == roles.MANAGE and expires_at is not None:
        raise NeverExpires
    if codename == roles.MANAGE and _stands_for_a_service(holder):
        raise NotForAgents
    if expires_at is not None and not isinstance(ledger.by, System) and _has_passed(expires_at):
        raise OverAlready
    return ledger.give(holder, codename, expires_at)


def _membership_changed(by: Actor, account: User, group: Group, reason: str, *, joins: bool) -> bool:
    holder_taken(group)
    holder_taken(account)
    grants = group_grants(group)
    epochs = {scope: scope_taken(scope) for scope in in_locking_order(scope_of(content_of(grant)) for grant in grants)}
    _require_moving(by, account, grants, joins=joins)
    if account.groups.filter(pk=group.pk).exists() is joins:
        return False
    with owners_kept(epochs):
        if joins:
            account.groups.add(group)
        else:
            account.groups.remove(group)
    for grant in grants:
        obj, codename = content_of(grant), grant.permission.codename
        ledger = Ledger(by, obj, epochs[scope_of(obj)], reason)
        ledger.record(account, codename, given=joins, expires_at=grant.expires_at, through=group.name)
    for scope in epochs:
        announce_changed(scope, (account.pk,))
    return True


def _require_moving(by: Actor, account: User, grants: list[GroupObjectPermission], *, joins: bool) -> None:
    if not grants:
        _require_superuser(by)
    for grant in grants:
        obj, codename = content_of(grant), grant.permission.codename
        _require(by, Action.MANAGE, obj)
        if joins:
            action, level = _GIVING[codename]
            _require(by, action, obj, at_least=level)
            if codename == roles.MANAGE and _stands_for_a_service(account):
                raise NotForAgents


def _activity_set(by: Actor, account: User, *, active: bool) -> bool:
    _require_superuser(by)
    holder_taken(account)
    scopes = scopes_of(account)
    for scope in scopes:
        scope_taken(scope)
    with owners_kept(scopes):
        changed = User.objects.filter(pk=account.pk, is_active=not active).update(is_active=active)
    if changed:
        account.is_active = active
        for scope in scopes:
            announce_changed(scope, (account.pk,))
    return bool(changed)


def _require(by: Actor, action: Action, obj: Guarded, *, at_least: Level = Level.ALLOW) -> None:
    if not isinstance(by, System):
        require(by, action, obj, at_least=at_least)


def _require_superuser(by: Actor) -> None:
    superusers = User.objects.filter(is_active=True, is_superuser=True, kind=AccountKind.PERSON.value)
    if isinstance(by, System) or (isinstance(by, Person) and superusers.filter(pk=by.id).exists()):
        return
    raise Refused("Only an administrator of all of Accord may do that.")


def _has_passed(moment: datetime) -> bool:
    return User.objects.annotate(now=AccordNow()).filter(now__gte=moment).exists()


def _stands_for_a_service(holder: Holder) -> bool:
    accounts = User.objects.filter(pk__in=accounts_behind(holder))
    return accounts.exclude(kind=AccountKind.PERSON.value).exists()


_GIVING: Mapping[str, tuple[Action, Level]] = {
    codename: (action, level)
    for action, levels in LEVELS.items()
    for codename, level in levels.items()
    if codename == action.value or level is Level.PROPOSE
}
"""Which decision the giver of each codename must reach themselves."""
