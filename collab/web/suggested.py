"""What a proposal's card shows beside the proposal itself: diffs, what its viewer may do, whether it still fits."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import F

from collab.canonical import canonical
from collab.diffs import diff_lines
from collab.kind import Data
from collab.kinds import KINDS
from collab.models.proposals import Proposal
from collab.patches import read_between
from collab.reads import Item
from collab.resolvers import WhoElse, who_else
from collab.services.proposals import Eligibility, acceptances, may_withdraw
from collab.services.redrafts import Outlook, outlook
from permissions.actors import Actor

May = dict[str, Any]

MAY_NOTHING: May = {"accept": {"ok": False, "because": ""}, "reject": False, "withdraw": False}
"""What everyone may do about a proposal that is settled."""


def may(viewer: Actor, proposals: Sequence[Proposal]) -> dict[UUID, May]:
    """Return what a viewer may do about each of some open proposals, and why not; who else can accept it, where it is
    theirs, and that nobody can at present, where it waits for nobody."""
    eligible = acceptances(viewer, proposals)
    others = who_else(viewer, [row for row in proposals if not eligible[row.id].ok])
    return {row.id: _may(viewer, row, eligible[row.id], others.get(row.id)) for row in proposals}


def seen_by(proposal: Proposal, allowed: May) -> Item:
    """Return the fields of a proposal's item that are about accepting it: who may, what it would become now, and where
    its document went since. The text to edit is for who may accept it only."""
    ahead = outlook(proposal) if proposal.state == Proposal.State.OPEN else None
    draft = ahead.draft if ahead and allowed["accept"]["ok"] else None
    editable = draft if draft and not draft.archived else None
    return {
        "may": allowed,
        "moved": ahead and _moved(proposal, ahead),
        "proposed_title": editable and editable.title,
        "proposed_text": editable and KINDS.named(editable.kind).to_text(editable.data),
    }


def stuck(ids: Collection[UUID]) -> dict[UUID, str]:
    """Return, for those of these open proposals whose change does not fit its document any more, why; in one query."""
    moved = Proposal.objects.filter(pk__in=ids, document__isnull=False).exclude(base_version=F("document__version"))
    ahead = {row: outlook(row) for row in moved.select_related("document", "thread", "workspace")}
    return {row.id: _moved_on(row, seen) for row, seen in ahead.items() if seen.draft is None}


def change_of(proposal: Proposal) -> list[Item]:
    """Return the diff of what was proposed, on the version it was made on."""
    if proposal.change == Proposal.Change.ARCHIVE:
        return []
    base = "" if proposal.base_data is None else canonical(proposal.base_data)
    return _diff(proposal.kind, base, canonical(proposal.data))


def resolver_part(proposal: Proposal) -> Item | None:
    """Return what its resolver changed when they accepted it with edits: a diff, and the title where it is theirs."""
    edits = proposal.resolver_edits
    if not edits:
        return None
    between = read_between(edits)
    return {
        "diff": _diff(proposal.kind, *map(canonical, between)) if between else [],
        "title": next((edit["title"] for edit in edits if "title" in edit), None),
    }


def _may(viewer: Actor, proposal: Proposal, accept: Eligibility, others: WhoElse | None) -> May:
    because = accept.because
    if others and (accept.own or not others.anyone):
        because = f"{because} {others.sentence}"
    return {
        "accept": {"ok": accept.ok, "because": because},
        "reject": accept.rejects,
        "withdraw": may_withdraw(viewer, proposal.proposer),
    }


def _moved(proposal: Proposal, ahead: Outlook) -> Item | None:
    """Where the document stands by now, if that is not where the proposal was made."""
    document = proposal.document
    if document is None or (document.version == proposal.base_version and ahead.draft):
        return None
    told = _moved_on(proposal, ahead)
    return {"version": document.version, "fits": bool(ahead.draft), "because": told, "was": ahead.was, "now": ahead.now}


def _moved_on(proposal: Proposal, ahead: Outlook) -> str:
    document = proposal.document
    by_now = f"; {document.title} is at version {document.version}" if document else ""
    made = f"It was made on version {proposal.base_version}{by_now}."
    return f"{made} It still fits." if ahead.draft else f"{made} It does not fit any more. {ahead.because}"


@lru_cache(maxsize=64)
def _diff(kind_name: str, base: str, data: str) -> list[Item]:
    """The viewers of one proposal share one diff, which is the costly part."""
    kind = KINDS.named(kind_name)
    old = _data(base) if base else kind.empty("")
    return [
        {"op": line.op, "old": line.old_no, "new": line.new_no, "spans": line.spans, "skipped": line.skipped}
        for line in diff_lines(kind, old, _data(data))
    ]


def _data(text: str) -> Data:
    data: Data = json.loads(text)
    return data
