"""Who holds what on one object, as the pages of people and grants show it: what has expired too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collab.selectors import hue_of
from permissions.admin.standing import Grant, HolderLine, holder_lines
from permissions.models import Guarded, User
from permissions.roles import ROLE_GRANTS, Role, role_of


@dataclass(frozen=True, slots=True)
class Line:
    """A holder and what it holds itself.

    Attributes:
        kind: ``person``, ``agent``, ``client`` or ``group``.
        ref: what forms call it: ``account:<id>`` or ``group:<number>``.
        detail: what tells holders of one name apart.
        active: False for an account that is switched off.
        role: the role that its grants make, of those that stand.
        until: when the first of that role's grants expires; None: none does.
        more: single grants that stand beside the role's.
        over: single grants that have expired.
    """

    kind: str
    id: UUID | int
    ref: str
    name: str
    detail: str
    hue: int
    active: bool
    role: Role | None
    until: datetime | None
    more: Sequence[Grant]
    over: Sequence[Grant]
    grants: Sequence[Grant]

    @property
    def has_expired(self) -> bool:
        """It holds nothing any more, and held something."""
        return bool(self.over) and len(self.over) == len(self.grants)


def lines_of(obj: Guarded, places: Mapping[UUID, int | None]) -> list[Line]:
    """Return who holds what on an object itself, in a number of queries that does not grow with them.

    Args:
        places: the members' places in the workspace, for their hues.
    """
    return [_line(found, places) for found in holder_lines(obj)]


def of_kind(lines: Sequence[Line], kind: str) -> list[Line]:
    """Return the lines of one kind of holder."""
    return [line for line in lines if line.kind == kind]


def _line(found: HolderLine, places: Mapping[UUID, int | None]) -> Line:
    holder = found.holder
    account = holder if isinstance(holder, User) else None
    stands = [grant for grant in found.grants if grant.stands]
    role = role_of({grant.codename for grant in stands})
    of_role = ROLE_GRANTS[role] if role else frozenset()
    ends = [grant.expires_at for grant in stands if grant.codename in of_role and grant.expires_at]
    return Line(
        kind=account.kind if account else "group",
        id=account.pk if account else int(str(holder.pk)),
        ref=f"account:{account.pk}" if account else f"group:{holder.pk}",
        name=str(holder),
        detail=found.detail,
        hue=hue_of(places.get(account.pk)) if account else 0,
        active=account.is_active if account else True,
        role=role,
        until=min(ends, default=None),
        more=[grant for grant in stands if grant.codename not in of_role],
        over=[grant for grant in found.grants if not grant.stands],
        grants=found.grants,
    )
