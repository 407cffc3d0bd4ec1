"""The ASGI application: pages over HTTP, the threads' sockets over WebSocket (wiring, DESIGN 3)."""

from __future__ import annotations

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collab.settings")
pages = get_asgi_application()

# The sockets' modules import models, which exist only once Django is set up, above.
application = ProtocolTypeRouter({"http": pages, "websocket": import_string("collab.web.routing.sockets")})
