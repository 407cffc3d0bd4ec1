"""Signing in to the admin site: the tries that the web's sign-in allows, counted together with them (FAILURES L10)."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from unfold.forms import AuthenticationForm

from collab.web import tries
from collab.web.senders import sender_of_request
from collab.web.sessions import TOO_MANY


class StaffSignInForm(AuthenticationForm):
    """Asks for name and password. Who is no staff is refused as a wrong password is, and it counts as one."""

    throttled = False

    def clean(self) -> dict[str, Any]:
        username = str(self.data.get("username", "")).strip()
        address = sender_of_request(self.request)
        if not tries.left(username, address):
            self.throttled = True
            raise ValidationError(TOO_MANY, code="too_many")
        try:
            found: dict[str, Any] = super().clean()
        except ValidationError:
            tries.failed(username, address)
            raise
        if self.user_cache is None:
            tries.failed(username, address)
        else:
            tries.succeeded(username, address)
        return found
