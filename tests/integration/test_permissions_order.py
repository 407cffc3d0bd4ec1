"""A revocation and a write have an order, and the database's clock is one for all (DESIGN 5 and 7)."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, connections, transaction

from collab.models.workspaces import Workspace
from permissions.actors import Person, System
from permissions.clock import NOW_SQL, AccordNow
from permissions.decisions import Action, Level
from permissions.errors import PermissionsError
from permissions.gate import decide_on, require
from permissions.models import GrantChange
from permissions.services import account_deactivate, grant_give, grant_take, group_leave
from tests.support.permitted import account, place, team

WAIT = 10
"""Seconds after which a thread that should have answered has failed the test."""


def in_thread(work):
    """Run ``work`` on a connection of its own; the returned function waits for what it returned or raised."""
    outcome = []

    def run():
        try:
            outcome.append(work())
        except PermissionsError as error:
            outcome.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()

    def finish():
        thread.join(WAIT)
        assert not thread.is_alive()
        return outcome[0]

    return finish


@pytest.fixture
def here(transactional_db):
    return place()


@pytest.fixture
def ben(here):
    editor = account("Ben")
    here.give(editor, "view", "change_document")
    return editor


def revocations(here, ben):
    editors = team("Editors", ben)
    return {
        "a grant taken": lambda: grant_take(by=System(), holder=ben, codename="change_document", obj=here.workspace),
        "an account deactivated": lambda: account_deactivate(by=System(), account=ben),
        "a group left": lambda: group_leave(by=System(), account=ben, group=editors),
    }


@pytest.mark.parametrize("way", ["a grant taken", "an account deactivated", "a group left"])
def test_a_revocation_waits_for_the_write_that_was_checked_before_it(here, ben, way):
    revoke = revocations(here, ben)[way]
    if way == "a group left":
        here.give(ben.groups.get(), "change_document")
    revoked = threading.Event()
    with transaction.atomic():
        decision = require(Person(ben.pk), Action.CHANGE_DOCUMENT, here.document, for_write=True)
        finish = in_thread(lambda: (revoke(), revoked.set()))
        assert not revoked.wait(0.3)
        here.document.title = "Written in time"
        here.document.save()
    finish()
    assert revoked.is_set()
    assert Workspace.objects.get().grants_epoch > decision.grants_epoch


def test_a_write_waits_for_the_revocation_before_it_and_is_refused(here, ben):
    with transaction.atomic():
        grant_take(by=System(), holder=ben, codename="change_document", obj=here.workspace)

        def write():
            with transaction.atomic():
                return require(Person(ben.pk), Action.CHANGE_DOCUMENT, here.document, for_write=True)

        finish = in_thread(write)
    assert str(finish()) == "Ben may only view Launch plan."


def test_no_write_is_checked_against_grants_older_than_a_committed_change(here, ben):
    seen = []

    def write():
        for _ in range(15):
            with transaction.atomic():
                decision = decide_on(Person(ben.pk), Action.CHANGE_DOCUMENT, here.document, for_write=True)
                seen.append((decision.grants_epoch, decision.level is Level.ALLOW))
        return len(seen)

    writers = [in_thread(write) for _ in range(2)]
    for _ in range(15):
        grant_take(by=System(), holder=ben, codename="change_document", obj=here.workspace)
        grant_give(by=System(), holder=ben, codename="change_document", obj=here.workspace)
    for finish in writers:
        finish()
    changes = GrantChange.objects.filter(account=ben, codename="change_document").order_by("epoch")
    stood = dict(changes.values_list("epoch", "given"))
    assert len(seen) == 30
    assert all(allowed is stood[max(began for began in stood if began <= epoch)] for epoch, allowed in seen)


def test_two_owners_who_leave_at_once_do_not_both_leave(here):
    owners = [account("Ana"), account("Zoe")]
    for owner in owners:
        here.give(owner, "view", "manage")
    takes = [
        in_thread(lambda owner=owner: grant_take(by=System(), holder=owner, codename="manage", obj=here.workspace))
        for owner in owners
    ]
    outcomes = [finish() for finish in takes]
    assert sorted(getattr(outcome, "code", "left") for outcome in outcomes) == ["last_owner", "left"]


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {NOW_SQL}")
        found = cursor.fetchone()[0]
    return found if isinstance(found, datetime) else datetime.fromisoformat(found).replace(tzinfo=UTC)


def near(moment: datetime, other: datetime) -> bool:
    return abs(moment - other) < timedelta(seconds=30)


def test_the_clock_is_true_until_it_is_moved(transactional_db, clock):
    assert near(database_now(), datetime.now(UTC))
    clock(3600)
    assert near(database_now(), datetime.now(UTC) + timedelta(hours=1))
    clock(0)
    assert near(database_now(), datetime.now(UTC))


def test_a_moved_clock_reaches_open_connections_of_other_threads_and_new_ones(transactional_db, clock):
    opened, moved = threading.Event(), threading.Event()

    def on_an_open_connection():
        database_now()
        opened.set()
        assert moved.wait(WAIT)
        return database_now()

    finish = in_thread(on_an_open_connection)
    assert opened.wait(WAIT)
    clock(-7200)
    moved.set()
    expected = datetime.now(UTC) - timedelta(hours=2)
    assert near(finish(), expected)
    assert near(in_thread(database_now)(), expected)


def test_the_orm_reads_the_same_clock(here, clock):
    clock(86_400)
    at = Workspace.objects.annotate(now=AccordNow()).values_list("now", flat=True).get()
    assert near(at, datetime.now(UTC) + timedelta(days=1))
    assert near(place("Later").workspace.created_at, datetime.now(UTC) + timedelta(days=1))


def test_a_whole_second_compares_with_the_moments_django_stored(here, clock):
    moment = datetime(2031, 1, 1, 12, 0, 0, tzinfo=UTC)
    Workspace.objects.update(created_at=moment)
    clock((moment - datetime.now(UTC)).total_seconds() - 60)
    assert Workspace.objects.filter(created_at__gt=AccordNow()).exists()
    clock((moment - datetime.now(UTC)).total_seconds() + 60)
    assert Workspace.objects.filter(created_at__lt=AccordNow()).exists()
