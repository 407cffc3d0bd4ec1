"""Sources and what they delivered, as staff see them (DESIGN 11).

Staff read which sources there are and how their deliveries fare. A body is for whoever may view the source's workspace
and the thread it was routed to; secrets, and every change, are for whoever manages the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django import forms
from django.contrib import messages
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.timesince import timesince
from unfold.decorators import action
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from agents.models.sources import Delivery, Source
from agents.sources.handlers import HANDLERS
from agents.sources.services import (
    CHANGEABLE,
    delivery_replay,
    delivery_route,
    secret_made,
    source_change,
    source_create,
    source_fits,
    source_secret_rotate,
)
from collab.errors import CollabError
from collab.models.threads import Thread
from collab.text import visible
from permissions.actors import Person
from permissions.admin.base import StaffAdmin, actor_column, private, reader, staff
from permissions.decisions import Action, Level
from permissions.errors import PermissionsError
from permissions.gate import decide_on
from permissions.models import Guarded
from permissions.refusals import refused_form_noted

log = structlog.get_logger(__name__)

LONGEST_SHOWN = 20_000
"""Characters of a body that a page shows."""

SETTINGS = tuple(name.removesuffix("_id") for name in CHANGEABLE)
ONCE = ("workspace", "name", "scheme")
"""What a source keeps for good."""

if TYPE_CHECKING:
    SourceModelForm = forms.ModelForm[Source]
    ThreadChoiceField = forms.ModelChoiceField[Thread]
else:
    SourceModelForm = forms.ModelForm
    ThreadChoiceField = forms.ModelChoiceField


class SourceForm(SourceModelForm):
    """What may be said of a source; its secret is made here or is the sender's own."""

    actor: Person

    handler = forms.ChoiceField(
        choices=lambda: [(name, name) for name in sorted(HANDLERS)], widget=UnfoldAdminSelectWidget(),
        help_text="Reads what it sends.",
    )  # fmt: skip
    own_secret = forms.CharField(
        required=False, max_length=200, label="Secret", widget=UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text="Empty: one is made, which you then give to the sender.",
    )  # fmt: skip

    class Meta:
        model = Source
        fields = (*ONCE, *SETTINGS)
        help_texts = {"name": "It delivers to /hooks/NAME/."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "default_thread" in self.fields:
            of = Thread.objects.filter(workspace=self.instance.workspace_id, archived_at=None)
            choices: Any = self.fields["default_thread"]
            choices.queryset = of.order_by("-created_at")

    def full_clean(self) -> None:
        """Hold the row to be to what the services hold it to, so that a form says what is wrong with it."""
        super().full_clean()
        if not self.is_bound or self.errors:
            return
        if self.instance._state.adding:
            self.instance.secret = self.cleaned_data.get("own_secret") or secret_made()
        decision = decide_on(self.actor, Action.MANAGE, self.instance.workspace)
        if decision.level is not Level.ALLOW:
            self.add_error(None, decision.because)
            return
        try:
            source_fits(self.instance)
        except CollabError as wrong:
            self.add_error(None, wrong.because)


class SourceAdmin(StaffAdmin):
    """Registered senders of webhooks."""

    heading = "Sources"
    form = SourceForm
    list_display = ("label", "name", "workspace", "handler", "scheme", "enabled", "created_at")
    list_filter = ("enabled", "scheme")
    list_select_related = ("workspace",)
    linked_by = ("workspace",)
    id_fields = ("pk", "workspace")
    search_fields = ("name", "label", "workspace__name")
    search_help_text = "A name, a workspace's name, or an id"
    ordering = ("name",)
    actions_detail = ("secret_page",)

    @display(description="Address")
    def address(self, obj: Source) -> str:
        """Where it delivers to."""
        return f"/hooks/{obj.name}/"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return staff(request) is not None

    def has_change_permission(self, request: HttpRequest, obj: Source | None = None) -> bool:
        return staff(request) is not None and obj is not None and _manages(reader(request), obj)

    def get_fields(self, request: HttpRequest, obj: Source | None = None) -> tuple[str, ...]:
        if obj is None:
            return (*ONCE, *(name for name in SETTINGS if name not in {"enabled", "default_thread"}), "own_secret")
        return (*ONCE, "address", *SETTINGS, "created_at", "old_secret_until")

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> tuple[str, ...]:
        return () if obj is None else (*ONCE, "address", "created_at", "old_secret_until")

    def get_form(self, request: HttpRequest, obj: Source | None = None, *args: Any, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, *args, **kwargs)
        form.actor = reader(request)
        return form

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        obj = self.get_object(request, str(object_id))
        allowed = obj is not None and _manages(reader(request), obj)
        return super().get_actions_detail(request, object_id) if allowed else []

    def save_model(self, request: HttpRequest, obj: Source, form: SourceForm, change: object) -> None:
        """Register or change it by its services."""
        given: dict[str, Any] = {name: getattr(obj, name) for name in CHANGEABLE}
        if change:
            source_change(actor=reader(request), source=obj.pk, **given)
            return
        made = source_create(
            actor=reader(request), workspace=obj.workspace_id, name=obj.name, scheme=obj.scheme, secret=obj.secret,
            **given,
        )  # fmt: skip
        obj.pk, obj.created_at = made.pk, made.created_at

    @action(description="Secret", url_path="secret", icon="key")
    def secret_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a source's secret to who asks for it and may manage it, or give it a new one."""
        obj = self.get_object(request, object_id)
        if obj is None or not _manages(reader(request), obj):
            raise Http404
        act = request.POST.get("act", "") if request.method == "POST" else ""
        if act == "rotate":
            try:
                obj = source_secret_rotate(actor=reader(request), source=obj.pk)
            except (CollabError, PermissionsError) as refused:
                refused_form_noted(request, refused, ("act",))
                messages.error(request, refused.because)
                return redirect(request.path)
        if act:
            log.info("source_secret", source=obj.name, act=act, person=str(request.user.pk))
        shown = {
            **self.admin_site.each_context(request), "opts": self.opts, "original": obj, "title": f"Secret of {obj}",
            "secret": obj.secret if act else "", "rotated": act == "rotate",
        }  # fmt: skip
        return TemplateResponse(request, "admin/source_secret.html", shown)


class ThreadField(ThreadChoiceField):
    """Names one thread of a workspace."""

    def __init__(self, workspace: UUID) -> None:
        of = Thread.objects.filter(workspace=workspace, archived_at=None).order_by("-created_at")
        super().__init__(of, label="Thread", widget=UnfoldAdminSelectWidget())


class RouteForm(forms.Form):
    """Names the thread that a delivery is routed to."""

    def __init__(self, workspace: UUID, data: Any = None) -> None:
        super().__init__(data)
        self.fields["thread"] = ThreadField(workspace)


class DeliveryAdmin(StaffAdmin):
    """What sources delivered."""

    heading = "Deliveries"
    list_display = ("event_id", "source", "state", "age", "repeats", "conflicts", "received_at")
    list_filter = ("state", "source")
    list_select_related = ("source", "source__workspace")
    linked_by = ("source", "thread")
    id_fields = ("pk", "source", "thread", "message_id")
    search_fields = ("event_id", "source__name", "source__label")
    search_help_text = "A sender's id, a source's name, or an id"
    ordering = ("-received_at", "-pk")
    actions_detail = ("act_page",)
    shown = (
        *("event_id", "source", "state", "sentence", "sent_at", "received_at", "acted_at", "attempts", "repeats"),
        *("conflicts", "thread", "message_id", "whom", "body_hash", "raw_body"),
    )

    sentence = private("reason", "Reason")
    raw_body = private("body", "Body as it arrived", lambda body: _readable(bytes(body)))
    whom = actor_column("routed_by", "Routed by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer("body")

    @display(description="Age", ordering="received_at")
    def age(self, obj: Delivery) -> str:
        """How long ago it arrived."""
        return timesince(obj.received_at, depth=1)

    def guarded(self, obj: Delivery) -> tuple[Guarded, ...]:
        return (obj.source.workspace, *((obj.thread,) if obj.thread else ()))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        obj = self.get_object(request, str(object_id))
        allowed = obj is not None and _manages(reader(request), obj.source)
        return super().get_actions_detail(request, object_id) if allowed else []

    @action(description="Act on it", url_path="act", icon="replay")
    def act_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Have a delivery acted on again, or route it to a thread by hand."""
        obj = self.get_object(request, object_id)
        if obj is None or not _manages(reader(request), obj.source):
            raise Http404
        routes = request.method == "POST" and request.POST.get("act") == "route"
        form = RouteForm(obj.source.workspace_id, request.POST if routes else None)
        status = 200
        if request.method == "POST":
            try:
                if done := _done(request, obj, form):
                    messages.success(request, done)
                    return redirect(request.path)
                status = 400
            except (CollabError, PermissionsError) as refused:
                refused_form_noted(request, refused, ("act", "thread"))
                messages.error(request, refused.because)
                status = 403 if isinstance(refused, PermissionsError) else 400
        shown: Mapping[str, Any] = {
            **self.admin_site.each_context(request), "opts": self.opts, "original": obj, "title": f"Act on {obj}",
            "form": form, "routable": obj.state == Delivery.State.UNROUTABLE,
            "waits": obj.state in Delivery.WAITS,
            "because": obj.reason if self.may_read(reader(request), obj) else "",
        }  # fmt: skip
        return TemplateResponse(request, "admin/delivery.html", dict(shown), status=status)


def _done(request: HttpRequest, obj: Delivery, form: RouteForm) -> str:
    """Do what a form asks for and say so; empty: it asks for nothing that can be read."""
    if request.POST.get("act") == "replay":
        delivery_replay(actor=reader(request), delivery=obj.pk)
        return "It is acted on again."
    if form.is_bound and form.is_valid():
        thread = form.cleaned_data["thread"]
        delivery_route(actor=reader(request), delivery=obj.pk, thread=thread.pk)
        return f"It goes to {thread.title}."
    return ""


def _manages(actor: Person, source: Source) -> bool:
    return decide_on(actor, Action.MANAGE, source.workspace).level is Level.ALLOW


def _readable(body: bytes) -> str:
    """Return a body as a page shows it: what hides is written out, and what is cut off is said."""
    text = visible(body.decode("utf-8", "backslashreplace"))
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]} … ({len(body):,} bytes in all)"
