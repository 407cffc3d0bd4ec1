"""How views answer what services refuse: a page with the sentence, or the form's page with the sentence on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from collab.errors import CollabError, Invalid
from permissions.actors import Person
from permissions.errors import NotFound, Refused
from permissions.models import User
from permissions.refusals import refused_form_noted

NOTED = ("act", "user", "agent", "holder", "username", "team", "role", "what", "ref", "invite")
"""What a form of grants and roles names; of other forms only the act is logged."""

Extra = ParamSpec("Extra")
View = Callable[Concatenate[HttpRequest, Extra], HttpResponseBase]


def page(view: View[Extra]) -> View[Extra]:
    """Make a view for people who are signed in: what it may not show is a plain page that says so, never cached."""

    def answered(request: HttpRequest, /, *args: Extra.args, **kwargs: Extra.kwargs) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NotFound as error:
            noted(request, error)
            return plain(request, 404, "Nothing here", error.because)
        except Refused as error:
            noted(request, error)
            return plain(request, 403, "Not allowed", error.because)
        except CollabError as error:
            return plain(request, 400, "Not done", error.because)

    update_wrapper(answered, view)
    signed_in: View[Extra] = never_cache(login_required(answered))
    return signed_in


def plain(request: HttpRequest, status: int, title: str, because: str) -> HttpResponse:
    """Return a page that says one thing."""
    return render(request, "error.html", {"title": title, "because": because}, status=status)


def tried(request: HttpRequest, act: Callable[[], str]) -> bool:
    """Carry out a form's act; keep what it says, or why it was refused, for the next page. Return whether it was done.

    Raises:
        NotFound: what it is about is not there for the reader.
    """
    try:
        said = act()
    except (CollabError, Refused) as error:
        noted(request, error)
        messages.error(request, error.because)
        return False
    if said:
        messages.success(request, said)
    return True


def noted(request: HttpRequest, error: Exception) -> None:
    """Log a form that asked for what its sender may not do."""
    refused_form_noted(request, error, NOTED)


def id_in(text: str) -> UUID | None:
    """Return the id that a part of an address names, None where it is empty.

    Raises:
        NotFound: it is no id.
    """
    try:
        return UUID(text) if text else None
    except ValueError:
        raise NotFound from None


def filled(form: forms.Form) -> dict[str, Any]:
    """Return what a form holds.

    Raises:
        Invalid: it is not filled in, with the first thing that is wrong.
    """
    if form.is_valid():
        return form.cleaned_data
    name, faults = next(iter(form.errors.items()))
    raise Invalid(f"{str(name).replace('_', ' ').capitalize()}: {faults[0]}")


def reader(request: HttpRequest) -> User:
    """Return whose session the request is of; the view has checked that there is one."""
    user = request.user
    if not isinstance(user, User):
        raise NotFound
    return user


def actor(request: HttpRequest) -> Person:
    """Return the signed-in person as an actor."""
    return Person(reader(request).id)
