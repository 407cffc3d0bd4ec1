"""Searching the history of grants of one scope: who gave or took what, on what, when and why (DESIGN 11)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet

from permissions.actors import Person, System
from permissions.models import GrantChange, User
from permissions.phrases import SYSTEM_NAME

PAGE_LINES = 50
"""Lines a page shows."""

MOST_NAMED = 500
"""Accounts of one name that a search follows: more would make one query too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a search looks for; what is empty or None is not asked.

    Attributes:
        by, whom: a part of the name of who did it; of who holds it since or no longer, or of the group.
        objects: ids of the objects it is about.
        accounts: who holds it since or no longer, themselves or by a group they are in.
        since, until: the first moment that counts, and the first that does not.
        reason: a part of the reason.
    """

    by: str = ""
    whom: str = ""
    objects: Collection[UUID] | QuerySet[GrantChange, UUID] | None = None
    accounts: Collection[UUID] | None = None
    codename: str = ""
    given: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of the history, newest first, and the line that the next page begins after, None at the end."""

    lines: Sequence[GrantChange]
    after: UUID | None


def history_of(scope: UUID, wanted: Wanted, *, after: UUID | None = None) -> Page:
    """Return a page of a scope's history, in one query, two behind a cursor. The caller has checked that the reader
    manages the scope.

    Args:
        after: the last line of the page before.

    Raises:
        LookupError: the scope's history has no such line.
    """
    found = GrantChange.objects.filter(_asked(wanted), scope_id=scope).select_related("account", "group")
    if after is not None:
        found = found.filter(_behind(scope, after))
    lines = list(found.order_by("-at", "-pk")[: PAGE_LINES + 1])
    more = len(lines) > PAGE_LINES
    return Page(lines[:PAGE_LINES], lines[PAGE_LINES - 1].pk if more else None)


def by_name(words: str) -> Q:
    """Return the condition on a line that who did it is called so, in part."""
    named = User.objects.filter(_called("", words)).order_by("pk").values_list("pk", flat=True)
    actors = [Person(id) for id in named[:MOST_NAMED]]
    system = [System()] if words.casefold() in SYSTEM_NAME.casefold() else []
    return Q(by__in=[*actors, *system])


def _asked(wanted: Wanted) -> Q:
    asked = Q()
    if wanted.by:
        asked &= by_name(wanted.by)
    if wanted.whom:
        asked &= _called("account__", wanted.whom) | Q(group__name__icontains=wanted.whom)
    if wanted.objects is not None:
        asked &= Q(object_id__in=wanted.objects)
    if wanted.accounts is not None:
        asked &= Q(account__in=wanted.accounts) | Q(group__in=Group.objects.filter(user__in=wanted.accounts))
    if wanted.codename:
        asked &= Q(codename=wanted.codename)
    if wanted.given is not None:
        asked &= Q(given=wanted.given)
    if wanted.since is not None:
        asked &= Q(at__gte=wanted.since)
    if wanted.until is not None:
        asked &= Q(at__lt=wanted.until)
    return asked & Q(reason__icontains=wanted.reason) if wanted.reason else asked


def _called(path: str, words: str) -> Q:
    return Q(**{f"{path}display_name__icontains": words}) | Q(**{f"{path}username__icontains": words})


def _behind(scope: UUID, after: UUID) -> Q:
    at = GrantChange.objects.filter(pk=after, scope_id=scope).values_list("at", flat=True).first()
    if at is None:
        raise LookupError("the history has no such line")
    return Q(at__lt=at) | Q(at=at, pk__lt=after)
