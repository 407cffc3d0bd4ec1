"""The pages of workspaces: home, one workspace, its people, and joining one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from collab import selectors
from collab.errors import CollabError, Invalid
from collab.models.workspaces import Workspace
from collab.selectors import Member
from collab.services.holders import holder_named, holder_role_set, still_views, workspace_leave
from collab.services.workspaces import (
    agent_disable,
    agent_enable,
    invite_accept,
    invite_create,
    invite_revoke,
    member_add,
    member_remove,
    member_role_set,
    workspace_create,
    workspace_rename,
)
from collab.web import pages
from collab.web.answers import actor, filled, noted, page, reader, tried
from collab.web.forms import (
    AddForm,
    AgentForm,
    ClientForm,
    GroupForm,
    InviteForm,
    NameForm,
    RemoveForm,
    RevokeForm,
    RoleForm,
)
from collab.web.held import lines_of, of_kind
from permissions.actors import Person
from permissions.decisions import AccountKind
from permissions.errors import Refused
from permissions.ledger import Holder
from permissions.models import User
from permissions.roles import Role

LAST = "workspace"
"""The session's key for the workspace that was open last."""

ROLES = [role.value for role in Role]
AGENT_ROLES = [role.value for role in Role if role is not Role.OWNER]


@require_safe
@page
def home(request: HttpRequest) -> HttpResponse:
    """Go to the workspace that was open last; list them where there is none, or where all are asked for."""
    found = selectors.workspaces_of(actor(request))
    last = next((one for one in found if str(one.id) == request.session.get(LAST)), next(iter(found), None))
    if last is not None and "all" not in request.GET:
        return redirect("workspace", last.id)
    return render(request, "home.html", {"workspaces": found})


@page
def workspace_new(request: HttpRequest) -> HttpResponse:
    """Make a workspace, owned by who makes it."""
    made: list[UUID] = []
    if request.method == "POST":

        def act() -> str:
            made.append(workspace_create(actor=actor(request), name=filled(NameForm(request.POST))["name"]).id)
            return ""

        if tried(request, act):
            return redirect("workspace", made[0])
    return render(request, "workspace_new.html", {"name": request.POST.get("name", "")})


