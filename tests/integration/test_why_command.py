"""``manage.py why``: what it prints, how it exits, what it refuses to guess; docs/permissions.md shows it as it is."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from collab.services.threads import thread_create, thread_mode_set
from collab.services.workspaces import member_role_set, workspace_create
from permissions.roles import Role
from tests.support import cast

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "permissions.md"
SHOWN = re.findall(r"```sh\nmanage\.py why (.*?)\n```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
PLAN = "document:Launch plan"


def asked(*arguments: str) -> tuple[str, int]:
    """Run the command and return what it printed and its exit code."""
    out = StringIO()
    try:
        call_command("why", *arguments, stdout=out)
    except SystemExit as ended:
        return out.getvalue(), int(ended.code or 0)
    return out.getvalue(), 0


@pytest.mark.parametrize(("arguments", "printed"), SHOWN, ids=[arguments for arguments, _ in SHOWN])
def test_the_page_shows_what_the_command_prints(studio, arguments, printed):
    found, _ = asked(*shlex.split(arguments))
    assert found == printed


def test_the_page_shows_the_command():
    assert len(SHOWN) == 2


@pytest.mark.parametrize(("who", "action", "code"), [("ben", "change_document", 0), ("vera", "change_document", 4)])
def test_it_exits_by_what_it_says(studio, who, action, code):
    assert asked(who, action, PLAN)[1] == code


def test_a_proposal_has_an_exit_of_its_own_and_the_mode_is_the_named_threads(studio):
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    assert asked("Robin", "change_document", PLAN, "--for", "ben")[1] == 0
    printed, code = asked("Robin", "change_document", PLAN, "--for", "ben", "--in", "Launch dinner")
    assert code == 3
    assert "To allow: set Launch dinner to edit mode." in printed


def test_json_is_one_object(studio):
    printed, code = asked("Robin", "change_document", str(studio.document.id), "--for", "vera", "--json")
    found = json.loads(printed)
    assert (found["level"], code) == ("deny", 4)
    assert [party["name"] for party in found["parties"]] == ["Robin", "Vera"]
    assert found["ways"][-1]["changes"] == ["give Vera change document on Launch plan or its workspace"]


def test_the_past_is_asked_about_by_its_moment(studio):
    before = datetime.now(UTC)
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    printed, code = asked("ben", "change_document", PLAN, "--at", before.isoformat())
    assert (printed.startswith("allow: Ben may change Launch plan"), code) == (True, 0)
    assert "Not recorded: Whether the account of Ben was active" in printed
    assert asked("ben", "change_document", PLAN)[1] == 4


def test_the_mode_of_the_past_is_the_logs(studio):
    before = datetime.now(UTC)
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    arguments = ("Robin", "change_document", PLAN, "--in", "Launch dinner")
    assert asked(*arguments, "--at", before.isoformat())[1] == 0
    assert asked(*arguments, "--at", datetime.now(UTC).isoformat())[1] == 3


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (("nobody", "view", PLAN), "There is no account called 'nobody'."),
        (("ben", "view", "document:Nothing"), "There is no document called 'Nothing'."),
        (("ben", "view", "Launch plan"), "'Launch plan' is no object"),
        (("ben", "view", "0190aaaa-0000-7000-8000-000000000000"), "There is no workspace, thread, document or tool"),
        (("ben", "view", PLAN, "--for", "vera"), "Ben is a person, and acts for nobody else."),
        (("Robin", "view", PLAN, "--for", "Robin"), "There is no account called 'Robin'."),
        (("ben", "view", PLAN, "--in", "Roses"), "There is no thread called 'Roses' in its workspace."),
        (("ben", "view", PLAN, "--at", "soon"), "'soon' is no moment with a time zone"),
        (("ben", "view", PLAN, "--at", "2026-02-31T10:00+00:00"), "is no moment with a time zone"),
        (("ben", "view", PLAN, "--at", "2026-06-12T10:00"), "is no moment with a time zone"),
        (("ben", "view", PLAN, "--at", (datetime.now(UTC) + timedelta(days=1)).isoformat()), "is in the future."),
        (("ben", "view", PLAN, "--at", "0001-01-01T00:00+14:00"), "is too long ago."),
        (("ben\udcff", "view", PLAN), "The actor's name holds half of a surrogate pair (U+DCFF)"),
        (("ben", "view", "document:\0"), "The object's name holds a NUL"),
        (("ben", "view", PLAN, "--in", "x" * 1_001), "The thread's name"),
        (("ben", "fly", PLAN), "invalid choice: 'fly'"),
    ],
)
def test_what_names_nothing_is_told(studio, arguments, because):
    with pytest.raises(CommandError, match=re.escape(because)):
        asked(*arguments)


def test_of_several_it_wants_the_id(studio, zoe):
    again = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Launch dinner")
    with pytest.raises(CommandError, match="more than one thread called 'Launch dinner'; name its id: "):
        asked("ben", "view", "thread:Launch dinner")
    assert asked("ben", "view", str(again.id))[1] == 0
    other = cast.someone("ana2")
    other.user.display_name = "Ben"
    other.user.save()
    studio.ben.user.username = "b"
    studio.ben.user.save()
    with pytest.raises(CommandError, match="more than one account called 'Ben'"):
        asked("Ben", "view", PLAN)


def test_a_thread_of_another_workspace_is_not_where_it_is_done(studio, zoe):
    own = workspace_create(actor=zoe.actor, name="Garden")
    roses = thread_create(actor=zoe.actor, workspace=own.id, title="Roses")
    with pytest.raises(CommandError, match="no thread called"):
        asked("ben", "change_document", PLAN, "--in", str(roses.id))
