"""The page of grants on a workspace, a thread or a document, for who manages it: seen, given, taken (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from collab.asking import LOADS, Object
from collab.errors import Invalid
from collab.models.workspaces import Workspace
from collab.services.holders import holder_named, holder_role_set
from collab.web.answers import actor, filled, page, tried
from collab.web.forms import GiveForm, TakeForm
from collab.web.held import Line, lines_of
from collab.web.pages import Side, every_agent
from collab.web.why import side_of
from permissions.actors import Person
from permissions.decisions import Action
from permissions.gate import require
from permissions.roles import Role
from permissions.services import grant_give, grant_take

AS_ROLE = "role:"
"""What a form puts before a role, where it gives that and no single grant."""


@page
def grants(request: HttpRequest, id: UUID, kind: str) -> HttpResponse:
    """Show who holds what on an object and on its workspace; give and take."""
    obj = LOADS[kind](actor(request), id)
    require(actor(request), Action.MANAGE, obj)
    if request.method == "POST":
        act = ACTS.get(request.POST.get("act", ""))
        if act is not None:
            tried(request, lambda: act(request, actor(request), obj))
        return redirect(f"grants-{kind}", id)
    side = side_of(request, obj)
    places = {member.id: member.place for member in side.people}
    manages, narrowed = side.may["manage"], not isinstance(obj, Workspace)
    lines = lines_of(obj, places)
    above = lines_of(side.workspace, places) if manages and narrowed else []
    shown = {
        "side": side,
        "kind": kind,
        "object": obj,
        "lines": lines,
        "above": above,
        "whole": manages and narrowed,
        "choices": _choices(obj),
        "roles": [] if narrowed else list(Role),
        "known": _known(side, above if narrowed else lines) if manages else [],
    }
    return render(request, "grants.html", shown)


def _give(request: HttpRequest, by: Person, obj: Object) -> str:
    form = filled(GiveForm(request.POST))
    holder = holder_named(by, obj, **form["holder"], username=form["username"], team=form["team"])
    what, until, reason = form["what"], form["until"], form["reason"]
    if what.startswith(AS_ROLE) and isinstance(obj, Workspace):
        role = _role(what.removeprefix(AS_ROLE))
        holder_role_set(actor=by, workspace=obj.id, holder=holder, role=role, until=until, reason=reason)
        return f"{holder} is {role.value} in {obj} now."
    _require_known(obj, what)
    changed = grant_give(by=by, holder=holder, codename=what, obj=obj, reason=reason, expires_at=until)
    return f"{holder} {'holds' if changed else 'held'} {_words(what)} on {obj}{'' if changed else ' already'}."


def _take(request: HttpRequest, by: Person, obj: Object) -> str:
    form = filled(TakeForm(request.POST))
    holder = holder_named(by, obj, **form["holder"])
    _require_known(obj, form["what"])
    taken = grant_take(by=by, holder=holder, codename=form["what"], obj=obj, reason=form["reason"])
    return f"{holder} {'no longer holds' if taken else 'did not hold'} {_words(form['what'])} on {obj}."


ACTS: dict[str, Callable[[HttpRequest, Person, Object], str]] = {"give": _give, "take": _take}
"""What the forms of the page do, by their hidden ``act``."""


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise Invalid("There is no such role.") from None


def _require_known(obj: Object, codename: str) -> None:
    if codename not in dict(obj._meta.permissions):
        raise Invalid("There is no such grant.")


def _choices(obj: Object) -> list[tuple[str, str]]:
    return [(codename, f"{_words(codename)}: {str(says).lower()}") for codename, says in obj._meta.permissions]


def _words(codename: str) -> str:
    return codename.replace("_", " ")


def _known(side: Side, lines: Sequence[Line]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Who can be chosen from a list: those who hold something on the workspace, whose ``lines`` these are, by kind."""
    people: dict[str, Any] = {f"account:{one.id}": f"{one.name} ({one.username})" for one in side.people}
    agents = {f"account:{one.id}": one.name for one in every_agent(side.workspace.id)}
    clients = {line.ref: line.name for line in lines if line.kind == "client" and line.active}
    groups = {line.ref: line.name for line in lines if line.kind == "group"}
    kinds = (("People", people), ("Agents", agents), ("Clients", clients), ("Groups", groups))
    return [(name, list(found.items())) for name, found in kinds if found]
