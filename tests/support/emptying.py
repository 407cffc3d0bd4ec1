"""Empty PostgreSQL between tests by deleting rows: truncating seventy tables costs half a second of file work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.management.color import Style
from django.db.backends.base.operations import BaseDatabaseOperations

UNGUARDED = "SET LOCAL session_replication_role = replica;"
"""For this one transaction: no trigger keeps the log append-only, no foreign key asks for an order."""


def deleting(self: BaseDatabaseOperations, style: Style, tables: Iterable[str], **options: Any) -> Sequence[str]:
    """Stand in for PostgreSQL's ``sql_flush``: wait for whoever still writes, as TRUNCATE would, then delete."""
    names = [self.quote_name(table) for table in tables]
    if not names:
        return []
    locked = f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE;"
    return [" ".join([UNGUARDED, locked, *(f"DELETE FROM {name};" for name in names)])]
