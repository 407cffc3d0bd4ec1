"""The forms in which grants are given and members are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.admin import AdminSite
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.models import Group
from django.utils import timezone
from unfold.widgets import INPUT_CLASSES, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from permissions.admin.standing import named_apart
from permissions.ledger import Holder
from permissions.models import GrantChange, User

REASON_CHARS = 500
EXPIRY = "%Y-%m-%dT%H:%M"


class ReasonForm(forms.Form):
    """Why something was changed: kept in the history of grants."""

    reason = forms.CharField(required=False, max_length=REASON_CHARS, label="Why", widget=UnfoldAdminTextInputWidget())


class TakingForm(ReasonForm):
    """Why something is taken; it shares its page with a form that gives, so its field has an id of its own."""

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="taking_%s")
        self.fields["reason"].label = "Why, for what you take"


if TYPE_CHECKING:
    UserChoiceField = forms.ModelChoiceField[User]
else:
    UserChoiceField = forms.ModelChoiceField


class AccountField(UserChoiceField):
    """Names one account, and shows what tells it apart from others of its name."""

    def label_from_instance(self, obj: User) -> str:
        return named_apart(obj)


class MemberForm(ReasonForm):
    """Names the account that is to be in a group."""

    def __init__(self, site: AdminSite, data: Any = None) -> None:
        super().__init__(data)
        self.fields["account"] = _picker("account", "Person, agent or client", site, required=True)
        self.order_fields(("account", "reason"))


class GrantForm(ReasonForm):
    """Names one holder, one grant, and until when it stands."""

    expires_at = forms.DateTimeField(
        label="Until (UTC)",
        required=False,
        input_formats=[EXPIRY],
        widget=forms.DateTimeInput({"type": "datetime-local", "class": " ".join(INPUT_CLASSES)}, format=EXPIRY),
        help_text="Empty: for good.",
    )

    def __init__(self, codenames: Sequence[tuple[str, str]], site: AdminSite, data: Any = None) -> None:
        super().__init__(data)
        self.fields["account"] = _picker("account", "Person, agent or client", site)
        self.fields["group"] = _picker("group", "or a group", site)
        choices = [(name, f"{name.replace('_', ' ')}: {says}") for name, says in codenames]
        self.fields["codename"] = forms.ChoiceField(label="Grant", choices=choices, widget=UnfoldAdminSelectWidget())
        self.order_fields(("account", "group", "codename", "expires_at", "reason"))

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not self.errors and bool(found.get("account")) is bool(found.get("group")):
            raise forms.ValidationError("Choose one holder: an account or a group.")
        if (until := found.get("expires_at")) is not None and until <= timezone.now():
            self.add_error("expires_at", "This moment has passed.")
        return found

    @property
    def holder(self) -> Holder:
        """Who is to hold the grant, once the form is valid."""
        chosen: Holder = self.cleaned_data["account"] or self.cleaned_data["group"]
        return chosen


def _picker(name: str, label: str, site: AdminSite, *, required: bool = False) -> forms.Field:
    widget = AutocompleteSelect(GrantChange._meta.get_field(name), site)
    if name == "account":
        return AccountField(User.objects.filter(is_active=True), label=label, required=required, widget=widget)
    return forms.ModelChoiceField(Group.objects.all(), label=label, required=required, widget=widget)
