"""What became of what an author's turns proposed, as their later steps and turns are told it: data, nobody's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agents.models.turns import Turn
from agents.turns.ending import acting
from collab import events
from collab.diffs import as_text, diff_lines
from collab.events import ProposalResolved
from collab.kinds import KINDS
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event
from collab.patches import read_between
from collab.selectors import told
from permissions.grants import names_of, readable

RESOLVED = "resolved"
"""In what a turn knows: the seq up to which it was told of resolutions."""

MOST_TOLD = 20
"""Resolutions told at once, at most: the newest."""

MOST_LINES = 60
"""Lines told of a person's own edits, at most."""

_ENDS = {"accepted": "accepted", "rejected": "rejected", "withdrawn": "withdrawn"}
_DOES = {"create": "create {}", "edit": "change {}", "archive": "archive {}"}


@dataclass(frozen=True, slots=True)
class Resolution:
    """One proposal's end: where the log records it, and a text that tells it."""

    seq: int
    text: str


def of_author(turn: Turn) -> QuerySet[Turn]:
    """Return the turns of a thread that are of one author with a turn, itself among them."""
    own = Turn.objects.filter(thread_id=turn.thread_id, on_behalf_of=turn.on_behalf_of)
    return own if turn.on_behalf_of else own.filter(origin=turn.origin)


def told_before(turn: Turn, found: Sequence[tuple[int, str]]) -> list[Resolution]:
    """Return what happened before a turn began, without what the history it goes on from tells.

    Args:
        found: of the events of :func:`ends_logged`, the seq and the data.
    """
    ended = _resolutions(turn, found)
    if not ended or turn.root_id == turn.id:
        return ended
    lineage = of_author(turn).filter(root_id=turn.root_id).exclude(pk=turn.pk)
    spans = [(seq, known.get(RESOLVED, seq)) for seq, known in lineage.values_list("seq", "known")]
    return [one for one in ended if not any(start < one.seq <= upto for start, upto in spans)]


def resolutions(turn: Turn, *, after: int) -> list[Resolution]:
    """Return the ends, oldest first, of what this turn and earlier ones of its author proposed.

    Of a document that the author may not view any more, nothing is told.

    Args:
        after: only those that the log records behind this seq.
    """
    newest = ends_logged(turn, after=after).order_by("-seq")
    return _resolutions(turn, list(newest.values_list("seq", "data")[:MOST_TOLD]))


def ends_logged(turn: Turn, *, after: int) -> QuerySet[Event]:
    """Return the events of a turn's thread, behind a seq, that record how proposals ended."""
    return Event.objects.filter(thread_id=turn.thread_id, type=ProposalResolved.type, seq__gt=after)


def _resolutions(turn: Turn, found: Sequence[tuple[int, str]]) -> list[Resolution]:
    if not found:
        return []
    newest = sorted(found)[-MOST_TOLD:]
    facts = [(seq, events.load(ProposalResolved.type, data)) for seq, data in newest]
    rows = _proposed(turn, (fact.proposal for _, fact in facts if isinstance(fact, ProposalResolved)))
    names = names_of(*(row.resolver for row in rows.values() if row.resolver))
    ended = ((seq, fact, rows.get(fact.proposal)) for seq, fact in facts if isinstance(fact, ProposalResolved))
    return [Resolution(seq, _told(row, fact, names)) for seq, fact, row in ended if row is not None]


def _proposed(turn: Turn, ids: Iterable[UUID]) -> dict[UUID, Proposal]:
    own = Proposal.objects.filter(pk__in=list(ids), turn_id__in=of_author(turn).values("pk"))
    rows = {row.pk: row for row in own.defer("data", "base_data", "edits")}
    documents = Document.objects.filter(pk__in=[row.document_id for row in rows.values()])
    seen = set(readable(documents, acting(turn)).values_list("pk", flat=True))
    return {id: row for id, row in rows.items() if row.document_id is None or row.document_id in seen}


def _told(row: Proposal, fact: ProposalResolved, names: Mapping[UUID, str]) -> str:
    by = told(row.resolver, names) if row.resolver else ""
    what = f"Your suggestion to {_DOES[row.change].format(row.title)} was {_ENDS[row.state]} by {by}"
    if row.state != Proposal.State.ACCEPTED:
        reason = f", who gave this reason: “{row.reason}”" if row.reason else ""
        return f"{what}{reason}. Nothing of it was made."
    version = f" It is at version {fact.version} with it."
    if not row.resolver_edits:
        return f"{what}.{version}"
    return "\n".join([f"{what}, with edits.{version} {by} changed your suggestion so:", *_edits(row)])


def _edits(row: Proposal) -> list[str]:
    edits: Sequence[dict[str, Any]] = row.resolver_edits or ()
    lines = [f"title: {edit['was']} → {edit['title']}" for edit in edits if "title" in edit]
    between = read_between(edits)
    if between:
        lines += [text for line in diff_lines(KINDS.named(row.kind), *between) for text in as_text(line)]
    return [*lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])]
