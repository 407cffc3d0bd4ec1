"""The project's pages, and admission as a Django view."""

from __future__ import annotations

from django.urls import path

from collab import urls
from tests.benchmarks.peers.admission_views import admit

urlpatterns = [path("view/<slug:name>/", admit), *urls.urlpatterns]
handler500 = urls.handler500
