"""Admission as a Django view behind the project's middleware: the same checks and rows, a transaction a delivery.

What knows the sources, judges, stores and acts is the product's own, on the connections that its pool keeps. A view of
the plain kind, in a thread and on a connection of its own each time, admits fewer still.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from agents.sources import acting
from agents.sources.admission import Arrived, deliveries_store
from agents.sources.known import Directory, Known
from agents.sources.schemes import SCHEMES, BadDelivery
from collab.db import in_db

_directory = Directory()
_acting: set[asyncio.Task[None]] = set()


@csrf_exempt
@require_POST
async def admit(request: HttpRequest, name: str) -> JsonResponse:
    """Admit one delivery, and act on it afterwards."""
    found = await _directory.find(name)
    if found is None:
        return JsonResponse({"error": "no_such_source"}, status=404)
    arrived = _arrived(request, *found)
    if isinstance(arrived, BadDelivery):
        return JsonResponse({"error": arrived.code, "because": arrived.because}, status=arrived.status)
    (stored,) = await in_db(deliveries_store, arrived=[arrived])
    if not stored.duplicate:
        task = asyncio.create_task(in_db(acting.delivered, [stored.id]))
        _acting.add(task)
        task.add_done_callback(_acting.discard)
    told = {"delivery": str(stored.id), "duplicate": stored.duplicate}
    return JsonResponse(told, status=200 if stored.duplicate else 202)


def _arrived(request: HttpRequest, source: Known, now: datetime) -> Arrived | BadDelivery:
    headers = [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in request.headers.items()]
    verdict = SCHEMES[source.scheme].verify(
        headers, request.body, secrets=source.secrets(now), now=now, tolerance=source.tolerance_seconds
    )
    if isinstance(verdict, BadDelivery):
        return verdict
    return Arrived(source.id, verdict.event_id, verdict.sent_at, request.body)
