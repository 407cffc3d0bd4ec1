"""The page on which a person lets a program in, or does not (DESIGN 11). It names the program; a service decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.clients.oauth.addresses import form_source, place_of
from agents.clients.oauth.services import authorization_allow, authorization_deny, registration_asked
from agents.clients.oauth.tickets import Asked, asked_in
from agents.clients.services import ROLES
from agents.models.clients import Registration
from collab import selectors
from collab.errors import CollabError
from collab.models.workspaces import Workspace
from collab.text import visible
from collab.web.answers import actor, filled, noted, page, plain
from permissions.actors import Person
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.grants import readable
from permissions.roles import Role


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace that the person may choose, and whether they may let the program in there."""

    workspace: Workspace
    manages: bool
    chosen: bool


class AllowForm(forms.Form):
    """Where the program may act for the person, and with which role."""

    role = forms.ChoiceField(choices=[("", ""), *((role.value, role.value) for role in ROLES)], required=False)

    def __init__(self, data: Any, places: list[Place]) -> None:
        super().__init__(data)
        offered = [(str(place.workspace.id), place.workspace.name) for place in places]
        self.fields["workspaces"] = forms.TypedMultipleChoiceField(
            coerce=UUID, choices=offered, error_messages={"required": "Choose at least one."}
        )


@page
def connect(request: HttpRequest) -> HttpResponse:
    """Ask a person whether a program may act for them; carry out what they decide."""
    by, asked = actor(request), asked_in(request.GET.get("ask", ""))
    program = registration_asked(asked)
    if request.method != "POST":
        return _asking(request, by, asked, program)
    try:
        return _back(_decided(request, by, asked))
    except NotFound as error:
        noted(request, error)
        return plain(request, 404, "Nothing here", error.because)
    except (CollabError, Refused) as error:
        noted(request, error)
        return _asking(request, by, asked, program, because=error.because)


def _decided(request: HttpRequest, by: Person, asked: Asked) -> str:
    if request.POST.get("act") != "allow":
        return authorization_deny(actor=by, asked=asked)
    form = filled(AllowForm(request.POST, _places(request, by)))
    role = Role(form["role"]) if form["role"] else None
    return authorization_allow(actor=by, asked=asked, workspaces=form["workspaces"], role=role)


def _asking(
    request: HttpRequest, by: Person, asked: Asked, program: Registration, *, because: str = ""
) -> HttpResponse:
    places = _places(request, by)
    shown = {
        "program": visible(program.name),
        "place": visible(place_of(asked.redirect_uri)),
        "places": places,
        "manages": any(place.manages for place in places),
        "roles": ROLES,
        "role": request.POST.get("role", ""),
        "because": because,
    }
    answer = render(request, "connect.html", shown, status=400 if because else 200)
    # The form leads back to the program, which a browser else refuses (CSP, form-action).
    vars(answer)["_csp_update"] = {"form-action": [form_source(asked.redirect_uri)]}
    return answer


def _places(request: HttpRequest, by: Person) -> list[Place]:
    chosen = set(request.POST.getlist("workspaces"))
    managed = set(readable(Workspace.objects.all(), by, Action.MANAGE).values_list("pk", flat=True))
    return [Place(one, one.id in managed, str(one.id) in chosen) for one in selectors.workspaces_of(by)]


def _back(address: str) -> HttpResponse:
    # Django's own redirect knows only the schemes of pages; a program may answer to one of its own.
    return HttpResponse(status=302, headers={"Location": address, "Cache-Control": "no-store"})
