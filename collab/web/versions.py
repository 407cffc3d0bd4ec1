"""The versions of a document as readers are told of them: who changed what, for whom, when and where (DESIGN 11)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects

from collab import selectors
from collab.canonical import canonical
from collab.diffs import DiffLine, Span, diff_lines, summary
from collab.kinds import KINDS
from collab.models.documents import Document, Revision
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from permissions.actors import Actor
from permissions.grants import names_of, readable

PAGE = 20
"""Versions a step of the history shows."""

GLIMPSE_CHARS = 160
"""How much of what a version changed its history shows."""

BETWEEN: Span = ("same", " ")


@dataclass(frozen=True, slots=True)
class Place:
    """A thread that the reader may see."""

    id: UUID
    title: str


@dataclass(frozen=True, slots=True)
class Version:
    """One version, as the history tells it.

    Attributes:
        by: who made it for whom, and what it went through: "Proposed by Robin for Ana, accepted by Ben with edits".
        change: what it changed, in words; ``glimpse`` is the beginning of that change itself.
        place: the thread it was made in; None where there is none that the reader may see.
    """

    version: int
    by: str
    at: datetime
    change: str
    glimpse: Sequence[Span]
    place: Place | None


@dataclass(frozen=True, slots=True)
class History:
    """A step of a document's history, newest first; ``before`` is where the next step begins, None at its end."""

    versions: Sequence[Version]
    before: int | None


def history(actor: Actor, document: Document, *, before: int | None = None) -> History:
    """Return the versions a document had before version ``before``, as many as a step shows, in a constant number of
    queries.

    Raises:
        NotFound: the actor may not view the document.
    """
    rows = selectors.revisions_of(actor, document.id, before=before, limit=PAGE + 1)
    older = {row.version: row for row in rows}
    shown = rows[:PAGE]
    tell = _Teller(actor, document, shown)
    versions = [tell(row, older.get(row.version - 1)) for row in shown]
    return History(versions, shown[-1].version if len(rows) > PAGE else None)


def told_by(actor: Actor, document: Document, rows: Sequence[Revision]) -> list[Version]:
    """Return some versions as the history tells them, but for what they changed."""
    tell = _Teller(actor, document, rows)
    return [tell(row, None) for row in rows]


class _Teller:
    """Tells versions, given what all of them need: names, proposals, and the threads the reader may see."""

    def __init__(self, actor: Actor, document: Document, rows: Sequence[Revision]) -> None:
        brief = Proposal.objects.only("proposer", "resolver_edits")
        prefetch_related_objects(list(rows), Prefetch("proposal", brief))
        self._names = names_of(*_actors(rows))
        self._places = _places(actor, document, rows)
        self._kind = document.kind

    def __call__(self, row: Revision, before: Revision | None) -> Version:
        change, glimpse = _change(self._kind, row, before)
        place = self._places.get(row.thread_id) if row.thread_id else None
        return Version(row.version, _by(row, self._names), row.at, change, glimpse, place)


def _actors(rows: Iterable[Revision]) -> Iterable[Actor]:
    for row in rows:
        yield row.actor
        if row.proposal is not None:
            yield row.proposal.proposer


def _places(actor: Actor, document: Document, rows: Sequence[Revision]) -> dict[UUID, Place]:
    ids = {row.thread_id for row in rows if row.thread_id}
    if not ids:
        return {}
    seen = readable(Thread.objects.filter(pk__in=ids, workspace=document.workspace_id), actor)
    return {id: Place(id, title) for id, title in seen.values_list("pk", "title")}


def _by(row: Revision, names: Mapping[UUID, str]) -> str:
    who = selectors.told(row.actor, names)
    if row.proposal is None:
        return who
    edited = " with edits" if row.proposal.resolver_edits else ""
    return f"Proposed by {selectors.told(row.proposal.proposer, names)}, accepted by {who}{edited}"


def _change(kind: str, row: Revision, before: Revision | None) -> tuple[str, Sequence[Span]]:
    restored = next((part["restored"] for part in row.patch if "restored" in part), None)
    told = [f"Brought version {restored} back."] if restored is not None else []
    if before is None:
        return " ".join(["Made."] if row.version == 1 else told), ()
    if row.title != before.title:
        told.append(f"Called {row.title}.")
    glimpse: Sequence[Span] = ()
    if row.data != before.data:
        counts, glimpse = _difference(kind, canonical(before.data), canonical(row.data))
        told.append(counts)
    return " ".join(told) or _put_away(row), glimpse


def _put_away(row: Revision) -> str:
    match next((part["archived"] for part in row.patch if "archived" in part), None):
        case True:
            return "Archived."
        case False:
            return "Brought back from the archive."
        case _:
            return ""


@lru_cache(maxsize=256)
def _difference(kind_name: str, old: str, new: str) -> tuple[str, Sequence[Span]]:
    """Versions never change, so what changed between two is worked out once."""
    lines = diff_lines(KINDS.named(kind_name), json.loads(old), json.loads(new))
    told = summary(lines)
    return f"{told[:1].upper()}{told[1:]}.", _glimpse([line for line in lines if line.op not in {"same", "gap"}])


def _glimpse(changed: Sequence[DiffLine]) -> Sequence[Span]:
    shown: list[Span] = []
    for line in changed:
        text = "".join(text for _, text in line.spans)
        if not text.strip():
            continue
        if sum(len(text) for _, text in shown) + len(text) > GLIMPSE_CHARS:
            return (*shown, ("same", " …"))
        shown += [*([BETWEEN] if shown else []), *line.spans]
    return tuple(shown)
