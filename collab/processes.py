"""What several processes of one Accord need: a check, and the refusal of commands that would not work (FAILURES I1)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def require_runners(command: str) -> None:
    """Check that turns may run in processes apart from those that serve pages.

    Args:
        command: who needs it, as people type it.

    Raises:
        CommandError: a setting is missing; it says which.
    """
    if lacks := _lacks(command):
        raise CommandError(lacks)
    if not settings.ACCORD_RUNNERS:
        raise CommandError(f"{command} needs ACCORD_RUNNERS=1, in this process and every other of this Accord.")


def require_migrated(command: str) -> None:
    """Check that the database has what this code's migrations add.

    Args:
        command: who needs it, as people type it.

    Raises:
        CommandError: some are not applied; it says how to apply them.
    """
    executor = MigrationExecutor(connection)
    if plan := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise CommandError(
            f"{command} needs the database migrated ({len(plan)} not applied): "
            "run manage.py migrate first, with ACCORD_RUNNERS=1."
        )


def check_runners(**_: Any) -> list[CheckMessage]:
    """Check that processes which share turns share a database and a channel layer."""
    lacks = _lacks("ACCORD_RUNNERS=1") if settings.ACCORD_RUNNERS else ""
    return [Error(lacks, id="collab.E001")] if lacks else []


def _lacks(who: str) -> str:
    if connection.vendor == "postgresql" and settings.REDIS_URL:
        return ""
    return f"{who} needs PostgreSQL and Redis: set DATABASE_URL and REDIS_URL."
