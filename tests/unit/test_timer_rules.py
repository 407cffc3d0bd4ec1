"""When timers are due: repetition, the clocks going forward and back, months of other lengths (docs/timers.md)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.timers.rules import REPEATS, BadMoment, lateness, local_of, moment_of, newest_due, next_due, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
REPEATING = REPEATS[1:]


def due(first: str, repeats: str, after: str, zone: ZoneInfo = BERLIN) -> str:
    """Return the next moment of a timer, as clocks in the zone show it."""
    found = next_due(local_of(first), zone, repeats, local_of(after).replace(tzinfo=zone))
    return "" if found is None else found.astimezone(zone).strftime("%Y-%m-%dT%H:%M%z")


@pytest.mark.parametrize(
    ("repeats", "after", "comes"),
    [
        ("never", "2026-06-12T20:29", "2026-06-12T20:30+0200"),
        ("never", "2026-06-12T20:30", ""),
        ("daily", "2026-06-12T20:30", "2026-06-13T20:30+0200"),
        ("weekdays", "2026-06-12T20:30", "2026-06-15T20:30+0200"),
        ("weekly", "2026-06-12T20:30", "2026-06-19T20:30+0200"),
        ("monthly", "2026-06-12T20:30", "2026-07-12T20:30+0200"),
        ("daily", "2026-01-01T00:00", "2026-06-12T20:30+0200"),
        ("weekly", "2031-06-14T00:00", "2031-06-20T20:30+0200"),
    ],
)
def test_a_timer_repeats_from_its_first_moment_on(repeats, after, comes):
    assert due("2026-06-12T20:30", repeats, after) == comes


def test_a_time_that_the_clocks_leave_out_is_later_by_as_much_as_they_go():
    assert due("2026-03-28T02:30", "daily", "2026-03-28T12:00") == "2026-03-29T03:30+0200"
    assert due("2026-03-28T02:30", "daily", "2026-03-29T12:00") == "2026-03-30T02:30+0200"


def test_a_time_that_comes_twice_is_the_first_of_the_two():
    assert due("2026-10-24T02:30", "daily", "2026-10-24T12:00") == "2026-10-25T02:30+0200"
    later = moment_of(local_of("2026-10-25T02:30"), BERLIN) + timedelta(minutes=1)
    following = next_due(local_of("2026-10-24T02:30"), BERLIN, "daily", later)
    assert following == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_a_timer_keeps_the_time_on_the_wall_when_the_clocks_change():
    assert due("2026-03-01T09:00", "daily", "2026-03-28T12:00") == "2026-03-29T09:00+0200"
    assert due("2026-03-01T09:00", "daily", "2026-03-27T12:00") == "2026-03-28T09:00+0100"


def test_the_thirty_first_is_the_last_day_of_a_shorter_month():
    months = [due("2026-01-31T08:00", "monthly", f"2026-{month:02}-01T00:00")[:10] for month in (2, 3, 4, 5)]
    assert months == ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]
    assert due("2027-12-31T08:00", "monthly", "2028-02-01T00:00")[:10] == "2028-02-29"


def test_weekdays_that_begin_on_a_saturday_begin_on_monday():
    assert due("2026-06-13T09:00", "weekdays", "2026-06-13T00:00") == "2026-06-15T09:00+0200"


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2028, 12, 31)),
    st.sampled_from(ZONES),
    st.sampled_from(REPEATING),
    st.integers(0, 3 * 365 * 24 * 60),
)
def test_the_newest_moment_missed_and_the_next_are_neighbours(first, zone, repeats, minutes):
    place, first = ZoneInfo(zone), first.replace(second=0, microsecond=0)
    now = moment_of(first, place) + timedelta(minutes=minutes)
    coming = next_due(first, place, repeats, now)
    assert coming is not None
    assert coming > now
    missed = newest_due(first, place, repeats, now)
    if missed is not None:
        assert missed <= now
        assert next_due(first, place, repeats, missed) == coming
    assert newest_due(first, place, repeats, coming) == coming


@pytest.mark.parametrize(
    "text", ["", "2026-06-12", "2026-02-30T10:00", "2026-06-12T25:00", "2026-6-12T10:00", "soon", "2026-06-12T10:00Z"]
)
def test_what_is_no_local_moment_is_refused(text):
    with pytest.raises(BadMoment, match="like 2026-06-12T20:30"):
        local_of(text)


@pytest.mark.parametrize("name", ["", "Berlin", "../etc/passwd", "Europe/Atlantis", "Factory", "localtime"])
def test_what_is_no_zone_is_refused(name):
    with pytest.raises(BadMoment, match="no time zone"):
        zone_of(name)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, ""), (60, ""), (61, "1 minute"), (150, "2 minutes"), (3_600, "1 hour"), (200_000, "2 days")],
)
def test_lateness_is_said_from_a_minute_on(seconds, said):
    assert lateness(timedelta(seconds=seconds)) == said
