"""The history of grants of one workspace, for who manages it (DESIGN 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collab import selectors
from collab.asking import CALLED, KINDS, word_of
from collab.errors import Invalid
from collab.web import pages
from collab.web.answers import actor, filled, page, reader
from permissions import phrases
from permissions.actors import Actor
from permissions.decisions import Action
from permissions.gate import require
from permissions.grants import names_of, scope_path
from permissions.history import Wanted, history_of
from permissions.models import GrantChange
from permissions.roles import OBJECT_PERMISSIONS, TOOL_PERMISSIONS

CODENAMES = [(codename, codename.replace("_", " ")) for codename, _ in (*OBJECT_PERMISSIONS, *TOOL_PERMISSIONS)]
NAME_CHARS = 200


class SearchForm(forms.Form):
    """What to look for; all of it may be left empty."""

    by = forms.CharField(max_length=NAME_CHARS, required=False)
    whom = forms.CharField(max_length=NAME_CHARS, required=False)
    on = forms.CharField(max_length=NAME_CHARS, required=False)
    codename = forms.ChoiceField(choices=[("", "any grant"), *CODENAMES], required=False)
    did = forms.ChoiceField(choices=[("", "given or taken"), ("given", "given"), ("taken", "taken")], required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    reason = forms.CharField(max_length=NAME_CHARS, required=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One change of a grant, as a page tells it."""

    at: datetime
    by: str
    did: str
    whom: str
    on: str
    until: datetime | None
    reason: str


@require_safe
@page
def grant_history(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show who gave or took which grant on anything of a workspace, the newest first."""
    workspace = selectors.workspace_for(actor(request), id)
    require(actor(request), Action.MANAGE, workspace)
    form = SearchForm(request.GET)
    wanted = _wanted(filled(form), id)
    try:
        found = history_of(id, wanted, after=_after(request))
    except LookupError:
        raise Invalid("There is no such place in the history.") from None
    kept = [(name, value) for name, value in request.GET.items() if name in form.fields and value]
    context = {
        "side": pages.side(reader(request), workspace, at="people"),
        "form": form,
        "lines": told_lines(found.lines),
        "older": urlencode([*kept, ("after", str(found.after))]) if found.after else "",
        "asked": bool(kept),
        "begun": "after" in request.GET,
    }
    return render(request, "grant_history.html", context)


def told_lines(rows: Sequence[GrantChange]) -> list[Line]:
    """Return lines of the history as pages tell them, in a query a kind of object and one for the names."""
    names = names_of(*(row.by for row in rows))
    titles = _titles(rows)
    return [_line(row, names, titles) for row in rows]


def _line(row: GrantChange, names: Mapping[UUID, str], titles: Mapping[UUID, str]) -> Line:
    by: Actor = row.by
    holder = row.account.name if row.account else f"group {row.group}"
    joined = f" by {'joining' if row.given else 'leaving'} group {row.through}" if row.through else ""
    return Line(
        at=row.at,
        by=phrases.told(by, names),
        did=f"{'gave' if row.given else 'took'} {row.codename.replace('_', ' ')}",
        whom=f"{'to' if row.given else 'from'} {holder}{joined}",
        on=titles.get(row.object_id, "something that is gone"),
        until=row.expires_at,
        reason=row.reason,
    )


def _titles(rows: Sequence[GrantChange]) -> dict[UUID, str]:
    wanted: dict[str, set[UUID]] = {}
    for row in rows:
        wanted.setdefault(row.object_kind, set()).add(row.object_id)
    found: dict[UUID, str] = {}
    for label, ids in wanted.items():
        if (kind := word_of(label)) is not None:
            found.update(KINDS[kind]._default_manager.filter(pk__in=ids).values_list("pk", CALLED[kind]))
    return found


def _wanted(asked: dict[str, Any], workspace: UUID) -> Wanted:
    return Wanted(
        by=asked["by"],
        whom=asked["whom"],
        objects=_called(workspace, asked["on"]) if asked["on"] else None,
        codename=asked["codename"],
        given={"given": True, "taken": False}.get(asked["did"]),
        since=_midnight(asked["since"]),
        until=_midnight(asked["until"], days=1),
        reason=asked["reason"],
    )


def _midnight(day: Any, days: int = 0) -> datetime | None:
    """Return when a day begins; a last day counts to its end."""
    if day is None:
        return None
    try:
        return datetime.combine(day, time.min, UTC) + timedelta(days=days)
    except OverflowError:
        raise Invalid("There is no such day.") from None


def _called(workspace: UUID, words: str) -> QuerySet[Any]:
    """Return the ids of what a workspace holds, itself too, that is called so in part."""
    found = [
        model._default_manager.filter(**{scope_path(model): workspace, f"{CALLED[kind]}__icontains": words})
        for kind, model in KINDS.items()
    ]
    itself, *others = (rows.order_by().values_list("pk") for rows in found)
    every: QuerySet[Any] = itself.union(*others)
    return every


def _after(request: HttpRequest) -> UUID | None:
    text = request.GET.get("after", "")
    try:
        return UUID(text) if text else None
    except ValueError:
        raise Invalid("There is no such place in the history.") from None
