"""Who can reach an object and through what: the access report, and the grants behind one decision (DESIGN 11).

Levels are decided by :func:`permissions.decisions.decide` on the same standings that a check reads, so the report and a
check agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never, overload
from uuid import UUID

from django.db.models import BooleanField, Case, F, Q, QuerySet, Value, When

from permissions import phrases, roles
from permissions.actors import Agent, Client, Person
from permissions.decisions import AccountKind, Action, Facts, Held, Level, Standing, decide, holds
from permissions.grants import grant_models, unexpired
from permissions.models import GrantChange, Guarded, User
from permissions.why import Kept

PAGE_ACCOUNTS = 100
"""Accounts a page of the report shows."""

NOWHERE = UUID(int=0)
"""The thread of an agent that is asked about in no thread in particular."""

_STANDS = Case(When(unexpired(), then=Value(value=True)), default=Value(value=False), output_field=BooleanField())
_ACCOUNT = ("pk", "display_name", "username", "kind", "is_active", "is_superuser")


@dataclass(frozen=True, slots=True)
class Reach:
    """One account: how far it may go with each action, acting for no one else, and every grant it holds or held here.

    ``detail`` tells accounts of one name apart.
    """

    standing: Standing
    detail: str
    kept: tuple[Kept, ...]
    levels: Mapping[Action, Level]

    @property
    def reaches(self) -> bool:
        """Whether it may do anything at all."""
        return any(self.levels.values())


@dataclass(slots=True)
class _Account:
    standing: Standing
    username: str
    kept: list[Kept] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether nothing it holds counts any more."""
        standing = self.standing
        return not standing.active or not (standing.superuser or any(grant.stands for grant in self.kept))


def actions_on(obj: Guarded) -> tuple[Action, ...]:
    """Return the actions that grants on an object of this kind can give."""
    known = dict(obj._meta.permissions)
    return tuple(action for action in Action if action.value in known)


def party_of(
    id: UUID, kind: AccountKind, person: UUID | None = None, thread: UUID = NOWHERE
) -> Person | Client | Agent:
    """Return the actor that an account is, for a person or for no one.

    Args:
        thread: the thread an agent acts in.

    Raises:
        ValueError: a person acts for another.
    """
    match kind:
        case AccountKind.PERSON:
            if person not in {None, id}:
                raise ValueError("a person acts for themselves")
            return Person(id)
        case AccountKind.CLIENT:
            return Client(id, person)
        case AccountKind.AGENT:
            return Agent(id, thread, None if person is None else Person(person))
        case _:
            assert_never(kind)


def kept_by(accounts: Collection[UUID], obj: Guarded) -> dict[UUID, tuple[Kept, ...]]:
    """Return the grants that some accounts hold or held on an object and its scope, in as many queries for all."""
    found = _accounts(obj, accounts)
    return {id: tuple(account.kept) for id, account in found.items()}


def accounts_of_scope(scope: UUID) -> QuerySet[User]:
    """Return, by name, the accounts that ever held a grant on anything of a scope, themselves or through a group."""
    lines = GrantChange.objects.filter(scope_id=scope)
    direct = Q(pk__in=lines.filter(account__isnull=False).values("account"))
    through = Q(pk__in=User.groups.through.objects.filter(group__in=_groups(lines)).values("user"))
    return User.objects.filter(direct | through).order_by("display_name", "username", "pk")


def told_together(kept: Iterable[Kept], object_name: str, *, narrowed: bool) -> list[str]:
    """Return grants as a reader takes them in: those of one place, way and end together, a role by its name.

    Args:
        narrowed: the object is not its workspace; roles are bundles of grants on that.
    """
    together: dict[Kept, set[str]] = {}
    for grant in kept:
        together.setdefault(replace(grant, held=replace(grant.held, codename="")), set()).add(grant.held.codename)
    return [_told(like, codenames, object_name, narrowed=narrowed) for like, codenames in together.items()]


