"""The pages of documents: as they are, as they were, what changed; and what forms do to them. A view loads through the
check, calls a service, or shows; it decides nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST, require_safe

from collab import selectors
from collab.errors import CollabError
from collab.models.documents import Document
from collab.models.threads import Thread
from collab.services.documents import (
    document_archive,
    document_restore,
    document_restore_version,
    document_save,
)
from collab.services.policies import document_policy_set
from collab.web import pages
from collab.web.answers import actor, filled, id_in, noted, page, reader, tried
from collab.web.comparing import comparison, earlier, text_at, version_number
from collab.web.forms import DocumentActForm, PolicyForm, RestoreForm, SaveForm
from collab.web.pane import mark, may_do, pane
from collab.web.versions import history
from permissions.actors import Person
from permissions.errors import NotFound, Refused

FILENAME_CHARS = 80
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069]+')


@require_safe
@page
def document(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a document by itself."""
    return _document_page(request, selectors.document_for(actor(request), id))


@require_safe
@page
def document_pane(request: HttpRequest, id: UUID) -> HttpResponse:
    """Return the fragment that shows a document beside a thread (``?thread=``) or alone; nothing (204) where it still
    bears the mark that the asker knows (``?known=``)."""
    found = selectors.document_for(actor(request), id)
    beside = _beside(request, found)
    known = request.GET.get("known")
    if known is not None and known == mark(found):
        return HttpResponse(status=204)
    return render(request, "parts/pane.html", {"pane": pane(reader(request).id, found, beside)})


@require_safe
@page
def document_history(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show the versions a document had, newest first; ``?before=`` shows those before a version."""
    found = selectors.document_for(actor(request), id)
    before = version_number(request.GET.get("before", ""), 0) or None
    return _part(request, found, "history", "History", past=history(actor(request), found, before=before))


@require_safe
@page
def document_compare(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show what differs between two versions, ``?from=`` and ``?to=``, in either order: else the newest two."""
    found = selectors.document_for(actor(request), id)
    to = version_number(request.GET.get("to", ""), found.version)
    since = version_number(request.GET.get("from", ""), max(to - 1, 1))
    compared = comparison(actor(request), found, since, to)
    return _part(request, found, "compare", "Compare versions", compared=compared)


@require_safe
@page
def document_version(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a document as it was at a version, ``?version=``."""
    found = selectors.document_for(actor(request), id)
    number = version_number(request.GET.get("version", ""), found.version)
    was = earlier(actor(request), found, number)
    may = may_do(actor(request), found, _beside(request, found))
    return _part(request, found, "version", f"Version {number}", was=was, may=may)


@require_safe
@page
def document_download(request: HttpRequest, id: UUID) -> HttpResponse:
    """Return a document as a Markdown file, as it is or as it was at ``?version=``."""
    found = selectors.document_for(actor(request), id)
    number = version_number(request.GET.get("version", ""), found.version)
    answer = HttpResponse(text_at(found, number), content_type="text/markdown; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=filename(found.title, number)
    )
    return answer


def filename(title: str, version: int) -> str:
    """Return the name a version of a document is downloaded as: no path, no control or direction characters."""
    stem = " ".join(_UNSAFE.sub(" ", title).split())[:FILENAME_CHARS].strip(" .")
    return f"{stem or 'document'} v{version}.md"


@require_POST
@page
def document_saved(request: HttpRequest, id: UUID) -> HttpResponse:
    """Save or suggest a document's text from its own page; where it cannot be, show why, with the text kept."""
    found = selectors.document_for(actor(request), id)
    text = request.POST.get("text", "")

    def act() -> str:
        form = filled(SaveForm(request.POST))
        suggested = {"propose": True, "thread": form["thread"]} if form["propose"] else {}
        written = document_save(
            actor=actor(request), document=id, text=form["text"], base_version=form["base_version"],
            rationale=form["rationale"], **suggested,
        )  # fmt: skip
        return written.summary if written.proposal is not None else ""

    try:
        said = act()
    except (CollabError, Refused) as error:
        noted(request, error)
        found.refresh_from_db()
        return _document_page(request, found, draft=text, note=f"Not saved: {error.because}")
    if said:
        messages.success(request, said)
    return redirect("document", id)


@require_POST
@page
def document_act(request: HttpRequest, id: UUID) -> HttpResponse:
    """Do what a document's menu offers: ``act`` says what."""
    selectors.document_for(actor(request), id)
    act = ACTS.get(request.POST.get("act", ""))
    if act is not None:
        tried(request, lambda: act(request, actor(request), id))
    return redirect("document", id)


def _archive(request: HttpRequest, by: Person, id: UUID) -> str:
    form = filled(DocumentActForm(request.POST))
    return document_archive(actor=by, document=id, thread=form["thread"], rationale=form["rationale"]).summary


def _bring_back(request: HttpRequest, by: Person, id: UUID) -> str:
    form = filled(DocumentActForm(request.POST))
    return document_restore(actor=by, document=id, thread=form["thread"]).summary


def _restore(request: HttpRequest, by: Person, id: UUID) -> str:
    form = filled(RestoreForm(request.POST))
    written = document_restore_version(
        actor=by, document=id, version=form["version"], base_version=form["base_version"], thread=form["thread"],
        rationale=form["rationale"], propose=form["propose"],
    )  # fmt: skip
    return written.summary


def _policy(request: HttpRequest, by: Person, id: UUID) -> str:
    form = filled(PolicyForm(request.POST))
    found = document_policy_set(actor=by, document=id, policy=form["policy"], thread=form["thread"])
    proposes = found.write_policy == Document.WritePolicy.PROPOSE
    return f"Agents and clients {'only suggest changes to' if proposes else 'change'} {found.title} now."


ACTS: Mapping[str, Callable[[HttpRequest, Person, UUID], str]] = {
    "archive": _archive,
    "bring back": _bring_back,
    "restore": _restore,
    "policy": _policy,
}
"""What a form of a document's page can ask for; each returns what to say once it is done."""


def _document_page(request: HttpRequest, found: Document, **kept: Any) -> HttpResponse:
    shown = {
        "side": pages.side(reader(request), found.workspace, document=found.id),
        "pane": pane(reader(request).id, found, **kept),
    }
    return render(request, "document.html", shown, status=400 if kept else 200)


def _part(request: HttpRequest, found: Document, part: str, title: str, **shown: Any) -> HttpResponse:
    """Show a part of a document's past as a page, which a pane also takes in."""
    context = {
        "document": found,
        "part": f"parts/{part}.html",
        "title": title,
        "side": pages.side(reader(request), found.workspace, document=found.id),
        "beside": _beside(request, found),
    }
    return render(request, "document_part.html", {**context, **shown})


def _beside(request: HttpRequest, found: Document) -> Thread | None:
    """Return the thread that the document is shown beside, if there is one.

    Raises:
        NotFound: there is no such thread in its workspace, or the reader may not view it.
    """
    id = id_in(request.GET.get("thread", ""))
    if id is None:
        return None
    thread = selectors.thread_for(actor(request), id)
    if thread.workspace_id != found.workspace_id:
        raise NotFound
    return thread
