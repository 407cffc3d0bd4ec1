"""The pages of threads. A view loads through the check, calls a service, or shows; it decides nothing."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from collab import selectors
from collab.models.documents import Document
from collab.services.documents import document_create
from collab.web import pages
from collab.web.answers import actor, filled, id_in, page, reader, tried
from collab.web.forms import DocumentForm, ThreadForm
from collab.web.frames import page_items
from collab.web.opening import thread_opened
from collab.web.pane import pane
from collab.web.timeline import timeline
from permissions.ids import new_id


@require_safe
@page
def thread(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a thread: the shell, and what its scripts draw the conversation from."""
    found = selectors.thread_for(actor(request), id)
    side = pages.side(reader(request), found.workspace, thread=found.id)
    agent = selectors.names_of([found.agent_id]).get(found.agent_id) if found.agent_id else None
    document = pages.shown_document(actor(request), found)
    shown = {
        "thread": found,
        "agent": agent,
        "side": side,
        "pane": pane(reader(request).id, document, found) if document else None,
        "data": pages.thread_data(reader(request).id, found, side),
    }
    return render(request, "thread.html", shown)


@require_safe
@page
def thread_items(request: HttpRequest, id: UUID) -> HttpResponse:
    """Return, as JSON, the items of the log entries before ``?before=``: one step back in a thread."""
    found = selectors.thread_for(actor(request), id)
    return JsonResponse(page_items(actor(request), found, before=_seq(request, "before") or 1))


@require_safe
@page
def thread_timeline(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a thread's log, event by event."""
    found = selectors.thread_for(actor(request), id)
    side = pages.side(reader(request), found.workspace, thread=found.id)
    before = _seq(request, "before")
    shown = timeline(actor(request), found, before=before, manages=side.may["manage"])
    data = {**pages.thread_data(reader(request).id, found, side), "items": []}
    context = {
        "thread": found,
        "side": side,
        "groups": shown.groups,
        "before": shown.before,
        "after": before,
        "data": data,
    }
    return render(request, "timeline.html", context)


@require_POST
@page
def thread_new(request: HttpRequest, id: UUID) -> HttpResponse:
    """Open a thread, with a title or with a first message; where that is refused, there is no thread either."""
    selectors.workspace_for(actor(request), id)
    made: list[UUID] = []

    def act() -> str:
        form = filled(ThreadForm(request.POST))
        opened, _ = thread_opened(
            actor=actor(request), workspace=id, title=form["title"], text=form["text"], client_id=str(new_id())
        )
        made.append(opened.id)
        return ""

    tried(request, act)
    return redirect("thread", made[0]) if made else redirect("workspace", id)


@require_POST
@page
def document_new(request: HttpRequest, id: UUID) -> HttpResponse:
    """Make an empty document in a workspace, in the thread it was asked from."""
    selectors.workspace_for(actor(request), id)
    place: UUID | None = id_in(request.POST.get("thread", ""))
    made: list[Document] = []

    def act() -> str:
        form = filled(DocumentForm(request.POST))
        written = document_create(
            actor=actor(request), workspace=id, title=form["title"], kind=form["kind"], thread=form["thread"]
        )
        if written.document is not None:
            made.append(written.document)
        return ""

    done = tried(request, act)
    if place is not None:
        return redirect("thread", place)
    return redirect("document", made[0].id) if done and made else redirect("workspace", id)


def _seq(request: HttpRequest, name: str) -> int | None:
    value = request.GET.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None
