"""What the pages' forms send. They say only what belongs to a form; the services check what it means."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm

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


class AddForm(forms.Form):
    username = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=_ROLES)


class RoleForm(forms.Form):
    user = forms.UUIDField()
    role = forms.ChoiceField(choices=_ROLES)


class RemoveForm(forms.Form):
    user = forms.UUIDField()


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=_ROLES)
    days = forms.IntegerField(min_value=1, max_value=30)


class RevokeForm(forms.Form):
    invite = forms.UUIDField()


class AgentForm(forms.Form):
    """An agent's role in the workspace; none takes its grants."""

    agent = forms.UUIDField()
    role = forms.ChoiceField(choices=_ROLES, required=False)


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
