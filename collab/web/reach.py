"""The access report: who can reach an object and through what, for who manages it (DESIGN 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collab.asking import LOADS, Object
from collab.web.actors import Book
from collab.web.answers import actor, page
from collab.web.why import side_of
from permissions.actors import Person
from permissions.decisions import Action, Level
from permissions.gate import require
from permissions.reach import PAGE_ACCOUNTS, Reach, actions_on, reach_of
from permissions.tables import streamed_csv, table_of, through

WORDS = {Level.ALLOW: "allow", Level.PROPOSE: "propose", Level.DENY: ""}


@dataclass(frozen=True, slots=True)
class Row:
    """One account, as the page shows it."""

    id: UUID
    name: str
    detail: str
    kind: str
    hue: int
    levels: Sequence[str]
    through: Sequence[str]
    reaches: bool


@require_safe
@page
def access(request: HttpRequest, id: UUID, kind: str) -> HttpResponseBase:
    """Show who can reach an object and through what; ``?as=csv`` sends it as a table for spreadsheets."""
    obj = LOADS[kind](actor(request), id)
    require(actor(request), Action.MANAGE, obj)
    side = side_of(request, obj)
    found = reach_of(obj, scope=side.may["manage"])
    if request.GET.get("as") == "csv":
        return streamed_csv(request, f"access-{obj.pk}.csv", table_of(obj, found))
    shown = Paginator(found, PAGE_ACCOUNTS).get_page(request.GET.get("page"))
    context = {
        "side": side,
        "kind": kind,
        "object": obj,
        "whole": side.may["manage"],
        "actions": [action.value.replace("_", " ") for action in actions_on(obj)],
        "rows": _rows(shown.object_list, obj),
        "shown": shown,
    }
    return render(request, "access.html", context)


def _rows(found: Iterable[Reach], obj: Object) -> list[Row]:
    lines = list(found)
    book = Book(obj.scope_id, [Person(line.standing.account) for line in lines])
    return [_row(line, obj, book) for line in lines]


def _row(line: Reach, obj: Object, book: Book) -> Row:
    standing = line.standing
    levels = [WORDS[line.levels[action]] for action in actions_on(obj)]
    hue = book.hue(standing.account)
    kind, told = standing.kind.value, through(line, obj)
    return Row(standing.account, standing.name, line.detail, kind, hue, levels, told, line.reaches)
