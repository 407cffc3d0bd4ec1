"""The account page's section of clients: a person's own, their tokens, and where each is let in (DESIGN 11)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from agents.clients.listing import clients_of
from agents.clients.services import (
    LONGEST,
    LONGEST_NAME,
    ROLES,
    client_disable,
    client_enable,
    client_register,
    token_issue,
    token_revoke,
    token_rotate,
)
from agents.models.clients import AccessToken
from collab import selectors
from collab.web import inbox_rows, pages
from collab.web.answers import actor, filled, id_in, page, reader, tried
from collab.web.workspaces import LAST
from permissions.actors import Person
from permissions.roles import Role

DAYS = {7: "a week", 30: "30 days", 90: "90 days", 365: "a year"}

Once = dict[str, object]
"""What the page shows this once: a token's secret."""


class RegisterForm(forms.Form):
    name = forms.CharField(max_length=LONGEST_NAME)


class ClientForm(forms.Form):
    client = forms.UUIDField()


class EnableForm(ClientForm):
    """A client's role in a workspace; none takes its grants there."""

    workspace = forms.UUIDField()
    role = forms.ChoiceField(choices=[(role.value, role.value) for role in ROLES], required=False)


class IssueForm(ClientForm):
    """A token of a client: where it is used, and for how many days. Its workspaces are read beside."""

    name = forms.CharField(max_length=LONGEST_NAME)
    days = forms.IntegerField(min_value=1, max_value=LONGEST.days)


class TokenForm(forms.Form):
    token = forms.UUIDField()


@page
def clients(request: HttpRequest) -> HttpResponse:
    """Show a person their clients and tokens; register, let in, issue, rotate, revoke, disable."""
    once: Once = {}
    if request.method == "POST":
        act = ACTS.get(request.POST.get("act", ""))
        done = act is not None and tried(request, lambda: act(request, actor(request), once))
        if not (done and once):
            return redirect("clients")
    beside = inbox_rows.workspace_beside(actor(request), request.session.get(LAST, ""))
    if beside is None:
        return redirect("home")
    side = pages.side(reader(request), beside)
    shown = {"side": side, "clients": clients_of(actor(request)), "roles": ROLES, "days": DAYS, **once}
    return render(request, "clients.html", shown)


def _register(request: HttpRequest, by: Person, once: Once) -> str:
    made = client_register(actor=by, name=filled(RegisterForm(request.POST))["name"], person=by.id)
    return f"{made} is registered. Let it into a workspace, then issue a token for it."


def _enable(request: HttpRequest, by: Person, once: Once) -> str:
    form = filled(EnableForm(request.POST))
    role = Role(form["role"]) if form["role"] else None
    client_enable(actor=by, workspace=form["workspace"], client=form["client"], role=role)
    place = selectors.workspace_for(by, form["workspace"])
    if role is None:
        return f"It may do nothing in {place} any more."
    return f"It is {role.value} in {place} now, and may never do more than the person it acts for."


def _issue(request: HttpRequest, by: Person, once: Once) -> str:
    form = filled(IssueForm(request.POST))
    places = [id for text in request.POST.getlist("workspaces") if (id := id_in(text)) is not None]
    token, secret = token_issue(
        actor=by, client=form["client"], name=form["name"], workspaces=places, person=by.id,
        lasts=timedelta(days=form["days"]),
    )  # fmt: skip
    return _shown(once, token, secret)


def _rotate(request: HttpRequest, by: Person, once: Once) -> str:
    return _shown(once, *token_rotate(actor=by, token=filled(TokenForm(request.POST))["token"]))


def _revoke(request: HttpRequest, by: Person, once: Once) -> str:
    token = token_revoke(actor=by, token=filled(TokenForm(request.POST))["token"])
    return f"The token “{token}” is worth nothing now."


def _disable(request: HttpRequest, by: Person, once: Once) -> str:
    client = client_disable(actor=by, client=filled(ClientForm(request.POST))["client"])
    return f"{client} is switched off for good, and its tokens are worth nothing."


def _shown(once: Once, token: AccessToken, secret: str) -> str:
    once["made"], once["secret"] = token, secret
    return ""


ACTS: dict[str, Callable[[HttpRequest, Person, Once], str]] = {
    "register": _register,
    "enable": _enable,
    "issue": _issue,
    "rotate": _rotate,
    "revoke": _revoke,
    "disable": _disable,
}
"""What the forms of the page do, by their hidden ``act``."""
