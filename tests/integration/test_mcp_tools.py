"""What ``/mcp`` says of its tools is true of them, and which commands are none (DESIGN 5 and 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction

from agents.clients.mcp.tools import COMMANDS, READS, described, tools
from agents.clients.rest.commands import IN_PERSON
from collab import commands
from collab.errors import CollabError
from collab.signals import thread_asked
from permissions.errors import PermissionsError
from tests.integration.test_routes import COMMANDS as ROWS
from tests.integration.test_routes import args_of
from tests.support.cast import Studio
from tests.support.scene import Scene, scene
from tests.support.tools import book_boat, registered, reserve_table
from tests.support.world import added, changed, kept, world

MANAGING = {
    "thread_rename", "thread_archive", "thread_mode_set", "thread_answers_set", "document_policy_set",
    "delegation_give", "delegation_end",
}  # fmt: skip
"""What only who manages may do, and so no client."""
OF_A_PAGE = {"thread_focus_set", "proposals_accept"}
OF_CALLS_AND_TIMERS = {"call_check", "timer_set", "timer_cancel"}

READING: Mapping[str, Mapping[str, object]] = {
    "workspace_list": {},
    "thread_list": {"workspace": "workspace"},
    "thread_read": {"thread": "thread"},
    "document_list": {"workspace": "workspace"},
    "document_read": {"document": "document"},
    "document_versions": {"document": "written"},
    "proposal_list": {"thread": "thread"},
    "question_list": {"thread": "thread"},
    "action_list": {"thread": "thread"},
    "search": {"words": "dinner"},
}
COUNTING = {"collab_thread", "collab_follow"}
"""What counts or shows something new without being changed by it."""


@pytest.fixture
def played(studio: Studio) -> Iterator[Scene]:
    with registered(reserve_table, book_boat):
        yield scene(studio)


def test_every_command_is_a_tool_or_has_a_reason_to_be_none() -> None:
    without = IN_PERSON | MANAGING | OF_A_PAGE | OF_CALLS_AND_TIMERS
    assert {tool.name for tool in COMMANDS} == set(commands.HANDLERS) - without


def test_a_tool_that_reads_changes_nothing_and_says_so(played: Scene) -> None:
    before = world()
    assert set(READING) == {tool.name for tool in READS}
    for tool in READS:
        found = tool.fn(played.studio.ana.actor, _named(READING[tool.name], played))
        assert found
        assert changed(before, world()) == set(), tool.name
        assert _hints(tool.name) == (True, False, True, False)


@pytest.mark.parametrize("name", sorted(tool.name for tool in COMMANDS))
def test_what_is_said_of_a_command_is_true(played: Scene, name: str) -> None:
    before, ana = world(), played.studio.ana.actor
    args = next(args_of(row, played.ids) for row in ROWS if row.name == name)
    if name == "thread_create":
        args["text"] = "Hello."
    tool = tools()[name]
    with _asked() as asked:
        tool.fn(ana, args)
    after = world()
    assert changed(before, after)
    reads, destroys, again, beyond = _hints(name)
    assert not reads
    assert bool(asked) == beyond
    if not destroys:
        assert all(kept(before, after, table) for table in before if table not in COUNTING)
    if again:
        _tried(tool.fn, ana, args)
        assert changed(after, world()) - {"collab_command"} == set()
    assert beyond <= destroys, "a turn may change what is there"


def test_a_comment_asks_for_nothing(played: Scene) -> None:
    with _asked() as asked:
        tools()["message_post"].fn(
            played.studio.ana.actor, {"thread": str(played.ids["thread"]), "text": "Hi.", "kind": "comment"}
        )
    assert not asked


def test_what_a_tool_takes_is_closed_and_every_command_takes_an_id(played: Scene) -> None:
    for tool in described():
        schema = tool.input_schema
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert ("command_id" in schema["properties"]) is not tools()[tool.name].reads
        assert tool.description
        assert tool.title


def test_an_id_makes_any_command_one(played: Scene) -> None:
    ana, args = played.studio.ana.actor, {"workspace": str(played.ids["workspace"]), "title": "M", "kind": "markdown"}
    before = world()
    made = [tools()["document_create"].fn(ana, {**args, "command_id": "c1"}) for _ in range(2)]
    assert made[0] == made[1]
    assert len(added(before, world(), "collab_document")) == 1


def _hints(name: str) -> tuple[Any, ...]:
    hints = next(tool.annotations for tool in described() if tool.name == name)
    assert hints is not None
    return hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint


def _tried(fn: Any, actor: Any, args: Any) -> None:
    try:
        with transaction.atomic():
            fn(actor, args)
    except (CollabError, PermissionsError):
        return


def _named(args: Mapping[str, object], played: Scene) -> dict[str, Any]:
    return {name: str(played.ids[value]) if value in played.ids else value for name, value in args.items()}


@contextmanager
def _asked() -> Iterator[list[Any]]:
    """Hear which threads are asked for a turn."""
    heard: list[Any] = []

    def hear(sender: Any, thread_id: Any, **_: Any) -> None:
        heard.append(thread_id)

    thread_asked.connect(hear)
    try:
        yield heard
    finally:
        thread_asked.disconnect(hear)
