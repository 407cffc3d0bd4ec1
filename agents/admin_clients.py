"""Clients and tokens as staff see them (DESIGN 11).

Staff read which there are, whose, where and how long they stand, and when they were last used. What is nobody's an
administrator registers and issues tokens for; anyone's they may revoke and disable. No secret is kept to be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.decorators import action
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextInputWidget,
)

from agents.clients.listing import held_by, state_of, told
from agents.clients.services import (
    LONGEST,
    LONGEST_NAME,
    client_disable,
    client_register,
    name_read,
    token_issue,
    token_revoke,
    token_rotate,
)
from agents.models.clients import AccessToken, Client
from collab.errors import CollabError
from collab.models.workspaces import Workspace
from permissions.admin.base import StaffAdmin, actor_column, reader, superuser
from permissions.errors import PermissionsError
from permissions.refusals import refused_form_noted
from permissions.roles import role_of

Once = dict[str, Any]
"""What a page shows this once: a token's secret."""

if TYPE_CHECKING:
    ClientModelForm = forms.ModelForm[Client]
    WorkspacesField = forms.ModelMultipleChoiceField[Workspace]
else:
    ClientModelForm = forms.ModelForm
    WorkspacesField = forms.ModelMultipleChoiceField


class ClientForm(ClientModelForm):
    """The name of a client that is nobody's."""

    name = forms.CharField(
        max_length=LONGEST_NAME, widget=UnfoldAdminTextInputWidget(), help_text="What people call it."
    )

    class Meta:
        model = Client
        fields = ()

    def clean_name(self) -> str:
        """Hold the name to what the service holds it to."""
        try:
            return name_read(self.cleaned_data["name"])
        except CollabError as wrong:
            raise forms.ValidationError(wrong.because) from None


class IssueForm(forms.Form):
    """A token that acts for no one."""

    name = forms.CharField(
        max_length=LONGEST_NAME, label="Where it is used", widget=UnfoldAdminTextInputWidget({"autocomplete": "off"})
    )
    workspaces = WorkspacesField(
        Workspace.objects.order_by("name", "pk"), label="Good in", widget=UnfoldAdminCheckboxSelectMultipleWidget()
    )
    days = forms.IntegerField(
        min_value=1, max_value=LONGEST.days, initial=90, label="Days it stands", widget=UnfoldAdminIntegerFieldWidget()
    )


class OfClients(StaffAdmin):
    """A model with one page on which an administrator acts, beside those that staff read."""

    acts: Mapping[str, Callable[[HttpRequest, Any, Once], str]] = {}
    """What its forms do, by their ``act``."""
    acting = ""
    """The template of the page."""

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        return super().get_actions_detail(request, object_id) if superuser(request) else []

    def answered(self, request: HttpRequest, object_id: str, **more: Any) -> HttpResponse:
        """Do what a form asks for, and show the page."""
        obj = self.get_object(request, object_id)
        if obj is None or not superuser(request):
            raise Http404
        once: Once = {}
        act = self.acts.get(request.POST.get("act", "")) if request.method == "POST" else None
        status = 200
        if act is not None:
            try:
                if said := act(request, obj, once):
                    messages.success(request, said)
                    return redirect(request.path)
                status = 200 if "secret" in once else 400
            except (CollabError, PermissionsError) as refused:
                refused_form_noted(request, refused, ("act",))
                messages.error(request, refused.because)
                status = 403 if isinstance(refused, PermissionsError) else 400
        shown = {**self.admin_site.each_context(request), "opts": self.opts, "original": obj, **more, **once}
        return TemplateResponse(request, self.acting, shown, status=status)


def _issue(request: HttpRequest, client: Client, once: Once) -> str:
    form = once["form"] = IssueForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        places = [place.pk for place in sent["workspaces"]]
        _, once["secret"] = token_issue(
            actor=reader(request), client=client.pk, name=sent["name"], workspaces=places,
            lasts=timedelta(days=sent["days"]),
        )  # fmt: skip
        once["form"] = IssueForm()
    return ""


def _disable(request: HttpRequest, client: Client, once: Once) -> str:
    return f"{client_disable(actor=reader(request), client=client.pk)} is switched off for good."


def _rotate(request: HttpRequest, token: AccessToken, once: Once) -> str:
    once["made"], once["secret"] = token_rotate(actor=reader(request), token=token.pk)
    return ""


