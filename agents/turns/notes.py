"""What a turn is told of documents that others changed meanwhile: who, and what (DESIGN 6, Boundaries). Data, nobody's
words to the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from agents.models.turns import Turn
from agents.turns.ending import acting
from collab.diffs import as_text, diff_lines
from collab.kinds import KINDS
from collab.models.documents import Document, Revision
from collab.selectors import told
from permissions.grants import names_of, readable

MOST_LINES = 60
"""Lines of a change that are told; of a longer one, that there is more."""

MOST_CHARS = 4_000


def changes_told(turn: Turn, newest: Sequence[Revision]) -> list[str]:
    """Return, for each of these newest revisions, which the turn does not know, a text that tells who changed the
    document since the version it knows, and how.

    Of a document that the turn may not view, nothing is told. The number of queries does not grow with the revisions.
    """
    if not newest:
        return []
    ids = [revision.document_id for revision in newest]
    seen = set(readable(Document.objects.filter(pk__in=ids), acting(turn)).values_list("pk", flat=True))
    shown = [revision for revision in newest if revision.document_id in seen]
    since = _since(turn, shown)
    names = names_of(*(one.actor for later in since.values() for one in later))
    ends = _ends(since)
    return [_told(since[one.document_id], ends, names) for one in shown]


def _since(turn: Turn, newest: Sequence[Revision]) -> dict[UUID, list[Revision]]:
    """Return, by document, the revisions from the last that the turn knows or made itself on, oldest first."""
    wanted = [Q(document=one.document_id, version__gte=turn.known.get(str(one.document_id), 0)) for one in newest]
    if not wanted:
        return {}
    rows = Revision.objects.filter(reduce(or_, wanted)).defer("data", "patch").order_by("version")
    found: dict[UUID, list[Revision]] = {one.document_id: [] for one in newest}
    for row in rows:
        if row.turn_id == turn.id:
            found[row.document_id].clear()
        found[row.document_id].append(row)
    return found


def _ends(since: Mapping[UUID, list[Revision]]) -> dict[UUID, Revision]:
    """Return the first and the last of each run of revisions, with what they hold."""
    ids = [one.pk for later in since.values() for one in (later[0], later[-1])]
    return Revision.objects.select_related("document").in_bulk(ids)


def _told(later: Sequence[Revision], ends: Mapping[UUID, Revision], names: Mapping[UUID, str]) -> str:
    old, new = ends[later[0].pk], ends[later[-1].pk]
    by = ", ".join(dict.fromkeys(told(one.actor, names) for one in later[1:] or later))
    head = f"{new.title} is at version {new.version}, changed by {by}"
    if old.pk == new.pk:
        return head
    lines = [f"title: {old.title} → {new.title}"] if old.title != new.title else []
    lines += [text for line in diff_lines(KINDS.named(new.document.kind), old.data, new.data) for text in as_text(line)]
    return "\n".join([head, f"Since version {old.version}:", *_bounded(lines)]) if lines else head


def _bounded(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    room = MOST_CHARS
    for line in lines[:MOST_LINES]:
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    return kept if len(kept) == len(lines) else [*kept, "… and more: read it again."]
