"""Is this process alive, and can it work? For whoever runs it (DESIGN 11, health)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

LAYER_SECONDS = 2.0
"""How long the channel layer may take to answer."""


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that the process answers; it reads nothing, so a broken database does not have it restarted."""
    return JsonResponse({"alive": True})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether requests can be served: 200, or 503 with what is missing."""
    missing = {name: why for name, check in CHECKS.items() if (why := _missing(check))}
    return JsonResponse({"ready": not missing, "missing": missing}, status=503 if missing else 200)


def _missing(check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception as error:
        # The kind of error only: its text may name hosts and accounts, and this page is public.
        return f"does not answer ({type(error).__name__})"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} not applied" if plan else ""


def _channel_layer() -> str:
    async_to_sync(_ring_nobody)()
    return ""


async def _ring_nobody() -> None:
    await asyncio.wait_for(get_channel_layer().group_send("ready", {"type": "ready"}), LAYER_SECONDS)


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "migrations": _migrations,
    "channel_layer": _channel_layer,
}