def _revoke(request: HttpRequest, token: AccessToken, once: Once) -> str:
    return f"The token “{token_revoke(actor=reader(request), token=token.pk)}” is worth nothing now."


class ClientAdmin(OfClients):
    """External agents and API clients."""

    heading = "Clients"
    form = ClientForm
    acts = {"issue": _issue, "disable": _disable}
    acting = "admin/client.html"
    list_display = ("named", "person", "is_on", "registered", "created_at", "disabled_at")
    list_select_related = ("account", "person")
    linked_by = ("person",)
    id_fields = ("pk", "person")
    search_fields = ("account__display_name", "account__username", "person__username", "person__display_name")
    search_help_text = "A client's name or user name, a person's name, or an id"
    ordering = ("-created_at", "-pk")
    actions_detail = ("tokens_page",)
    shown = (
        *("named", "username", "person", "is_on", "works_in", "registered", "created_at", "disabled_at", "disabled"),
        "registration",
    )

    registered = actor_column("registered_by", "Registered by")
    disabled = actor_column("disabled_by", "Disabled by")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return superuser(request)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown if obj is not None else ("name",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown if obj is not None else ()

    def save_model(self, request: HttpRequest, obj: Client, form: Any, change: object) -> None:
        """Register a client that is nobody's, by its service."""
        made = client_register(actor=reader(request), name=form.cleaned_data["name"])
        obj.pk, obj.account, obj.registered_by = made.pk, made.account, made.registered_by

    @display(description="Name", ordering="account__display_name")
    def named(self, obj: Client) -> str:
        """What people call it."""
        return obj.account.name

    @display(description="User name")
    def username(self, obj: Client) -> str:
        """By what someone who manages a workspace lets it in."""
        return obj.account.username

    @display(description="On", boolean=True, ordering="account__is_active")
    def is_on(self, obj: Client) -> bool:
        """Whether its account is on and it is not disabled."""
        return obj.account.is_active and obj.disabled_at is None

    @display(description="Let into")
    def works_in(self, obj: Client) -> str:
        """The workspaces it is let into, each with its role."""
        held = {workspace: codenames for (_, workspace), codenames in held_by([obj.pk]).items()}
        names = Workspace.objects.filter(pk__in=held).order_by("name").values_list("pk", "name")
        lines = [f"{name} ({role_of(held[id]) or 'some grants'})" for id, name in names]
        return "\n".join(lines) or "No workspace yet: whoever manages one gives it a role by its user name."

    @action(description="Tokens and switching off", url_path="act", icon="key")
    def tokens_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Issue a token for no one, of a client that is nobody's; disable a client."""
        return self.answered(request, object_id, title="Tokens and switching off", form=IssueForm())


class AccessTokenAdmin(OfClients):
    """What clients come with."""

    heading = "Tokens"
    acts = {"rotate": _rotate, "revoke": _revoke}
    acting = "admin/token.html"
    list_display = ("name", "client", "person", "state", "prefix", "expires_at", "last_used_at")
    list_select_related = ("client__account", "person")
    linked_by = ("client", "person")
    id_fields = ("pk", "client", "person")
    search_fields = ("name", "prefix", "client__account__display_name", "person__username", "person__display_name")
    search_help_text = "A token's name or how it begins, a client's or a person's name, or an id"
    ordering = ("-created_at", "-pk")
    actions_detail = ("act_page",)
    shown = (
        *("name", "client", "person", "state", "prefix", "places", "audience", "made", "created_at", "expires_at"),
        *("last_used_at", "rotated_from", "revoked_at", "revoked", "revoked_because"),
    )

    made = actor_column("created_by", "Issued by")
    revoked = actor_column("revoked_by", "Revoked by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return told(super().get_queryset(request))

    @display(description="State")
    def state(self, obj: Any) -> str:
        """Whether a client can still come with it, or with what renews it."""
        return state_of(obj)

    @display(description="Good in")
    def places(self, obj: AccessToken) -> str:
        """The workspaces that it may be used in."""
        return ", ".join(obj.workspaces.order_by("name").values_list("name", flat=True)) or "None any more"

    @action(description="Rotate or revoke", url_path="act", icon="key_off")
    def act_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give a token that acts for no one a successor, or make any worth nothing."""
        return self.answered(request, object_id, title="Rotate or revoke")