class Report(Sequence[Reach]):
    """Everyone who can reach an object, each decided about when it is read: a page decides on a page."""

    def __init__(self, obj: Guarded, accounts: Sequence[_Account]) -> None:
        self._obj, self._accounts, self._actions = obj, accounts, actions_on(obj)

    def __len__(self) -> int:
        return len(self._accounts)

    @overload
    def __getitem__(self, place: int) -> Reach: ...
    @overload
    def __getitem__(self, place: slice) -> list[Reach]: ...
    def __getitem__(self, place: int | slice) -> Reach | list[Reach]:
        if isinstance(place, slice):
            return [self._reach(account) for account in self._accounts[place]]
        return self._reach(self._accounts[place])

    def _reach(self, account: _Account) -> Reach:
        held = tuple(grant.held for grant in account.kept if grant.stands)
        standing = replace(account.standing, grants=held)
        known = Facts(self._obj.guarded_name, {standing.account: standing})
        actor = party_of(standing.account, standing.kind)
        levels = {action: decide(actor, action, known).level for action in self._actions}
        detail = account.username if standing.kind is AccountKind.PERSON else standing.kind.value
        return Reach(standing, detail, tuple(account.kept), levels)


def reach_of(obj: Guarded, *, scope: bool = True) -> Report:
    """Return everyone who holds or held a grant that reaches an object, and superusers, by name; last whose grants are
    all over and who is switched off.

    The number of queries is constant. The caller has checked that the reader manages the object.

    Args:
        scope: also by what is held on the object's scope, for a reader who manages that.
    """
    found = _accounts(obj, None, scope=scope)
    order = sorted(found.values(), key=lambda one: (one.over, one.standing.name.casefold(), one.standing.account))
    return Report(obj, order)


def _groups(lines: QuerySet[GrantChange]) -> QuerySet[GrantChange, int]:
    return lines.filter(group__isnull=False).values_list("group", flat=True)


def _bundle(codenames: set[str], *, whole: bool) -> str:
    role = roles.role_of(codenames) if whole else None
    if role is not None and roles.ROLE_GRANTS[role] == codenames:
        return str(role)
    return phrases.listed([name.replace("_", " ") for name in sorted(codenames)])


def _told(like: Kept, codenames: set[str], object_name: str, *, narrowed: bool) -> str:
    bundle = _bundle(codenames, whole=like.held.on_scope or not narrowed)
    held = holds(replace(like.held, codename=bundle), object_name).removeprefix("holds ")
    return f"{held}{phrases.ending(like.expires_at, over=not like.stands)}"


def _accounts(obj: Guarded, only: Collection[UUID] | None, *, scope: bool = True) -> dict[UUID, _Account]:
    found: dict[UUID, _Account] = {}
    places = obj.grant_objects()
    for place, (model, pk) in enumerate(places if scope else places[:1]):
        users, groups = grant_models(model)
        direct = users._default_manager.filter(content_object=pk)
        _noted(found, _direct(direct, only), on_scope=place > 0)
        _noted(found, _through(groups._default_manager.filter(content_object=pk), only), on_scope=place > 0)
    if only is None and scope:
        for row in User.objects.filter(is_superuser=True, is_active=True).values_list(*_ACCOUNT):
            _account(found, row)
    return found


def _direct(grants: QuerySet[Any], only: Collection[UUID] | None) -> Iterator[tuple[Any, ...]]:
    chosen = grants if only is None else grants.filter(user__in=only)
    account = (F(f"user__{name}") for name in _ACCOUNT)
    rows = chosen.annotate(stands=_STANDS).order_by("permission__pk")
    yield from rows.values_list("permission__codename", Value(""), "expires_at", "stands", *account)


def _through(grants: QuerySet[Any], only: Collection[UUID] | None) -> Iterator[tuple[Any, ...]]:
    # One filter, so that the rows are joined to the members once.
    chosen = grants.filter(group__user__isnull=False) if only is None else grants.filter(group__user__in=only)
    account = (F(f"group__user__{name}") for name in _ACCOUNT)
    rows = chosen.annotate(stands=_STANDS).order_by("permission__pk", "group__name")
    yield from rows.values_list("permission__codename", "group__name", "expires_at", "stands", *account)


def _noted(found: dict[UUID, _Account], rows: Iterable[Sequence[Any]], *, on_scope: bool) -> None:
    for codename, through, expires_at, stands, *account in rows:
        held = Held(codename, on_scope=on_scope, through=through)
        _account(found, account).kept.append(Kept(held, expires_at, stands))


def _account(found: dict[UUID, _Account], row: Sequence[Any]) -> _Account:
    id, display_name, username, kind, active, superuser = row
    if id not in found:
        standing = Standing(id, display_name or username, AccountKind(kind), active, superuser)
        found[id] = _Account(standing, username)
    return found[id]
