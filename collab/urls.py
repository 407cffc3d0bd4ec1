"""Where the pages are (wiring, DESIGN 3)."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from agents.clients.oauth.consent import connect
from agents.clients.pages import clients
from agents.clients.rest.api import api
from agents.metrics import metrics
from agents.tool_pages import tools
from collab.admin.site import site
from collab.web.health import healthz, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", site.urls),
    path("api/v1/", api.urls),
    path("account/clients/", clients, name="clients"),
    path("connect/", connect, name="connect"),
    path("w/<uuid:id>/tools/", tools, name="tools"),
    path("", include("collab.web.urls")),
]

handler500 = "collab.web.away.failed"
