"""The page on which grants on one object are given and taken (FAILURES Z13, L1).

It is there for whoever manages the object, and every change is the service's: nobody grants what they lack, and each
leaves a line of history. Model permissions and guardian's own admin play no part.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import Group
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.decorators import action

from permissions.admin.base import StaffAdmin, reader
from permissions.admin.forms import GrantForm, TakingForm
from permissions.admin.standing import holder_lines
from permissions.decisions import Action, Level
from permissions.errors import NotFound, Refused
from permissions.gate import decide_on
from permissions.ledger import Holder
from permissions.models import Guarded, User
from permissions.reach import PAGE_ACCOUNTS, reach_of
from permissions.refusals import refused_form_noted
from permissions.services import grant_give, grant_take
from permissions.tables import streamed_csv, table_of

MANAGERS_ONLY = ("grants", "reach", "grant_history")
NOTED = ("take", "account", "group", "codename")
"""What is logged of a form that is refused."""


class GuardedAdmin(StaffAdmin):
    """A model that grants are held on."""

    actions_detail: tuple[str, ...] = MANAGERS_ONLY

    def guarded(self, obj: Guarded) -> tuple[Guarded, ...]:
        return (obj,)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        obj = self.get_object(request, str(object_id))
        return super().get_actions_detail(request, object_id) if obj is not None and _manages(request, obj) else []

    @action(description="Grants", url_path="grants", icon="key")
    def grants(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show who holds what on the object, give it and take it."""
        obj = self._managed(request, object_id)
        form = GrantForm(obj._meta.permissions, self.admin_site, request.POST if "give" in request.POST else None)
        if request.method != "POST":
            return self._page(request, obj, form)
        status = 400
        try:
            if self._changed(request, obj, form):
                return redirect(request.path)
        except Refused as refused:
            refused_form_noted(request, refused, NOTED)
            status = 403
            form.full_clean()
            form.add_error(None, refused.because) if form.is_bound else messages.error(request, refused.because)
        except NotFound as gone:
            refused_form_noted(request, gone, NOTED)
            raise Http404 from gone
        return self._page(request, obj, form, status=status)

    @action(description="Who can reach it", url_path="reach", icon="groups")
    def reach(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Show who can reach the object and through what; ``?as=csv`` sends it as a table for spreadsheets."""
        obj = self._managed(request, object_id)
        found = reach_of(obj, scope=_manages_scope(request, obj))
        if request.GET.get("as") == "csv":
            return streamed_csv(request, f"access-{obj.pk}.csv", table_of(obj, found))
        shown = Paginator(found, PAGE_ACCOUNTS).get_page(request.GET.get("page"))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": obj,
            "title": f"Who can reach {obj}",
            "table": list(table_of(obj, shown.object_list)),
            "shown": shown,
        }
        return TemplateResponse(request, "admin/reach.html", context)

    @action(description="Grant history", url_path="grant-history", icon="history")
    def grant_history(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Go to what was given and taken on the object."""
        obj = self._managed(request, object_id)
        changes = reverse(f"{self.admin_site.name}:permissions_grantchange_changelist")
        return redirect(f"{changes}?object_id__exact={obj.pk}")

    def _managed(self, request: HttpRequest, object_id: str) -> Guarded:
        obj: Guarded | None = self.get_object(request, object_id)
        if obj is None or not _manages(request, obj):
            refused_form_noted(request, NotFound(), NOTED)
            raise Http404
        return obj

    def _changed(self, request: HttpRequest, obj: Guarded, form: GrantForm) -> bool:
        if "take" in request.POST:
            return _taken(request, obj)
        return form.is_valid() and _given(request, obj, form)

    def _page(self, request: HttpRequest, obj: Guarded, form: GrantForm, *, status: int = 200) -> HttpResponse:
        scope_model, scope_id = obj.grant_objects()[-1]
        scope: Any = None if scope_id == obj.pk else scope_model._default_manager.get(pk=scope_id)
        seen = scope is not None and _manages(request, scope)
        shown = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": obj,
            "title": f"Grants on {obj}",
            "lines": holder_lines(obj),
            "scope": scope,
            "scope_lines": holder_lines(scope) if seen else None,
            "form": form,
            "taking": TakingForm(),
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/grants.html", shown, status=status)


def _manages_scope(request: HttpRequest, obj: Guarded) -> bool:
    model, id = obj.grant_objects()[-1]
    scope: Any = obj if id == obj.pk else model._default_manager.filter(pk=id).first()
    return scope is not None and _manages(request, scope)


def _manages(request: HttpRequest, obj: Guarded) -> bool:
    return decide_on(reader(request), Action.MANAGE, obj).level is Level.ALLOW


def _given(request: HttpRequest, obj: Guarded, form: GrantForm) -> bool:
    found = form.cleaned_data
    changed = grant_give(
        by=reader(request),
        holder=form.holder,
        codename=found["codename"],
        obj=obj,
        expires_at=found["expires_at"],
        reason=found["reason"],
    )
    what = found["codename"].replace("_", " ")
    said = f"{form.holder} holds {what} on {obj}." if changed else f"{form.holder} held {what} on {obj} already."
    messages.success(request, said)
    return True


def _taken(request: HttpRequest, obj: Guarded) -> bool:
    reason = TakingForm(request.POST)
    kind, _, rest = request.POST["take"].partition(":")
    id, _, codename = rest.partition(":")
    holder = _holder(kind, id)
    if holder is None or not reason.is_valid():
        messages.error(request, "Nothing was taken: name one grant, and say why in at most 500 characters.")
        return False
    grant_take(by=reader(request), holder=holder, codename=codename, obj=obj, reason=reason.cleaned_data["reason"])
    messages.success(request, f"{holder} no longer holds {codename.replace('_', ' ')} on {obj}.")
    return True


def _holder(kind: str, id: str) -> Holder | None:
    try:
        if kind == "account":
            return User.objects.filter(pk=UUID(id)).first()
        return Group.objects.filter(pk=int(id)).first() if kind == "group" else None
    except ValueError:
        return None
