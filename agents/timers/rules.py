"""When a timer is due: wall-clock times in a time zone, once or again and again (docs/timers.md). Pure.

A timer repeats at the same time of the day as its clock on the wall shows it there, whatever the zone's offset is. A
time that a zone leaves out as its clocks go forward counts by the offset before that, so it is later by as much as they
go; one that comes twice is the first of the two.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

LOCAL_FORM = "%Y-%m-%dT%H:%M"

REPEATS = ("never", "daily", "weekdays", "weekly", "monthly")

_NO_ZONES = {"Factory", "localtime"}
"""Names beside those of zones: for none, and for whichever this machine is in. No browser knows them."""

_LONGEST_GAP = 40
"""Days: more than lie between two moments of any timer that repeats."""


class BadMoment(ValueError):
    """A local time or a time zone that is none; its text is a sentence that says which."""


def local_of(text: str) -> datetime:
    """Read a local moment like ``2026-06-12T20:30``.

    Raises:
        BadMoment: it has another form, or there is no such day or time.
    """
    try:
        found = datetime.strptime(text, LOCAL_FORM)
    except ValueError:
        raise BadMoment("The moment is a day and a time like 2026-06-12T20:30.") from None
    if text != found.isoformat(timespec="minutes"):
        raise BadMoment("The moment is a day and a time like 2026-06-12T20:30.")
    return found


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name, like ``Europe/Berlin``.

    Raises:
        BadMoment: there is none of this name.
    """
    if name not in _zones():
        raise BadMoment(f"There is no time zone called {name[:60]!r}.")
    return ZoneInfo(name)


def moment_of(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment, in UTC, at which clocks in a zone show a local time: the first, where they show it twice."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def next_due(first: datetime, zone: ZoneInfo, repeats: str, after: datetime) -> datetime | None:
    """Return the first moment of a timer later than ``after``, in UTC; None where there is none.

    Args:
        first: the local time it was set for.
        repeats: one of ``REPEATS``.
        after: a moment with its time zone.
    """
    if repeats == "never":
        once = moment_of(first, zone)
        return once if once > after else None
    start = max(first.date(), after.astimezone(zone).date() - timedelta(days=2))
    due = _moments(first, zone, repeats, (start + timedelta(days=day) for day in range(_LONGEST_GAP)))
    return next((moment for moment in due if moment > after), None)


def newest_due(first: datetime, zone: ZoneInfo, repeats: str, upto: datetime) -> datetime | None:
    """Return the last moment of a timer that is not later than ``upto``, in UTC; None where there is none."""
    if repeats == "never":
        once = moment_of(first, zone)
        return once if once <= upto else None
    last = upto.astimezone(zone).date() + timedelta(days=1)
    due = _moments(first, zone, repeats, (last - timedelta(days=day) for day in range(_LONGEST_GAP)))
    return next((moment for moment in due if moment <= upto), None)


def lateness(late: timedelta) -> str:
    """Say how late something is: ``3 minutes``, ``2 hours``, ``4 days``; "" up to a minute."""
    seconds = late.total_seconds()
    if seconds <= 60:
        return ""
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if number := int(seconds // size):
            return f"{number} {name}" if number == 1 else f"{number} {name}s"
    raise AssertionError("more than a minute is at least one")


def _moments(first: datetime, zone: ZoneInfo, repeats: str, days: Iterable[date]) -> Iterable[datetime]:
    at = first.time()
    return (moment_of(datetime.combine(day, at), zone) for day in days if _is_on(first.date(), repeats, day))


def _is_on(first: date, repeats: str, day: date) -> bool:
    if day < first:
        return False
    match repeats:
        case "daily":
            return True
        case "weekdays":
            return day.weekday() < 5
        case "weekly":
            return (day - first).days % 7 == 0
        case "monthly":
            return day.day == min(first.day, monthrange(day.year, day.month)[1])
    raise ValueError(f"a timer does not repeat {repeats!r}")


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - _NO_ZONES)