@page
def workspace(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a workspace's threads and documents; rename it."""
    found = selectors.workspace_for(actor(request), id)
    if request.method == "POST":

        def act() -> str:
            workspace_rename(actor=actor(request), workspace=id, name=filled(NameForm(request.POST))["name"])
            return ""

        tried(request, act)
        return redirect("workspace", id)
    request.session[LAST] = str(id)
    side = pages.side(reader(request), found, at="workspace")
    shown = {
        "side": side,
        "people": side.people,
        "agent": next(iter(selectors.agents_of(id)), None),
        "archived": selectors.threads_of(actor(request), id, archived=True),
    }
    return render(request, "workspace.html", shown)


@page
def people(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show who belongs to a workspace and what agents may do there; change it, for those who manage it."""
    found = selectors.workspace_for(actor(request), id)
    link: dict[str, str] = {}
    if request.method == "POST":
        act = ACTS.get(request.POST.get("act", ""))
        done = act is not None and tried(request, lambda: act(request, actor(request), id, link))
        if done and request.POST.get("act") == "leave":
            return redirect("people", id) if still_views(actor(request), found) else redirect("home")
        if not link or not done:
            return redirect("people", id)
    side = pages.side(reader(request), found, at="people")
    manages = side.may["manage"]
    shown = {
        "side": side,
        "people": side.people,
        "roles": ROLES,
        "agent_roles": AGENT_ROLES,
        **_holders(found, side, pages.every_agent(id) if manages else selectors.agents_of(id)),
        "invites": selectors.invites_of(actor(request), id) if manages else [],
        **link,
    }
    return render(request, "people.html", shown)


@page
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a workspace by an invite. Opening the link uses nothing up; pressing the button does."""
    if request.method == "POST":
        try:
            return redirect("workspace", invite_accept(actor=actor(request), token=token).id)
        except (CollabError, Refused) as error:
            noted(request, error)
            return render(request, "error.html", {"title": "Not joined", "because": error.because}, status=409)
    return render(request, "join.html")


def _role(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    form = filled(RoleForm(request.POST))
    member_role_set(actor=by, workspace=workspace, user=form["user"], role=Role(form["role"]), until=form["until"])
    return f"{_name(form['user'])} is {form['role']} now."


def _remove(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    user = filled(RemoveForm(request.POST))["user"]
    member_remove(actor=by, workspace=workspace, user=user)
    return f"{_name(user)} was removed."


def _add(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    form = filled(AddForm(request.POST))
    role, until = Role(form["role"]), form["until"]
    member_add(actor=by, workspace=workspace, username=form["username"], role=role, until=until)
    return f"{form['username']} was added as {form['role']}."


def _invite(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    form = filled(InviteForm(request.POST))
    invite, token = invite_create(actor=by, workspace=workspace, role=Role(form["role"]), days=form["days"])
    link["invite_link"] = request.build_absolute_uri(reverse("join", args=[token]))
    link["invite_role"] = invite.role
    return ""


def _revoke(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    invite_revoke(actor=by, invite=filled(RevokeForm(request.POST))["invite"])
    return "The invite is worth nothing now."


def _agent(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    form = filled(AgentForm(request.POST))
    name = _name(form["agent"])
    if not form["role"]:
        agent_disable(actor=by, workspace=workspace, agent_account=form["agent"])
        return f"{name} is not enabled here now."
    role, until = Role(form["role"]), form["until"]
    agent_enable(actor=by, workspace=workspace, agent_account=form["agent"], role=role, until=until)
    return f"{name} may do what a {form['role']} may, and no more than the person it works for."


def _group(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    form = filled(GroupForm(request.POST))
    found = selectors.workspace_for(by, workspace)
    holder = holder_named(by, found, group=form["group"], team=form["team"])
    return _held(by, workspace, holder, form)


def _client(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    form = filled(ClientForm(request.POST))
    holder = holder_named(by, selectors.workspace_for(by, workspace), account=form["user"])
    if not (isinstance(holder, User) and holder.kind == AccountKind.CLIENT.value):
        raise Invalid("There is no such client.")
    return _held(by, workspace, holder, form)


def _held(by: Person, workspace: UUID, holder: Holder, form: dict[str, Any]) -> str:
    role = Role(form["role"]) if form["role"] else None
    holder_role_set(actor=by, workspace=workspace, holder=holder, role=role, until=form["until"])
    return f"{holder} is {role.value} now." if role else f"{holder} holds nothing on the workspace now."


def _leave(request: HttpRequest, by: Person, workspace: UUID, link: dict[str, str]) -> str:
    left = workspace_leave(actor=by, workspace=workspace)
    if still_views(by, left):
        return f"You gave up what you held in {left} yourself. What a group of yours holds is still yours."
    return f"You left {left}."


ACTS: dict[str, Callable[[HttpRequest, Person, UUID, dict[str, str]], str]] = {
    "role": _role,
    "remove": _remove,
    "add": _add,
    "invite": _invite,
    "revoke": _revoke,
    "agent": _agent,
    "group": _group,
    "client": _client,
    "leave": _leave,
}
"""What the forms of the people page do, by their hidden ``act``. The last argument takes an invite's link."""


def _holders(found: Workspace, side: pages.Side, agents: Sequence[Member]) -> dict[str, Any]:
    """What the page shows of who holds what; to who does not manage the workspace, of its members alone."""
    lines = lines_of(found, {member.id: member.place for member in side.people})
    people = {line.id: line for line in of_kind(lines, "person")}
    by_id = {line.id: line for line in lines}
    everyone = {
        "members": [{"member": member, "line": people.get(member.id)} for member in side.people],
        "agents": [{"member": member, "line": by_id.get(member.id)} for member in agents],
    }
    if not side.may["manage"]:
        return everyone
    shown = {member.id for member in side.people}
    return {
        **everyone,
        "over": [line for line in people.values() if line.id not in shown],
        "groups": of_kind(lines, "group"),
        "clients": of_kind(lines, "client"),
    }


def _name(account: UUID) -> Any:
    return selectors.names_of([account]).get(account, "someone")
