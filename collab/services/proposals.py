"""Resolving proposals: accepted or rejected by someone else, or withdrawn by who proposed (DESIGN 5, may_resolve)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from collab import selectors
from collab.edits import parse_edits
from collab.errors import Conflict, Gone
from collab.events import ProposalResolved
from collab.kind import Data
from collab.kinds import KINDS
from collab.log import Locked
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.workspaces import Workspace
from collab.patches import rebase
from collab.services.changes import Draft, Origin, Written, change_written, lowerings, stale
from collab.services.checks import open_thread, valid
from collab.text import clean_text
from permissions import phrases
from permissions.actors import Actor, Person, person
from permissions.decisions import Action, Decision, Level
from permissions.errors import NotFound, Refused
from permissions.gate import decide_on, require
from permissions.grants import names_of
from permissions.resolving import Verdict, may_resolve

LONGEST_REASON = 4_096
"""Bytes of the reason given with a rejection."""

_PAST = {"accepted": "accepted", "rejected": "rejected", "withdrawn": "withdrew"}


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether an actor may resolve a proposal, and the sentence that tells them why or why not."""

    ok: bool
    because: str
    decision: Decision | None = None


def proposal_accept(*, actor: Actor, proposal: UUID, turn: UUID | None = None) -> Written:
    """Accept a proposal and make its change, on the document as it is now.

    Accepting needs everything that making the change by hand needs, and ``review_document``; nobody accepts their own.

    Raises:
        NotFound: there is no such proposal, or the actor may not view its thread.
        Refused: the actor may not accept it; ``because`` says which rule.
        Gone: it was resolved already; ``because`` says by whom and when.
        Conflict: the passage it changes is different by now; nothing is done and it stays open.
        Invalid: its thread is archived.
    """
    with _open(actor, proposal) as (locked, row):
        eligible = acceptance(actor, row, for_write=True)
        if not eligible.ok or eligible.decision is None:
            raise Refused(eligible.because, eligible.decision)
        draft = _redrafted(row)
        _settled(row, locked, actor, Proposal.State.ACCEPTED)
        origin = Origin(actor=actor, locked=locked, turn=turn, decision=eligible.decision, proposal=row)
        written = change_written(draft, origin)
        if row.document is None:
            row.document = written.document
            row.save(update_fields=["document"])
        origin.append(ProposalResolved(row.id, row.state, written.version))
        return replace(written, proposal=row)


def proposal_reject(*, actor: Actor, proposal: UUID, reason: str = "", turn: UUID | None = None) -> Proposal:
    """Reject a proposal, with a reason if there is one to give.

    Raises:
        NotFound, Gone: as for :func:`proposal_accept`.
        Refused: the actor proposed it, or may not review proposals there.
        Invalid: the reason is refused, or the thread is archived.
    """
    with valid():
        why = clean_text(reason, limit_bytes=LONGEST_REASON, name="the reason", allow_blank=True)
    with _open(actor, proposal) as (locked, row):
        verdict = may_resolve(actor, row.proposer, _names(actor, [row]))
        if not verdict.allowed:
            raise Refused(verdict.to_responder)
        decision = require(actor, Action.REVIEW_DOCUMENT, _target(row), for_write=True)
        _settled(row, locked, actor, Proposal.State.REJECTED, why)
        origin = Origin(actor=actor, locked=locked, turn=turn, decision=decision)
        origin.append(ProposalResolved(row.id, row.state))
        return row


def proposal_withdraw(*, actor: Actor, proposal: UUID, turn: UUID | None = None) -> Proposal:
    """Take back a proposal: who proposed it may, and in person whom it was proposed for.

    Raises:
        NotFound, Gone, Invalid: as for :func:`proposal_accept`.
        Refused: somebody else proposed it.
    """
    with _open(actor, proposal) as (locked, row):
        if not may_withdraw(actor, row.proposer):
            raise Refused("Only who proposed it may withdraw it.")
        decision = require(actor, Action.VIEW, locked.row, for_write=True)
        _settled(row, locked, actor, Proposal.State.WITHDRAWN)
        origin = Origin(actor=actor, locked=locked, turn=turn, decision=decision)
        origin.append(ProposalResolved(row.id, row.state))
        return row


def may_withdraw(actor: Actor, proposer: Actor) -> bool:
    """Say whether a proposal is the actor's own, or was proposed for the person the actor is."""
    return actor == proposer or (isinstance(actor, Person) and person(proposer) == actor)


def acceptance(actor: Actor, proposal: Proposal, *, for_write: bool = False) -> Eligibility:
    """Say whether an actor may accept a proposal, in the words that a page shows in advance (DESIGN 5).

    Args:
        for_write: decide as the write does, in its transaction.
    """
    verdict = may_resolve(actor, proposal.proposer, _names(actor, [proposal]))
    return _eligible(verdict, _rights(actor, proposal, for_write=for_write))


