"""Accounts: people, and the accounts of agents and clients (FAILURES L2).

Nobody makes themselves or others more than they are: only superusers touch who is staff or superuser, set passwords
and switch accounts off. Staff who are no superusers create people, who hold nothing yet, and correct their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin import display
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from permissions.admin.base import StaffAdmin, reader, superuser
from permissions.decisions import AccountKind
from permissions.errors import Refused
from permissions.models import User
from permissions.refusals import refused_form_noted
from permissions.services import account_activate, account_deactivate

NEVER_TYPED = ("kind", "is_active", "groups", "last_login", "date_joined")
FOR_SUPERUSERS = ("username", "is_staff", "is_superuser")


class PersonForm(UserCreationForm):
    """Creates a person with a name and, unless they are to get one later, a password."""

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "display_name", "email")


if TYPE_CHECKING:
    AccountAdmin = UserAdmin[User]
else:
    AccountAdmin = UserAdmin


class PeopleAdmin(StaffAdmin, AccountAdmin):
    """Everyone who can hold a grant."""

    heading = "People, and the accounts of agents and clients"
    form = UserChangeForm
    add_form = PersonForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("named", "known_as", "kind", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("kind", "is_active", "is_staff", "is_superuser")
    search_fields = ("username", "display_name", "email")
    ordering = ("display_name", "username")
    filter_horizontal = ()
    add_fieldsets = (
        (None, {"fields": ("username", "display_name", "email", "usable_password", "password1", "password2")}),
    )
    actions_submit_line = ("deactivate", "activate")

    @display(description="Name", ordering="display_name")
    def named(self, obj: User) -> str:
        """What everyone reads for the account."""
        return obj.name

    @display(description="User name", ordering="username")
    def known_as(self, obj: User) -> str:
        """What a person signs in with; others never do."""
        return obj.username if _is_person(obj) else ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        if obj is None or superuser(request):
            return self.has_view_permission(request)
        ordinary = _is_person(obj) and not obj.is_superuser and not obj.is_staff
        return self.has_view_permission(request) and (ordinary or obj.pk == request.user.pk)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        if obj is None:
            return self.add_fieldsets
        password = ("password",) if _sets_password(request, obj) else ()
        return (
            (None, {"fields": ("username", "display_name", "email", "kind", *password)}),
            ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
            ("Dates", {"fields": ("last_login", "date_joined")}),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        if obj is None:
            return ()
        return NEVER_TYPED if superuser(request) and _is_person(obj) else (*NEVER_TYPED, *FOR_SUPERUSERS)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Let a superuser set a person's password; whoever could set Ana's would hold all that Ana holds."""
        account = self.get_object(request, unquote(id))
        if account is None or not _sets_password(request, account):
            raise PermissionDenied
        response: HttpResponse = super().user_change_password(request, id, form_url)
        return response

    def get_actions_submit_line(self, request: HttpRequest, object_id: Any) -> list[Any]:
        found = _account(object_id) if superuser(request) else None
        offered = None if found is None else "deactivate" if found.is_active else "activate"
        buttons = super().get_actions_submit_line(request, object_id)
        return [button for button in buttons if offered and button.action_name.endswith(f"_{offered}")]

    @action(description="Switch off")
    def deactivate(self, request: HttpRequest, obj: User) -> None:
        """Switch an account off everywhere at once."""
        self._switched(request, obj, on=False)

    @action(description="Switch on")
    def activate(self, request: HttpRequest, obj: User) -> None:
        """Switch an account on again."""
        self._switched(request, obj, on=True)

    def _switched(self, request: HttpRequest, obj: User, *, on: bool) -> None:
        switch = account_activate if on else account_deactivate
        try:
            switch(by=reader(request), account=obj)
        except Refused as refused:
            refused_form_noted(request, refused, ())
            messages.error(request, refused.because)
        else:
            messages.success(request, f"{obj.name} is switched {'on' if on else 'off'}.")


def _is_person(account: User) -> bool:
    return account.kind == AccountKind.PERSON.value


def _sets_password(request: HttpRequest, account: User) -> bool:
    return superuser(request) and _is_person(account)


def _account(id: object) -> User | None:
    """The account of an id as an address has it, which may be none."""
    try:
        return User.objects.filter(pk=unquote(str(id))).first()
    except ValidationError:
        return None
