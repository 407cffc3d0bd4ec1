"""What is said of calls, and how often replies were ruled on, as staff see them (DESIGN 11; REPLIES).

Staff read what is said of calls; superusers edit it, in versions. A preview shows a call only to who may read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.admin import display
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from unfold.widgets import UnfoldAdminTextareaWidget

from agents.models.replies import Phrasing, ReplyCount
from agents.phrasing import LONGEST, arguments_of, phrasing_restore, phrasing_set, require_known, text_checked
from agents.previews import packs_text, preview, said_now
from agents.tools.registry import label_of
from collab.errors import CollabError, Invalid
from collab.selectors import names_of as names_of_accounts
from permissions.admin.base import StaffAdmin, actor_column, reader, staff, superuser
from permissions.errors import NotFound, PermissionsError
from permissions.grants import names_of
from permissions.phrases import told
from permissions.refusals import refused_form_noted

MOST_VERSIONS = 50
"""Versions of a phrasing that its page shows, at most: the newest."""

AGENT = "accord_agent"
"""What a page puts on the counts it shows: the name of the agent."""

SOURCES = {"default": "Default", "pack": "The tool's pack", "edited": "Edited"}

PLACEHOLDERS: Mapping[str, str] = {
    "{action}": "the tool's name in words",
    "{Action}": "the same, capitalised",
    "{with}": "the arguments that were sent, or nothing",
    "{because}": "a colon and the reason, or nothing",
    "{reason}": "the reason alone",
    "{result.NAME}": "what came back under a name",
}


class PhrasingForm(forms.Form):
    """What is said of a tool's calls; empty: what its pack says."""

    text = forms.CharField(
        label="Phrasing", required=False, max_length=LONGEST, strip=True, widget=UnfoldAdminTextareaWidget({"rows": 3}),
        help_text="Empty: the tool's pack says it, or the default.",
    )  # fmt: skip


class PhrasingAdmin(StaffAdmin):
    """What is said of calls. The list shows what stands; a row is one version of it."""

    heading = "Phrasings"
    shown = ("tool", "outcome", "language", "version", "text", "whom", "at")

    whom = actor_column("by", "Saved by")

    def get_urls(self) -> list[Any]:
        edit = path(
            "of/<str:tool>/<str:outcome>/<str:language>/", self.admin_site.admin_view(self.edit),
            name="agents_phrasing_edit",
        )  # fmt: skip
        return [edit, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """List what is said of every tool's calls, where it comes from, and who edited it."""
        if staff(request) is None:
            raise PermissionDenied
        found = said_now()
        names = names_of(*(said.by for said in found if said.by))
        lines = [
            (said, said.outcome.replace("_", " "), SOURCES[said.source], told(said.by, names) if said.by else "")
            for said in found
        ]
        shown = {**self.admin_site.each_context(request), "opts": self.opts, "title": self.heading, "lines": lines}
        return TemplateResponse(request, "admin/phrasings.html", shown)

    def edit(self, request: HttpRequest, tool: str, outcome: str, language: str) -> HttpResponse:
        """Show what is said of a tool's calls with an outcome, how it reads on one, and its versions; save another."""
        of = {"tool": tool, "outcome": outcome, "language": language}
        try:
            require_known(**of)
        except Invalid as unknown:
            raise Http404 from unknown
        page = partial(self._page, request, of)
        if request.method != "POST":
            return page(PhrasingForm(initial={"text": _edited(of)}), _edited(of))
        form = PhrasingForm(request.POST if "text" in request.POST else {"text": _edited(of)})
        if not form.is_valid():
            return page(form, "", status=400)
        text = form.cleaned_data["text"]
        try:
            if _saved(request, of, text):
                return redirect(request.path)
            return page(form, text_checked(**of, text=text))
        except (CollabError, PermissionsError) as refused:
            refused_form_noted(request, refused, ("save", "restore"))
            form.add_error(None, refused.because)
            return page(form, "", status=403 if isinstance(refused, PermissionsError) else 400)

    def _page(
        self, request: HttpRequest, of: Mapping[str, str], form: PhrasingForm, text: str, *, status: int = 200
    ) -> HttpResponse:
        packs, source = packs_text(**of)
        versions = list(Phrasing.objects.filter(**of).order_by("-version")[:MOST_VERSIONS])
        names = names_of(*(version.by for version in versions))
        shown = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": self.heading,
            "heading": f"{label_of(of['tool'])}: {of['outcome'].replace('_', ' ')} ({of['language']})",
            "form": form,
            "may_write": superuser(request),
            "packs": packs,
            "source": SOURCES[source],
            "placeholders": _placeholders(of["tool"]),
            "preview": None if form.errors else preview(reader(request), **of, text=text or packs),
            "versions": [(version, told(version.by, names)) for version in versions],
        }
        return TemplateResponse(request, "admin/phrasing.html", shown, status=status)


class ReplyCountAdmin(StaffAdmin):
    """How often rules did something to what agents wrote, by day."""

    heading = "Reply counts"
    list_display = ("day", "agent", "rule", "tool", "action", "number")
    list_filter = ("day", "rule", "tool", "action")
    id_fields = ("pk", "agent_id")
    search_fields = ("tool", "rule")
    ordering = ("-day", "-number", "pk")
    shown = ("day", "agent", "rule", "tool", "action", "number")

    @display(description="Agent")
    def agent(self, obj: ReplyCount) -> str:
        """The name of the agent that wrote it."""
        return str(vars(obj).get(AGENT, ""))

    def prepare(self, rows: Sequence[ReplyCount]) -> None:
        super().prepare(rows)
        names = names_of_accounts(row.agent_id for row in rows)
        for row in rows:
            vars(row)[AGENT] = names.get(row.agent_id, "")


def _edited(of: Mapping[str, str]) -> str:
    newest = Phrasing.objects.filter(**of).order_by("-version").first()
    return newest.text if newest else ""


def _saved(request: HttpRequest, of: Mapping[str, str], text: str) -> bool:
    """Save what a form sends, and say whether it asked for that: a preview does not."""
    if "restore" in request.POST:
        phrasing_restore(actor=reader(request), phrasing=_version(of, request.POST["restore"]))
        messages.success(request, "The earlier version stands again, as the newest one.")
    elif "save" in request.POST:
        phrasing_set(actor=reader(request), **of, text=text)
        messages.success(request, "It is said in every turn from its next call on.")
    else:
        return False
    return True


def _version(of: Mapping[str, str], id: str) -> UUID:
    try:
        return Phrasing.objects.values_list("pk", flat=True).get(**of, pk=UUID(id))
    except (ValueError, Phrasing.DoesNotExist) as unknown:
        raise NotFound from unknown


def _placeholders(tool: str) -> dict[str, str]:
    arguments = arguments_of(tool)
    names = ("NAME",) if arguments is None else arguments
    sent = {f"{{argument.{name}}}": "this argument as it was sent" for name in names}
    return {**PLACEHOLDERS, **sent}
