"""Tools as rows, and which of them a workspace has enabled: the services, and what reads them (DESIGN 4 and 5)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.apps import apps as installed
from django.apps.registry import Apps
from django.db import transaction

from agents.models.tools import Tool as ToolRow
from agents.models.tools import WorkspaceTool
from agents.tools import registry
from agents.tools.contract import Tool
from collab.errors import Invalid
from collab.selectors import workspace_for
from collab.services.checks import line
from permissions.actors import Actor, Person, dumps
from permissions.decisions import Action
from permissions.errors import NotFound
from permissions.gate import require
from permissions.services import bound_change, grants_withdrawn

logger = logging.getLogger(__name__)

KEPT = ("label", "pack", "effect", "registered")
"""What a tool's row says of it, and is written anew when the server's packs change."""


def tools_synced(apps: Apps = installed, **_: Any) -> None:
    """Make the rows of tools those of this server's packs, after a migration; the row of a tool that no pack has any
    more stays, since grants and calls name it."""
    try:
        rows = apps.get_model("agents", "Tool")._default_manager
    except LookupError:  # migrated back to before there were any
        return
    found = [rows.model(name=tool.name, **_told(tool)) for tool in registry.TOOLS.values()]
    rows.bulk_create(found, update_conflicts=True, unique_fields=["name"], update_fields=KEPT)
    rows.exclude(name__in=registry.TOOLS).filter(registered=True).update(registered=False)


@transaction.atomic
def workspace_tool_enable(*, actor: Person, workspace: UUID, tool: str) -> WorkspaceTool:
    """Enable a tool in a workspace, so that ``use_tool`` on it can be given; enabled twice is enabled once.

    Who manages the workspace may use it; everyone else, agents too, needs the grant. It has an order with every call:
    the next one sees it.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor may not manage it.
        Invalid: there is no such tool, or it needs no enabling.
    """
    found = workspace_for(actor, workspace)
    bound_change(by=actor, obj=found)
    contract = _enableable(tool)
    row, _ = ToolRow.objects.update_or_create(name=contract.name, defaults=_told(contract))
    enabled, made = WorkspaceTool.objects.get_or_create(workspace=found, tool=row, defaults={"enabled_by": actor})
    if made:
        logger.info("tool %s was enabled in workspace %s by %s", tool, found.id, dumps(actor))
    return enabled


@transaction.atomic
def workspace_tool_disable(*, actor: Person, workspace: UUID, tool: str, reason: str = "") -> int:
    """Disable a tool in a workspace and take the grants on it, each with its line of history; return how many there
    were. Disabled twice is disabled once. The very next call is refused.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor may not manage it.
        Invalid: the reason is refused.
    """
    found = workspace_for(actor, workspace)
    bound_change(by=actor, obj=found)
    enabled = WorkspaceTool.objects.filter(workspace=found, tool=tool).first()
    if enabled is None:
        return 0
    why = f"{enabled.guarded_name} was disabled"
    why = f"{why}: {line(reason, 'the reason')}" if reason.strip() else why
    taken = grants_withdrawn(by=actor, obj=enabled, reason=why)
    enabled.delete()
    logger.info("tool %s was disabled in workspace %s by %s", tool, found.id, dumps(actor))
    return taken


def enabled_tools(workspace: UUID) -> dict[str, WorkspaceTool]:
    """Return the tools enabled in a workspace by their names, in one query; the caller has checked who asks."""
    return {row.tool_id: row for row in WorkspaceTool.objects.filter(workspace=workspace).order_by("tool")}


def workspace_tool_for(actor: Actor, id: UUID) -> WorkspaceTool:
    """Return an enabled tool.

    Raises:
        NotFound: there is none, or the actor may not view its workspace.
    """
    found = WorkspaceTool.objects.select_related("workspace", "tool").filter(pk=id).first()
    if found is None:
        raise NotFound
    require(actor, Action.VIEW, found)
    return found


def enableable(tools: Iterable[Tool] | None = None) -> list[Tool]:
    """Return the tools that a workspace enables: those whose contract names a permission."""
    among = registry.TOOLS.values() if tools is None else tools
    return sorted((tool for tool in among if tool.permission), key=lambda tool: tool.label)


def _enableable(name: str) -> Tool:
    found = registry.TOOLS.get(name)
    if found is None:
        raise Invalid(f"There is no tool called {name[:100]}.")
    if not found.permission:
        raise Invalid(f"{found.label} needs no enabling: the right is that to the objects it touches.")
    return found


def _told(tool: Tool) -> dict[str, Any]:
    *_, pack, _ = ("", *tool.fn.__module__.split("."))
    return {"label": tool.label, "pack": pack, "effect": tool.effect, "registered": True}
