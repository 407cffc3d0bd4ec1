"""What the pages' forms send. They say only what belongs to a form; the services check what it means."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.utils import timezone

from collab.kinds import KINDS
from permissions.roles import Role

TEXT = 262_144
"""Characters a text field may send; the services count bytes."""

_ROLES = [(role.value, role.value) for role in Role]


class SignInForm(forms.Form):
    username = forms.CharField(max_length=150)
    password = forms.CharField(max_length=1000, strip=False)
    next = forms.CharField(max_length=2000, required=False)


class NameForm(forms.Form):
    name = forms.CharField(max_length=200)


class ThreadForm(forms.Form):
    """A new thread: its title, or the first message, from which the title is taken."""

    title = forms.CharField(max_length=200, required=False)
    text = forms.CharField(max_length=TEXT, required=False)


class DocumentForm(forms.Form):
    title = forms.CharField(max_length=200)
    kind = forms.ChoiceField(choices=lambda: [(name, name) for name in KINDS.names()])
    thread = forms.UUIDField(required=False)


class SaveForm(forms.Form):
    text = forms.CharField(max_length=TEXT, required=False, strip=False)
    base_version = forms.IntegerField(min_value=1)
    propose = forms.BooleanField(required=False)
    rationale = forms.CharField(max_length=TEXT, required=False)
    thread = forms.UUIDField(required=False)


class DocumentActForm(forms.Form):
    """Something done to a document other than writing in it; each act reads the fields it needs."""

    thread = forms.UUIDField(required=False)
    rationale = forms.CharField(max_length=TEXT, required=False)
    propose = forms.BooleanField(required=False)


class RestoreForm(DocumentActForm):
    version = forms.IntegerField(min_value=1)
    base_version = forms.IntegerField(min_value=1)


class PolicyForm(forms.Form):
    thread = forms.UUIDField()
    policy = forms.CharField(max_length=20)


class SettleForm(forms.Form):
    """Settling what waits in the inbox; ``command`` is the id that makes it happen once."""

    act = forms.CharField(max_length=40)
    command = forms.UUIDField()
    reason = forms.CharField(max_length=4096, required=False)


class UntilForm(forms.Form):
    """Until when something is held; empty is for good. A moment without a time zone is that of the sender, whose
    ``zone`` is minutes west of UTC; without it, UTC."""

    until = forms.DateTimeField(required=False)
    zone = forms.IntegerField(required=False, min_value=-1_000, max_value=1_000)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if (until := found.get("until")) is None:
            return found
        # Django gives one that was sent without a zone the current one.
        west = (found.get("zone") or 0) if until.tzinfo is timezone.get_current_timezone() else 0
        try:
            found["until"] = until.astimezone(UTC) + timedelta(minutes=west)
        except OverflowError:
            self.add_error("until", "This moment is too far away.")
        return found


class AddForm(UntilForm):
    username = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=_ROLES)


class RoleForm(UntilForm):
    user = forms.UUIDField()
    role = forms.ChoiceField(choices=_ROLES)


class RemoveForm(forms.Form):
    user = forms.UUIDField()


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=_ROLES)
    days = forms.IntegerField(min_value=1, max_value=30)


class RevokeForm(forms.Form):
    invite = forms.UUIDField()


class AgentForm(UntilForm):
    """An agent's role in the workspace; none takes its grants."""

    agent = forms.UUIDField()
    role = forms.ChoiceField(choices=_ROLES, required=False)


class GroupForm(UntilForm):
    """A group's role in the workspace: one that is listed by id, any by name; no role takes its grants."""

    group = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    team = forms.CharField(max_length=150, required=False)
    role = forms.ChoiceField(choices=_ROLES, required=False)


class ClientForm(UntilForm):
    """A client's role in the workspace; none takes its grants."""

    user = forms.UUIDField()
    role = forms.ChoiceField(choices=_ROLES, required=False)


class HolderField(forms.CharField):
    """Someone listed: ``account:<id>`` or ``group:<number>``; cleaned to the kind and the id."""

    def clean(self, value: Any) -> Any:
        kind, _, id = str(super().clean(value)).partition(":")
        try:
            if kind == "account":
                return {"account": UUID(id)}
            if kind == "group" and id.isascii() and id.isdigit() and len(id) < 10:
                return {"group": int(id)}
        except ValueError:
            pass
        if kind:
            raise forms.ValidationError("Choose someone who is listed.")
        return {}


class GiveForm(UntilForm):
    """A grant for one holder: someone listed, a person by user name, or a group by name."""

    holder = HolderField(max_length=60, required=False)
    username = forms.CharField(max_length=150, required=False)
    team = forms.CharField(max_length=150, required=False)
    what = forms.CharField(max_length=60)
    reason = forms.CharField(max_length=500, required=False)


class TakeForm(forms.Form):
    """A grant that is taken from someone listed."""

    holder = HolderField(max_length=60)
    what = forms.CharField(max_length=60)
    reason = forms.CharField(max_length=500, required=False)


class PasswordForm(PasswordChangeForm):
    """Django's, in the product's words and fields."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {"old_password": "Password", "new_password1": "New password", "new_password2": "New password again"}
        for name, label in labels.items():
            self.fields[name].label = label
            self.fields[name].widget.attrs = {
                "class": "input",
                "autocomplete": "current-password" if name == "old_password" else "new-password",
            }
