"""How the web hangs on what is below it: its commands and items, and sockets that end with their session."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.http import HttpRequest

from collab import doorbell, waiting
from collab.web import delegating, items, opening
from collab.web.access import session_digest
from collab.web.handlers import register_commands


def connect() -> None:
    """Register this app's commands, items and what waits, and close a session's sockets when its person signs out."""
    register_commands()
    delegating.register_commands()
    opening.register_commands()
    items.register()
    waiting.register()
    user_logged_out.connect(_session_over, dispatch_uid="collab.session_over")


def _session_over(sender: Any, request: HttpRequest | None, **_: Any) -> None:
    if request is not None and request.session.session_key:
        doorbell.session_over(session_digest(request.session.session_key))
