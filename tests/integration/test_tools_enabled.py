"""Tools as rows; enabled and disabled in a workspace; granted, told and asked about like the rest (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models.tools import Tool, WorkspaceTool
from agents.tools import registry
from agents.tools.enabling import (
    enabled_tools,
    tools_synced,
    workspace_tool_disable,
    workspace_tool_enable,
)
from collab.errors import Invalid
from collab.models.workspaces import Workspace
from collab.naming import Unnamed, object_named
from collab.services.workspaces import workspace_create
from permissions.decisions import Action, Level
from permissions.errors import NotFound, Refused
from permissions.gate import decide_on
from permissions.models import GrantChange
from permissions.services import grant_give
from tests.support.cast import Someone, Studio
from tests.support.permitted import team
from tests.support.tools import registered, reserve_table

pytestmark = pytest.mark.django_db

NAME = "reserve_table"


@pytest.fixture(autouse=True)
def packs() -> Iterator[None]:
    with registered(reserve_table):
        yield


@pytest.fixture
def enabled(studio: Studio) -> WorkspaceTool:
    return workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=NAME)


def level(actor, tool: WorkspaceTool) -> Level:
    return decide_on(actor, Action.USE_TOOL, tool).level


def gives(studio: Studio, holder, tool: WorkspaceTool, **more) -> None:
    grant_give(by=studio.ana.actor, holder=holder, codename="use_tool", obj=tool, **more)


def epoch(studio: Studio) -> int:
    return Workspace.objects.values_list("grants_epoch", flat=True).get(pk=studio.workspace.id)


def browser(someone: Someone) -> Client:
    found = Client()
    found.force_login(someone.user)
    return found


def page(someone: Someone, name: str, id, **asked) -> str:
    return browser(someone).get(reverse(name, args=[id]), asked).content.decode()


def sends(someone: Someone, name: str, id, **form) -> str:
    return browser(someone).post(reverse(name, args=[id]), form, follow=True).content.decode()


def test_every_registered_tool_is_a_row_after_a_migration(db):
    assert set(registry.TOOLS) - {NAME} <= set(Tool.objects.filter(registered=True).values_list("name", flat=True))
    edit = Tool.objects.get(pk="edit_document")
    assert (edit.label, edit.pack, edit.effect) == ("Edit document", "documents", "write")


def test_a_tool_whose_pack_is_gone_keeps_its_row_and_says_so(db):
    tools_synced(apps)
    assert Tool.objects.get(pk=NAME).registered
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(registry.TOOLS, NAME)
        tools_synced(apps)
    assert not Tool.objects.get(pk=NAME).registered
    tools_synced(apps)
    assert Tool.objects.get(pk=NAME).registered


def test_an_enabled_tool_is_for_owners_and_whoever_is_given_it(studio: Studio, enabled: WorkspaceTool):
    acting = studio.robin.acting_for(studio.ben, studio.thread)
    assert level(studio.ana.actor, enabled) is Level.ALLOW
    assert level(studio.ben.actor, enabled) is Level.DENY
    gives(studio, studio.ben.user, enabled)
    assert level(studio.ben.actor, enabled) is Level.ALLOW
    assert level(acting, enabled) is Level.DENY, "the agent holds nothing itself"
    gives(studio, studio.robin.user, enabled)
    assert level(acting, enabled) is Level.ALLOW
    assert level(studio.robin.acting_for(studio.vera, studio.thread), enabled) is Level.DENY


def test_a_group_and_a_client_can_be_given_a_tool_until_a_moment(studio: Studio, enabled: WorkspaceTool, desk, clock):
    until = timezone.now() + timedelta(hours=1)
    gives(studio, team("Bookers", studio.vera.user), enabled, expires_at=until)
    gives(studio, desk.user, enabled, expires_at=until)
    for actor in (studio.vera.actor, desk.acting_for(None)):
        assert level(actor, enabled) is Level.ALLOW
    clock(3_700)
    for actor in (studio.vera.actor, desk.acting_for(None)):
        assert level(actor, enabled) is Level.DENY


def test_enabling_twice_is_enabling_once_and_each_has_its_place_among_the_writes(studio: Studio):
    before = epoch(studio)
    first, second = (
        workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=NAME) for _ in range(2)
    )
    assert first == second
    assert first.enabled_by == studio.ana.actor
    assert epoch(studio) > before


@pytest.mark.parametrize(("tool", "says"), [("edit_document", "needs no enabling"), ("fly", "There is no tool")])
def test_what_cannot_be_enabled_is_refused_with_a_sentence(studio: Studio, tool: str, says: str):
    with pytest.raises(Invalid, match=says):
        workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=tool)
    assert enabled_tools(studio.workspace.id) == {}


@pytest.mark.parametrize("service", [workspace_tool_enable, workspace_tool_disable])
def test_only_who_manages_the_workspace_enables_and_disables(studio: Studio, enabled: WorkspaceTool, zoe, service):
    for someone, error in ((studio.ben, Refused), (studio.vera, Refused), (zoe, NotFound)):
        with pytest.raises(error):
            service(actor=someone.actor, workspace=studio.workspace.id, tool=NAME)
    assert set(enabled_tools(studio.workspace.id)) == {NAME}


def test_disabling_takes_every_grant_and_the_history_says_who_lost_what_and_why(studio: Studio, enabled: WorkspaceTool):
    group = team("Bookers", studio.vera.user)
    for holder in (studio.ben.user, studio.robin.user, group):
        gives(studio, holder, enabled)
    begun = epoch(studio)
    taken = workspace_tool_disable(
        actor=studio.ana.actor, workspace=studio.workspace.id, tool=NAME, reason="the contract ended"
    )
    assert taken == 3
    lines = GrantChange.objects.filter(object_id=enabled.id, given=False)
    assert {line.account or line.group for line in lines} == {studio.ben.user, studio.robin.user, group}
    assert {line.reason for line in lines} == {"reserve table was disabled: the contract ended"}
    assert all(line.epoch > begun for line in lines)
    assert enabled_tools(studio.workspace.id) == {}
    assert workspace_tool_disable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=NAME) == 0


def test_a_tool_enabled_again_brings_no_grant_back(studio: Studio, enabled: WorkspaceTool):
    gives(studio, studio.ben.user, enabled)
    workspace_tool_disable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=NAME)
    again = workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=NAME)
    assert again.id != enabled.id
    assert level(studio.ben.actor, again) is Level.DENY


def test_the_enabled_tools_of_a_workspace_are_one_query(studio: Studio, enabled: WorkspaceTool, queries):
    other = workspace_create(actor=studio.ana.actor, name="Elsewhere")
    with queries() as sent:
        assert enabled_tools(studio.workspace.id) == {NAME: enabled}
    sent.at_most(1)
    assert enabled_tools(other.id) == {}


def test_the_page_enables_and_disables_and_says_who_loses_what(studio: Studio):
    shown = page(studio.ana, "tools", studio.workspace.id)
    assert "Reserve table" in shown
    assert "It asks first, unless only people asked for it" in shown
    assert "Edit document" in shown
    said = sends(studio.ana, "tools", studio.workspace.id, act="enable", tool=NAME)
    assert "Reserve table is enabled in Studio launch." in said
    enabled = enabled_tools(studio.workspace.id)[NAME]
    given = sends(studio.ana, "grants-tool", enabled.id, act="give", username="ben", what="use_tool")
    assert "Ben holds use tool on reserve table." in given
    gives(studio, studio.robin.user, enabled)
    assert "Ben and Robin lose their grants on it." in page(studio.ana, "tools", studio.workspace.id)
    said = sends(studio.ana, "tools", studio.workspace.id, act="disable", tool=NAME, reason="")
    assert "Reserve table is not enabled in Studio launch any more. 2 grants were taken." in said
    assert enabled_tools(studio.workspace.id) == {}


def test_the_page_says_why_a_tool_cannot_be_enabled(studio: Studio):
    assert "needs no enabling" in sends(studio.ana, "tools", studio.workspace.id, act="enable", tool="edit_document")


def test_the_page_shows_a_tool_that_no_pack_has_any_more_so_that_it_can_be_disabled(studio: Studio, enabled):
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(registry.TOOLS, NAME)
        assert "No pack of this server has it" in page(studio.ana, "tools", studio.workspace.id)
        sends(studio.ana, "tools", studio.workspace.id, act="disable", tool=NAME)
    assert enabled_tools(studio.workspace.id) == {}


def test_a_grant_on_a_tool_is_taken_on_its_page(studio: Studio, enabled: WorkspaceTool):
    gives(studio, studio.ben.user, enabled)
    sends(studio.ana, "grants-tool", enabled.id, act="take", holder=f"account:{studio.ben.id}", what="use_tool")
    assert level(studio.ben.actor, enabled) is Level.DENY


def test_the_access_report_shows_who_may_use_a_tool_and_through_what(studio: Studio, enabled: WorkspaceTool):
    gives(studio, studio.ben.user, enabled)
    told = b"".join(browser(studio.ana).get(reverse("access-tool", args=[enabled.id]), {"as": "csv"}))
    lines = {line.split(",")[0]: line for line in told.decode().splitlines()}
    assert lines["name"].startswith("name,account,kind,use_tool,through")
    assert ",allow," in lines["Ben"]
    assert ",allow," in lines["Ana"]
    assert ",deny," in lines["Vera"]


def test_why_tells_what_decides_a_tool_and_what_would_change_it(studio: Studio, enabled: WorkspaceTool):
    asked = {"who": studio.ben.id, "do": "use_tool"}
    shown = page(studio.ana, "why-tool", enabled.id, **asked)
    assert "Refused" in shown
    assert "reserve table" in shown
    gives(studio, studio.ben.user, enabled)
    assert "Allowed" in page(studio.ana, "why-tool", enabled.id, **asked)


def test_a_tool_is_named_by_its_name_and_where_several_workspaces_have_it_with_its_workspace(studio: Studio, enabled):
    for words in (NAME, f"tool:{NAME}", f"tool:Studio launch/{NAME}", str(enabled.id)):
        assert object_named(words) == enabled
    other = workspace_create(actor=studio.ana.actor, name="Garden")
    workspace_tool_enable(actor=studio.ana.actor, workspace=other.id, tool=NAME)
    with pytest.raises(Unnamed, match="more than one"):
        object_named(NAME)
    assert object_named(f"Studio launch/{NAME}") == enabled


def test_the_why_command_knows_tools(studio: Studio, enabled: WorkspaceTool, capsys):
    call_command("why", "ana", "use_tool", NAME)
    assert capsys.readouterr().out.startswith("allow: ")
    with pytest.raises(SystemExit) as exited:
        call_command("why", "ben", "use_tool", NAME)
    assert exited.value.code == 4
    assert "reserve table" in capsys.readouterr().out


def test_the_history_page_names_the_tool_and_finds_it(studio: Studio, enabled: WorkspaceTool):
    gives(studio, studio.ben.user, enabled)
    shown = page(studio.ana, "grant-history", studio.workspace.id, on="reserve", codename="use_tool")
    assert "gave use tool" in shown
    assert "Reserve table" in shown
    assert "gave use tool" not in page(studio.ana, "grant-history", studio.workspace.id, on="Launch plan")


def test_staff_see_tools_and_give_and_take_grants_on_enabled_ones(studio: Studio, enabled: WorkspaceTool, admin_client):
    assert b"edit_document" in admin_client.get(reverse("admin:agents_tool_changelist")).content
    assert b"Studio launch" in admin_client.get(reverse("admin:agents_workspacetool_changelist")).content
    shown = admin_client.get(f"/admin/agents/workspacetool/{enabled.id}/grants/", follow=True)
    assert shown.status_code == 200
    assert "May use the tool" in shown.content.decode()