def acceptances(actor: Actor, proposals: Sequence[Proposal]) -> dict[UUID, Eligibility]:
    """Return :func:`acceptance` of several proposals; rights are read once for all that change one document."""
    names = _names(actor, proposals)
    rights: dict[tuple[UUID, UUID], tuple[Decision, Decision]] = {}
    found = {}
    for proposal in proposals:
        place = (_target(proposal).pk, proposal.thread_id)
        if place not in rights:
            rights[place] = _rights(actor, proposal)
        found[proposal.id] = _eligible(may_resolve(actor, proposal.proposer, names), rights[place])
    return found


@contextmanager
def _open(actor: Actor, id: UUID) -> Iterator[tuple[Locked, Proposal]]:
    """Hold the thread of a proposal that is still open."""
    thread = Proposal.objects.filter(pk=id).values_list("thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    with open_thread(actor, thread) as locked:
        row = Proposal.objects.select_related("document", "workspace").get(pk=id)
        row.thread = locked.row
        if row.state != Proposal.State.OPEN:
            raise _gone(row)
        yield locked, row


def _settled(row: Proposal, locked: Locked, actor: Actor, state: Proposal.State, reason: str = "") -> None:
    # Conditional, so that one of two resolutions wins even where the thread's lock were not enough.
    won = Proposal.objects.filter(pk=row.pk, state=Proposal.State.OPEN).update(
        state=state, resolver=actor, resolved_at=locked.now, reason=reason
    )
    row.refresh_from_db(fields=["state", "resolver", "resolved_at", "reason"])
    if not won:
        raise _gone(row)


def _gone(row: Proposal) -> Gone:
    who = selectors.told(row.resolver) if row.resolver else phrases.GONE_NAME
    return Gone(f"{who} {_PAST[row.state]} it at {row.resolved_at:%H:%M}.")


def _target(proposal: Proposal) -> Document | Workspace:
    return proposal.document or proposal.workspace


def _names(actor: Actor, proposals: Sequence[Proposal]) -> dict[UUID, str]:
    return names_of(actor, *(proposal.proposer for proposal in proposals))


def _rights(actor: Actor, proposal: Proposal, *, for_write: bool = False) -> tuple[Decision, Decision]:
    """Decide on the two rights that accepting needs: reviewing, which is asked first and locked, and changing."""
    target = _target(proposal)
    lowers = lowerings(actor, proposal.document, proposal.thread)
    return (
        decide_on(actor, Action.REVIEW_DOCUMENT, target, for_write=for_write),
        decide_on(actor, Action.CHANGE_DOCUMENT, target, lowers=lowers),
    )


def _eligible(verdict: Verdict, rights: tuple[Decision, Decision]) -> Eligibility:
    if not verdict.allowed:
        return Eligibility(ok=False, because=verdict.to_responder)
    for decision in rights:
        if decision.level < Level.ALLOW:
            because = phrases.cannot_accept("You", _to_reader(decision).removesuffix("."))
            return Eligibility(ok=False, because=because, decision=decision)
    return Eligibility(ok=True, because=verdict.to_responder, decision=rights[0])


def _redrafted(row: Proposal) -> Draft:
    """Return the change as it would be made on the document as it is now."""
    new = Draft(workspace_id=row.workspace_id, kind=row.kind, title=row.title, data=row.data, patch=row.edits)
    document = row.document
    if document is None:
        return new
    if document.archived_at is not None:
        raise Conflict(f"{document.title} is archived; bring it back first.")
    if row.change == Proposal.Change.ARCHIVE:
        if row.base_version != document.version:
            raise stale(document, row.base_version or 0)
        return replace(new, document=document, title=document.title, data=document.data, archived=True)
    return replace(new, document=document, title=_title(row, document), data=_data(row, document))


def _title(row: Proposal, document: Document) -> str:
    rename = next((part for part in row.edits if "title" in part), None)
    if rename is None:
        return document.title
    if document.title not in (rename["was"], rename["title"]):
        raise Conflict(f"{rename['was']} is called {document.title} by now; the proposal renames it too.")
    return str(rename["title"])


def _data(row: Proposal, document: Document) -> Data:
    edits = [part for part in row.edits if "title" not in part]
    current: Data = document.data
    if not edits:
        return current
    with valid():
        return rebase(KINDS.named(row.kind), row.base_data, current, parse_edits(edits))


def _to_reader(decision: Decision) -> str:
    return phrases.to_reader(decision.because, decision.parties[0].name if decision.parties else "")
