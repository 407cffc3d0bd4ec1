"""The search page: what its reader may view of what they ask for, a form that needs no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from collab import search as searching
from collab import selectors
from collab.errors import Invalid
from collab.models.threads import Message, Thread
from collab.models.workspaces import Workspace
from collab.search import MOST_COUNTED, MOST_WORKSPACES, PAGE, Group, Hit, Kind
from collab.searches.words import Question
from collab.web import pages
from collab.web.answers import actor, page, reader
from collab.web.frames import PAGE_EVENTS
from collab.web.timeline import PAGE_EVENTS as TIMELINE_EVENTS
from collab.web.workspaces import LAST
from permissions.actors import Person
from permissions.errors import NotFound

FEW = 5
"""Threads, and documents, that are shown where every kind is."""

NAMES = {Kind.THREADS: "Threads", Kind.DOCUMENTS: "Documents", Kind.MESSAGES: "Messages"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as the page shows it: where it leads, and in which workspace it is, empty where there is only one."""

    hit: Hit
    href: str
    place: str


@dataclass(frozen=True, slots=True)
class Section:
    """The results of one kind, with how many there are in words, and the address of what is not shown here."""

    kind: Kind
    name: str
    count: str
    results: Sequence[Shown]
    rest: str
    rest_words: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for."""

    text: str
    kind: Kind | None
    archived: bool
    before: UUID | None

    def address(self, **other: str) -> str:
        """Return the address that asks for the same but for these."""
        asks = {"q": self.text, "in": str(self.kind or ""), "archived": "1" if self.archived else "", **other}
        return f"{reverse('search')}?{urlencode({name: value for name, value in asks.items() if value})}"


@require_safe
@page
def search(request: HttpRequest) -> HttpResponse:
    """Show what one may view of what one searches for; who may view nothing at all has nothing to search."""
    asked = _asked(request)
    by = actor(request)
    workspaces = searching.workspaces_in_reach(by)
    if not workspaces:
        return redirect("home")
    last = request.session.get(LAST)
    open_one = next((one for one in workspaces if str(one.pk) == last), workspaces[0])
    shown: dict[str, Any] = {"asked": asked, "tabs": _tabs(asked)}
    try:
        wanted = searching.question(asked.text)
    except Invalid as error:
        wanted = None
        shown["because"] = error.because
    if wanted is not None:
        shown["sections"] = _sections(by, asked, wanted, workspaces)
        shown["nothing"] = not asked.before and not any(section.results for section in shown["sections"])
        shown["too_many"] = MOST_WORKSPACES if len(workspaces) > MOST_WORKSPACES else 0
    shown["side"] = pages.side(reader(request), open_one, at="search")
    return render(request, "search.html", shown, status=400 if "because" in shown else 200)


def _asked(request: HttpRequest) -> Asked:
    kind = request.GET.get("in", "")
    before = request.GET.get("before", "")
    try:
        return Asked(
            text=request.GET.get("q", "").strip(),
            kind=Kind(kind) if kind else None,
            archived=bool(request.GET.get("archived")),
            before=UUID(before) if before else None,
        )
    except ValueError:
        raise NotFound from None


def _tabs(asked: Asked) -> list[dict[str, object]]:
    kinds = [("", "Everything"), *((kind.value, name) for kind, name in NAMES.items())]
    return [
        {"name": name, "href": asked.address(**{"in": kind}), "here": kind == (asked.kind or "")}
        for kind, name in kinds
    ]


def _sections(by: Person, asked: Asked, wanted: Question, workspaces: Sequence[Workspace]) -> list[Section]:
    whole = {workspace.pk for workspace in selectors.workspaces_of(by)}
    places = {one.pk: one.name if one.pk in whole else pages.SHARED for one in workspaces if len(workspaces) > 1}
    sections = []
    for kind in NAMES if asked.kind is None else (asked.kind,):
        few = asked.kind is None and kind is not Kind.MESSAGES
        group = searching.found(
            by, wanted, kind, workspaces, before=asked.before if asked.kind else None, archived=asked.archived,
            limit=FEW if few else PAGE,
        )  # fmt: skip
        sections.append(_section(asked, group, places))
    return sections


def _section(asked: Asked, group: Group, places: dict[UUID, str]) -> Section:
    rest, words = "", ""
    if group.next is not None:
        whole = asked.kind is not None or group.kind is Kind.MESSAGES
        words = f"Older {group.kind}" if whole else f"All {group.kind}"
        rest = asked.address(**{"in": group.kind}, before=str(group.next) if whole else "")
    return Section(
        kind=group.kind,
        name=NAMES[group.kind],
        count=f"more than {MOST_COUNTED}" if group.total > MOST_COUNTED else str(group.total),
        results=[_shown(hit, places) for hit in group.hits],
        rest=rest,
        rest_words=words,
    )


def _shown(hit: Hit, places: dict[UUID, str]) -> Shown:
    place = hit.thread or hit.document
    name = places.get(place.workspace_id, "") if place else ""
    if hit.document is not None:
        return Shown(hit, reverse("document", args=[hit.id]), name)
    if hit.thread is None:
        raise NotFound
    if hit.message is None:
        return Shown(hit, reverse("thread", args=[hit.id]), name)
    return Shown(hit, message_address(hit.thread, hit.message), name)


def message_address(thread: Thread, message: Message) -> str:
    """Return where a message is read: in its thread, whose page shows the newest entries of the log; an older one in
    the timeline, in the middle of what came before and after it."""
    if thread.head_seq - message.seq < PAGE_EVENTS:
        return f"{reverse('thread', args=[thread.pk])}#m-{message.pk}"
    before = message.seq + TIMELINE_EVENTS // 2
    return f"{reverse('timeline', args=[thread.pk])}?before={before}#e{message.seq}"
