"""The admin's "why?": any actor, any action, any object, at present or at a moment in the past (DESIGN 11).

Staff see metadata, and who may do what is metadata: names, grants and decisions, nothing of what anybody wrote.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.functional import lazy
from unfold.widgets import INPUT_CLASSES, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from collab.asking import KINDS, explained, explained_at
from collab.naming import Unnamed, actor_named, object_named, thread_named
from permissions.admin.forms import EXPIRY
from permissions.decisions import Action
from permissions.replay import Moment
from permissions.why import Explanation

NAME_CHARS = 250


def _object_help() -> str:
    return f"An id, or {', '.join(f'{kind}:…' for kind in KINDS)} with its name or title"


# Read as the page is shown: upper apps register kinds once this module has been imported.
_HELP = lazy(_object_help, str)()


class WhyForm(forms.Form):
    """Names an actor, an action and an object; ``told`` is the answer once it is valid."""

    who = forms.CharField(label="May", max_length=NAME_CHARS, widget=UnfoldAdminTextInputWidget(),
                          help_text="A user name, an agent's or a client's name, or an account's id")  # fmt: skip
    whom = forms.CharField(label="for", max_length=NAME_CHARS, required=False, widget=UnfoldAdminTextInputWidget(),
                           help_text="Whom an agent or a client acts for; empty: no one")  # fmt: skip
    action = forms.ChoiceField(
        label="do", choices=[(action.value, action.value.replace("_", " ")) for action in Action],
        widget=UnfoldAdminSelectWidget(),
    )  # fmt: skip
    obj = forms.CharField(label="on", max_length=NAME_CHARS, widget=UnfoldAdminTextInputWidget(), help_text=_HELP)
    thread = forms.CharField(
        label="in thread", max_length=NAME_CHARS, required=False, widget=UnfoldAdminTextInputWidget(),
        help_text="Its title or id; its mode counts",
    )  # fmt: skip
    at = forms.DateTimeField(
        label="At (UTC)", required=False, input_formats=[EXPIRY], help_text="Empty: now",
        widget=forms.DateTimeInput({"type": "datetime-local", "class": " ".join(INPUT_CLASSES)}, format=EXPIRY),
    )  # fmt: skip

    told: Explanation | None = None

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if (at := found.get("at")) is not None and at > timezone.now():
            self.add_error("at", "This moment is in the future.")
        if not self.errors:
            try:
                self.told = _told(found)
            except Unnamed as unnamed:
                raise forms.ValidationError(str(unnamed)) from unnamed
        return found


def why_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show the form, and the answer to what it asks."""
    asked = "who" in request.GET
    form = WhyForm(request.GET if asked else None, initial=request.GET.dict())
    status = 200 if not asked or form.is_valid() else 400
    context = {**site.each_context(request), "title": "Why?", "form": form, "told": form.told if asked else None}
    return TemplateResponse(request, "admin/why.html", context, status=status)


def _told(asked: dict[str, Any]) -> Explanation:
    obj = object_named(asked["obj"])
    thread = thread_named(asked["thread"], obj)
    actor, action = actor_named(asked["who"], asked["whom"], thread), Action(asked["action"])
    if asked["at"] is None:
        return explained(actor, action, obj, thread)
    return explained_at(actor, action, obj, Moment(asked["at"]), thread)
