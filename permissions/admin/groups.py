"""Groups. Who is in one changes through the service: whoever adds a member could give all that the group holds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import display
from django.contrib.auth.models import Group
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.decorators import action

from permissions.admin.base import StaffAdmin, reader, superuser
from permissions.admin.forms import MemberForm, TakingForm
from permissions.admin.standing import group_grants_seen_by
from permissions.errors import NotFound, Refused
from permissions.models import User
from permissions.refusals import refused_form_noted
from permissions.services import group_join, group_leave

NOTED = ("remove", "account")
"""What is logged of a form that is refused."""


class GroupsAdmin(StaffAdmin):
    """Groups, which hold grants for their members."""

    heading = "Groups"
    id_fields = ()
    list_display = ("name", "members_number")
    search_fields = ("name", "user__username", "user__display_name")
    ordering = ("name",)
    shown = ("name",)
    actions_detail = ("members",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = found.annotate(number=Count("user", distinct=True))
        return counted

    @display(description="Members", ordering="number")
    def members_number(self, obj: Any) -> int:
        """How many accounts are in the group."""
        number: int = obj.number
        return number

    def has_add_permission(self, request: HttpRequest) -> bool:
        return superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return superuser(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ()

    @action(description="Members and grants", url_path="members", icon="group")
    def members(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show who is in the group and what it holds; add to it and take out of it."""
        group: Group | None = self.get_object(request, object_id)
        if group is None:
            raise Http404
        form = MemberForm(self.admin_site, request.POST if "add" in request.POST else None)
        if request.method != "POST":
            return self._page(request, group, form)
        status = 400
        try:
            if _moved(request, group, form):
                return redirect(request.path)
        except Refused as refused:
            refused_form_noted(request, refused, NOTED)
            status = 403
            form.add_error(None, refused.because) if form.is_bound else messages.error(request, refused.because)
        except NotFound as hidden:
            refused_form_noted(request, hidden, NOTED)
            status = 403
            unseen = f"{group} holds grants on something you may not view. {hidden.because}"
            form.add_error(None, unseen) if form.is_bound else messages.error(request, unseen)
        return self._page(request, group, form, status=status)

    def _page(self, request: HttpRequest, group: Group, form: MemberForm, *, status: int = 200) -> HttpResponse:
        shown = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": group,
            "title": f"Members of {group}",
            "members": User.objects.filter(groups=group).order_by("display_name", "username"),
            "held": group_grants_seen_by(reader(request), group),
            "form": form,
            "taking": TakingForm(),
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/members.html", shown, status=status)


def _moved(request: HttpRequest, group: Group, form: MemberForm) -> bool:
    if "remove" in request.POST:
        return _removed(request, group)
    if not form.is_valid():
        return False
    account, reason = form.cleaned_data["account"], form.cleaned_data["reason"]
    joined = group_join(by=reader(request), account=account, group=group, reason=reason)
    messages.success(request, f"{account} {'is' if joined else 'was already'} in {group}.")
    return True


def _removed(request: HttpRequest, group: Group) -> bool:
    reason, account = TakingForm(request.POST), _account(request.POST["remove"])
    if account is None or not reason.is_valid():
        messages.error(request, "Nobody was taken out: name one member, and say why in at most 500 characters.")
        return False
    group_leave(by=reader(request), account=account, group=group, reason=reason.cleaned_data["reason"])
    messages.success(request, f"{account} is no longer in {group}.")
    return True


def _account(id: str) -> User | None:
    try:
        return User.objects.filter(pk=UUID(id)).first()
    except ValueError:
        return None
