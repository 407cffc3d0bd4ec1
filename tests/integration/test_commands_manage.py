"""The management command demo; and the counter of statements that other tests rely on."""

from __future__ import annotations

import threading

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction

from agents.models.sources import Source
from agents.models.tools import WorkspaceTool
from collab import selectors
from collab.models.threads import Event, Thread
from permissions.actors import Agent, Person
from permissions.decisions import Action, Level
from permissions.gate import decide_on
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


def test_the_demos_tools_are_for_ana_ben_and_robin_and_its_sources_deliver_to_its_thread(db):
    call_command("demo", verbosity=0)
    ben, vera = (Person(User.objects.get(username=name).pk) for name in ("ben", "vera"))
    robin, thread = User.objects.get(display_name="Robin"), Thread.objects.get()
    tools = {tool.tool_id: tool for tool in WorkspaceTool.objects.all()}
    assert {"reserve_table", "text_group", "get_order", "refund_card"} <= set(tools)
    for tool in tools.values():
        assert decide_on(ben, Action.USE_TOOL, tool).level is Level.ALLOW
        assert decide_on(vera, Action.USE_TOOL, tool).level is Level.DENY
        assert decide_on(Agent(robin.pk, thread.id, ben), Action.USE_TOOL, tool).level is Level.ALLOW
    found = Source.objects.values_list("name", "handler", "default_thread__title")
    assert set(found) == {(name, name, "Launch dinner") for name in ("restaurant", "cinema")}


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
