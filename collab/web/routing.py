"""Where the sockets are, and whom they let in: a known Origin, whoever a session says it is (DESIGN 9, Limits)."""

from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path, re_path

from collab.web.away import ResumingSockets
from collab.web.consumers import NoSuchSocket, ThreadConsumer
from collab.web.inbox_consumer import InboxConsumer

sockets = AllowedHostsOriginValidator(
    ResumingSockets(
        AuthMiddlewareStack(
            URLRouter(
                [
                    path("ws/threads/<uuid:thread>/", ThreadConsumer.as_asgi()),
                    path("ws/inbox/", InboxConsumer.as_asgi()),
                    re_path("", NoSuchSocket.as_asgi()),
                ]
            )
        )
    )
)
