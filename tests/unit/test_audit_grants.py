"""Replaying the grant history: who held what at an epoch, directly, until a moment, through a group (INV5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agents.audit.grants import GrantHistory, Group, Moment
from agents.audit.rows import GrantRow

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def line(epoch: int, *, account: str | None = None, group: int | None = None, given: bool = True, **more) -> GrantRow:
    values = {"codename": "comment", "through": "", "object": "thread", "expires_at": None, **more}
    return GrantRow(epoch=epoch, account=account, group=group, given=given, **values)


def holds(*lines: GrantRow, epoch: int, members: tuple[str, ...] = (), at: datetime = NOON, **more) -> bool:
    history = GrantHistory.replayed(lines, {1: Group("Crew", frozenset(members))}, frozenset({"root"}))
    return history.holds(more.get("account", "ben"), {"comment"}, {"thread", "workspace"}, Moment(epoch, at))


@pytest.mark.parametrize(("epoch", "held"), [(1, False), (2, True), (3, True), (4, False), (5, False), (6, True)])
def test_a_grant_is_held_from_the_epoch_it_is_given_until_the_one_it_is_taken(epoch: int, held: bool):
    history = line(2, account="ben"), line(4, account="ben", given=False), line(6, account="ben")
    assert holds(*history, epoch=epoch) is held


def test_a_grant_is_of_one_account_one_object_and_one_codename():
    assert not holds(line(1, account="ana"), epoch=1)
    assert not holds(line(1, account="ben", object="document"), epoch=1)
    assert not holds(line(1, account="ben", codename="view"), epoch=1)
    assert holds(line(1, account="ben", object="workspace"), epoch=1)


def test_a_grant_that_expires_is_held_until_then():
    until = line(1, account="ben", expires_at=NOON)
    assert holds(until, epoch=1, at=NOON - timedelta(seconds=1))
    assert not holds(until, epoch=1)
    assert holds(until, line(2, account="ben", expires_at=NOON + timedelta(hours=1)), epoch=2)


def test_a_superuser_holds_everything():
    assert holds(epoch=0, account="root")


def test_what_a_group_holds_its_members_hold():
    assert holds(line(1, group=1), epoch=1, members=("ben",))
    assert not holds(line(1, group=1), epoch=1, members=("ana",))
    assert not holds(line(1, group=1), line(2, group=1, given=False), epoch=2, members=("ben",))


@pytest.mark.parametrize(("epoch", "held"), [(1, False), (2, True), (3, False), (4, True)])
def test_a_member_holds_it_between_joining_and_leaving(epoch: int, held: bool):
    moves = (line(move, account="ben", given=move != 3, through="Crew") for move in (2, 3, 4))
    assert holds(line(1, group=1), *moves, epoch=epoch) is held


def test_whoever_left_later_was_a_member_before():
    assert holds(line(1, group=1), line(2, account="ben", given=False, through="Crew"), epoch=1)


LEFT = line(2, account="ben", given=False, through="Crew")


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        ((line(3, group=1, given=False), line(4, group=1)), True),
        ((line(3, group=1, codename="view"), line(4, group=1, given=False), line(5, group=1)), False),
        ((line(3, group=1, expires_at=NOON), line(4, group=1)), True),
    ],
    ids=["held nothing", "held something else", "held what expired"],
)
def test_nothing_is_said_against_who_may_have_joined_while_the_group_held_nothing(lines, held: bool):
    """Joining a group that holds nothing here leaves no line here."""
    assert holds(line(1, group=1), LEFT, *lines, epoch=5, members=("ben",)) is held


def test_nothing_is_said_against_who_may_have_left_once_the_group_held_nothing():
    assert holds(line(1, group=1), line(3, group=1, given=False), epoch=1)
    assert not holds(line(1, group=1), line(3, group=1, codename="view"), epoch=1)
