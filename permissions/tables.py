"""The access report as a table for spreadsheets (DESIGN 11)."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from permissions.decisions import AccountKind
from permissions.models import Guarded
from permissions.reach import Reach, actions_on, told_together

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet run a cell, as its first character, or behind white space (FAILURES M3)."""


def table_of(obj: Guarded, found: Iterable[Reach]) -> Iterator[list[str]]:
    """Yield the report as rows of text, its heading first; no cell is one that a spreadsheet would run."""
    actions = actions_on(obj)
    yield ["name", "account", "kind", *(action.value for action in actions), "through"]
    for line in found:
        levels = [line.levels[action].name.lower() for action in actions]
        told = "; ".join(through(line, obj))
        cells = [line.standing.name, line.detail, line.standing.kind.value, *levels, told]
        yield [plain(cell) for cell in cells]


def plain(cell: str) -> str:
    """Return a cell that a spreadsheet shows as text whatever it begins with."""
    return f"'{cell}" if cell.startswith(FORMULA) or cell.lstrip().startswith(FORMULA) else cell


def through(line: Reach, obj: Guarded) -> list[str]:
    """Say through what an account reaches an object, and what bars it."""
    told = told_together(line.kept, obj.guarded_name, narrowed=obj.pk != obj.scope_id)
    standing = line.standing
    if standing.superuser and standing.kind is AccountKind.PERSON:
        told.insert(0, "administers all of Accord")
    if not standing.active:
        told.insert(0, "switched off")
    return told


def streamed_csv(request: HttpRequest, name: str, rows: Iterable[Sequence[str]]) -> StreamingHttpResponse:
    """Send rows as a file for spreadsheets, a line at a time.

    Args:
        name: the file's; letters, digits, dots and dashes.
    """
    writer = csv.writer(_Echo())
    lines: Iterator[Any] = (writer.writerow(row) for row in rows)
    # A server of sockets reads asynchronously; handed the other kind, it would gather everything first.
    content = _asynchronously(lines) if isinstance(request, ASGIRequest) else lines
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return StreamingHttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


async def _asynchronously(lines: Iterator[str]) -> AsyncIterator[str]:
    for line in lines:
        yield line
