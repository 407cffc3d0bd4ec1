"""The ASGI application: pages over HTTP, the threads' sockets over WebSocket (wiring, DESIGN 3)."""

from __future__ import annotations

import os
from typing import Any

from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collab.settings")
pages = get_asgi_application()

# The modules of these import models, which exist only once Django is set up, above.
mounted = [(below, import_string(path)) for below, path in settings.ACCORD_MOUNTS.items()]


async def http(scope: Any, receive: Any, send: Any) -> None:
    """Answer a request with what is mounted where it goes to, else with a page."""
    answers = next((app for below, app in mounted if scope["path"].startswith(below)), pages)
    await answers(scope, receive, send)


application = import_string(settings.ACCORD_BEFORE)(
    ProtocolTypeRouter({"http": http, "websocket": import_string("collab.web.routing.sockets")})
)
