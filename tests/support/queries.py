"""Counting the statements of a whole process, on every connection and in every thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from django.db.backends.utils import CursorWrapper

CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET TRANSACTION")


@dataclass(slots=True)
class Queries:
    """What was sent to the database: ``statements`` that ask or change something, and the ``control`` around them."""

    statements: list[str] = field(default_factory=list)
    control: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        return "\n".join(f"{number:3} {sql}" for number, sql in enumerate(self.statements, 1))

    def at_most(self, allowed: int) -> None:
        """Fail, listing every statement, when there were more than ``allowed``."""
        assert len(self) <= allowed, f"{len(self)} statements, at most {allowed} allowed:\n{self}"

    def record(self, sql: object) -> None:
        """Keep one statement where it belongs."""
        text = str(sql).strip()
        kept = self.control if text.upper().startswith(CONTROL) else self.statements
        kept.append(text)


@contextmanager
def queries() -> Iterator[Queries]:
    """Record every statement that any thread sends on any connection while this is open.

    Django's own counter sees one connection; a service that hands work to other threads would look free to it.
    Transaction control (BEGIN, SAVEPOINT and their ends) is kept apart from the statements.
    """
    found = Queries()
    execute, executemany = CursorWrapper.execute, CursorWrapper.executemany

    def recorded(cursor: CursorWrapper, sql: Any, params: Any = None) -> Any:
        found.record(sql)
        return execute(cursor, sql, params)

    def recorded_many(cursor: CursorWrapper, sql: Any, param_list: Any) -> Any:
        found.record(sql)
        return executemany(cursor, sql, param_list)

    with (
        patch.object(CursorWrapper, "execute", recorded),
        patch.object(CursorWrapper, "executemany", recorded_many),
    ):
        yield found
