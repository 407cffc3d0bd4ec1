"""Searching, always as someone: what one may view is found, and nothing else shows (promise 10, decision 0015).

Rows are kept by the rule of the lists, :func:`permissions.grants.readable`, inside the query that finds them, so that
counts, order and pages come of them alone. The newest comes first: a rank by how rare a word is would tell how often
others use it. The words walked are those of workspaces in which the actor may view something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import Q, QuerySet

from collab.errors import Invalid
from collab.models.documents import Document
from collab.models.searches import Searched
from collab.models.threads import Message, Thread
from collab.models.workspaces import Workspace
from collab.searches.snippets import Part, marked, snippet
from collab.searches.words import LONGEST_QUESTION, Question, Scope, asked
from collab.selectors import told
from permissions.actors import Actor
from permissions.grants import names_of, readable

PAGE = 20
"""Results of one kind on a page."""

MOST_COUNTED = 200
"""How far results are counted; beyond it there are "more than 200"."""

MOST_WORKSPACES = 50
"""How many workspaces one search goes through, the newest."""


class Kind(StrEnum):
    """What can be found."""

    THREADS = "threads"
    DOCUMENTS = "documents"
    MESSAGES = "messages"


LETTERS = {Kind.THREADS: "t", Kind.DOCUMENTS: "d", Kind.MESSAGES: "m"}
"""What the words of each kind begin with; :data:`collab.searches.install.KEPT` writes them."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result, by its id: a message with its thread and who wrote it, a document, or a thread by its title."""

    id: UUID
    thread: Thread | None
    message: Message | None
    document: Document | None
    title: tuple[Part, ...]
    excerpt: tuple[Part, ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The results of one kind. ``total`` stops one above ``MOST_COUNTED``; ``next`` is where older ones begin, None
    where there are none."""

    kind: Kind
    hits: Sequence[Hit]
    total: int
    next: UUID | None


def workspaces_in_reach(actor: Actor) -> list[Workspace]:
    """Return the workspaces that the actor may view, or a thread or document there, the newest first, at most one more
    than ``MOST_WORKSPACES``, in one query."""
    whole = readable(Workspace.objects.all(), actor)
    threads, documents = readable(Thread.objects.all(), actor), readable(Document.objects.all(), actor)
    somewhere = (
        Q(pk__in=whole.values("pk")) | Q(pk__in=threads.values("workspace")) | Q(pk__in=documents.values("workspace"))
    )
    return list(Workspace.objects.filter(somewhere).order_by("-pk")[: MOST_WORKSPACES + 1])


def question(text: str) -> Question | None:
    """Return what a typed text asks for, or None when there is no word in it.

    Raises:
        Invalid: it is longer than a question may be.
    """
    if len(text) > LONGEST_QUESTION:
        raise Invalid(f"The search has {len(text):,} characters; at most {LONGEST_QUESTION} fit.")
    return asked(text)


def found(
    actor: Actor,
    wanted: Question,
    kind: Kind,
    workspaces: Sequence[Workspace],
    *,
    before: UUID | None = None,
    archived: bool = False,
    limit: int = PAGE,
) -> Group:
    """Return the results of one kind, the newest first, in at most three queries.

    Args:
        workspaces: from :func:`workspaces_in_reach`; at most ``MOST_WORKSPACES`` of them are gone through. They make
            the search cheaper and widen nothing.
        before: the last result of the page before; behind what is no result there is nothing.
        archived: whether what is archived is found too.
        limit: how many to return.
    """
    if not workspaces:
        return Group(kind, (), 0, None)
    scopes = [Scope(LETTERS[kind], workspace.pk) for workspace in workspaces[:MOST_WORKSPACES]]
    rows = _rows(actor, kind, archived=archived).filter(words__holds=(wanted, scopes))
    key = f"{kind.value.removesuffix('s')}_id"
    page = rows if before is None else rows.filter(pk__lt=rows.filter(**{key: before}).values("pk"))
    # Which rows they are is settled before any text is read.
    newest = page.order_by("-pk").values("pk")[: limit + 1]
    texts = Searched.objects.filter(pk__in=newest).select_related("thread", "message", "document").defer("words")
    shown = list(texts.order_by("-pk"))
    whole = before is None and len(shown) <= limit
    total = len(shown) if whole else rows[: MOST_COUNTED + 1].count()
    hits = _hits(shown[:limit], key, wanted)
    return Group(kind, hits, total, hits[-1].id if len(shown) > limit else None)


def _rows(actor: Actor, kind: Kind, *, archived: bool) -> QuerySet[Searched]:
    unless = Q() if archived else Q(archived_at__isnull=True)
    if kind is Kind.DOCUMENTS:
        return Searched.objects.filter(document__in=readable(Document.objects.filter(unless), actor))
    titles = kind is Kind.THREADS
    threads = readable(Thread.objects.filter(unless), actor)
    return Searched.objects.filter(message__isnull=titles, thread__in=threads)


def _hits(rows: Sequence[Searched], key: str, wanted: Question) -> list[Hit]:
    names = names_of(*(row.message.author for row in rows if row.message is not None))
    return [_hit(row, getattr(row, key), wanted, names) for row in rows]


def _hit(row: Searched, id: UUID, wanted: Question, names: dict[UUID, str]) -> Hit:
    if row.document is not None:
        title, text = row.document.title, row.document.text
        return Hit(id, None, None, row.document, marked(title, wanted), snippet(text, wanted))
    title = row.thread.title if row.thread is not None else ""
    if row.message is None:
        return Hit(id, row.thread, None, None, marked(title, wanted), ())
    by = told(row.message.author, names)
    return Hit(id, row.thread, row.message, None, (Part(title),), snippet(row.message.content, wanted), by)
