"""The management command demo; and the counter of statements that other tests rely on."""

from __future__ import annotations

import threading

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction

from collab import selectors
from collab.models.threads import Event, Thread
from permissions.actors import Person
from permissions.models import User


def test_the_demo_loaded_twice_is_the_demo_loaded_once(db):
    call_command("demo", verbosity=0)
    first = _everything()
    call_command("demo", verbosity=0)
    assert _everything() == first


def test_the_demo_holds_a_workspace_ana_owns_and_zoe_cannot_see(db):
    call_command("demo", verbosity=0)
    people = {user.username: Person(user.pk) for user in User.objects.all()}
    [workspace] = selectors.workspaces_of(people["ana"])
    assert {member.name for member in selectors.people_of(workspace.id)} == {"Ana", "Ben", "Vera"}
    assert [agent.name for agent in selectors.agents_of(workspace.id)] == ["Robin"]
    assert [line.thread.title for line in selectors.threads_of(people["vera"], workspace.id)] == ["Launch dinner"]
    documents = selectors.documents_of(people["ben"], workspace.id)
    assert [line.document.title for line in documents] == ["Guest list", "Launch plan"]
    assert selectors.workspaces_of(people["zoe"]) == []


def test_the_demo_prints_every_sign_in_with_its_password(db, capsys):
    call_command("demo")
    printed = capsys.readouterr().out
    assert "accord-demo" in printed
    assert all(f"  {name}" in printed for name in ("ana", "ben", "vera", "zoe", "admin"))


def test_statements_of_other_threads_are_counted_too(transactional_db, queries):
    def elsewhere() -> None:
        try:
            User.objects.count()
        finally:
            connections.close_all()

    with queries() as sent:
        worker = threading.Thread(target=elsewhere)
        worker.start()
        worker.join()
        User.objects.count()
    assert sum("permissions_user" in sql for sql in sent.statements) == 2


def test_savepoints_are_counted_apart_from_statements(db, queries):
    with queries() as sent, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert sent.statements == ["SELECT 1"]
    assert len(sent.control) == 2
    with pytest.raises(AssertionError, match="1 SELECT 1"):
        sent.at_most(0)


def _everything() -> tuple[list[str], int, list[str]]:
    users = list(User.objects.order_by("pk").values_list("username", flat=True))
    return users, Event.objects.count(), [str(thread.head_hash) for thread in Thread.objects.all()]
