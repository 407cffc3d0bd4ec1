"""The page of a workspace's tools, for who manages it: which there are, enabled, disabled, held by whom (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from agents.models.tools import WorkspaceTool
from agents.tools.contract import Consent, Tool
from agents.tools.enabling import enableable, enabled_tools, workspace_tool_disable, workspace_tool_enable
from agents.tools.registry import TOOLS, label_of
from collab.models.workspaces import Workspace
from collab.selectors import workspace_for
from collab.web import pages
from collab.web.answers import actor, filled, page, reader, tried
from collab.web.held import Line, lines_of
from permissions.actors import Person
from permissions.decisions import Action
from permissions.gate import require

ASKS: dict[Consent, str] = {
    "never": "It never asks first",
    "unless_person": "It asks first, unless only people asked for it",
    "always": "It always asks first",
}
EFFECTS = {"write": "Changes something", "read": "Reads", "none": "Changes nothing"}


class ToolForm(forms.Form):
    """Names a tool; why it is disabled."""

    tool = forms.CharField(max_length=100)
    reason = forms.CharField(max_length=500, required=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A tool as the page shows it.

    Attributes:
        row: where it is enabled; None: it is not.
        lines: who holds a grant on it.
        gone: no pack of this server has it any more.
    """

    name: str
    label: str
    effect: str
    asks: str
    row: WorkspaceTool | None
    lines: Sequence[Line]
    gone: bool

    @property
    def losers(self) -> str:
        """The names of who would lose it."""
        names = [line.name for line in self.lines]
        return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1] if names else ""


@page
def tools(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a workspace's tools; enable and disable them."""
    workspace = workspace_for(actor(request), id)
    require(actor(request), Action.MANAGE, workspace)
    if request.method == "POST":
        act = ACTS.get(request.POST.get("act", ""))
        if act is not None:
            tried(request, lambda: act(request, actor(request), workspace))
        return redirect("tools", id)
    side = pages.side(reader(request), workspace)
    rows = _rows(id, {member.id: member.place for member in side.people})
    shown = {
        "side": side,
        "kind": "workspace",
        "object": workspace,
        "tools": rows,
        "others": sorted(tool.label for tool in TOOLS.values() if not tool.permission),
    }
    return render(request, "tools.html", shown)


def _rows(workspace: UUID, places: dict[UUID, int | None]) -> list[Row]:
    enabled = enabled_tools(workspace)
    offered = {tool.name: tool for tool in enableable()}
    names = [*offered, *(name for name in enabled if name not in offered)]
    return [_row(name, offered.get(name), enabled.get(name), places) for name in names]


def _row(name: str, tool: Tool | None, row: WorkspaceTool | None, places: dict[UUID, int | None]) -> Row:
    return Row(
        name=name,
        label=label_of(name),
        effect=EFFECTS[tool.effect] if tool else "No pack of this server has it",
        asks=ASKS[tool.consent] if tool else "",
        row=row,
        lines=lines_of(row, places) if row else (),
        gone=tool is None,
    )


def _enable(request: HttpRequest, by: Person, workspace: Workspace) -> str:
    form = filled(ToolForm(request.POST))
    row = workspace_tool_enable(actor=by, workspace=workspace.id, tool=form["tool"])
    return f"{label_of(row.tool_id)} is enabled in {workspace}. Who owns {workspace} may use it; give it to others."


def _disable(request: HttpRequest, by: Person, workspace: Workspace) -> str:
    form = filled(ToolForm(request.POST))
    name = form["tool"]
    taken = workspace_tool_disable(actor=by, workspace=workspace.id, tool=name, reason=form["reason"])
    grants = f" {taken} grant{'s were' if taken > 1 else ' was'} taken." if taken else ""
    return f"{label_of(name)} is not enabled in {workspace} any more.{grants}"


ACTS: dict[str, Callable[[HttpRequest, Person, Workspace], str]] = {"enable": _enable, "disable": _disable}
"""What the forms of the page do, by their hidden ``act``."""
