"""Resolving proposals: accepted or rejected by someone else, or withdrawn by who proposed (DESIGN 5, may_resolve)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from collab import selectors
from collab.errors import AlreadyYours, Gone
from collab.events import ProposalResolved
from collab.log import Locked
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.workspaces import Workspace
from collab.services.changes import Origin, Patch, Written, change_written, lowerings
from collab.services.checks import open_thread, valid
from collab.services.redrafts import edited, redrafted
from collab.text import clean_text
from permissions import phrases
from permissions.actors import Actor, Person, person
from permissions.decisions import Action, Decision, Level
from permissions.errors import NotFound, OwnProposal, Refused
from permissions.gate import decide_on, require
from permissions.grants import names_of
from permissions.resolving import ResolveRule, Verdict, may_resolve

LONGEST_REASON = 4_096
"""Bytes of the reason given with a rejection."""

_OWN = frozenset({ResolveRule.OWN, ResolveRule.SHARED})
_PAST = {"accepted": "accepted", "rejected": "rejected", "withdrawn": "withdrew"}


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether an actor may accept a proposal, and the sentence that tells them why or why not.

    Attributes:
        rejects: whether they may reject it: that needs no right to make the change.
        own: it is theirs, or was made for them or by them through someone, so someone else must resolve it.
    """

    ok: bool
    because: str
    decision: Decision | None = None
    rejects: bool = False
    own: bool = False


def proposal_accept(
    *,
    actor: Actor,
    proposal: UUID,
    text: str | None = None,
    title: str | None = None,
    base_version: int | None = None,
    turn: UUID | None = None,
) -> Written:
    """Accept a proposal and make its change, on the document as it is now; with edits, when a text or title is given.

    Accepting needs everything that making the change by hand needs, and ``review_document``; nobody accepts their own.

    Args:
        text: the whole text of the document as it should become, edited from the proposed one; None: as proposed.
        title: likewise its title.
        base_version: the version of the document that the edited text was made on; None: whichever it is at.

    Raises:
        NotFound: there is no such proposal, or the actor may not view its thread or its document.
        OwnProposal: someone else must accept it.
        Refused: the actor may not accept it; ``because`` says which rule.
        Gone: it was resolved already; ``because`` says by whom and when (:class:`AlreadyYours`: by the actor).
        Conflict: the passage it changes is different by now; nothing is done and it stays open.
        EditsStale, NotEditable, TextRefused, Unchanged: the edits do not do; nothing is done and it stays open.
        Invalid: its thread is archived.
    """
    with _open(actor, proposal) as (locked, row):
        eligible = acceptance(actor, row, for_write=True)
        if not eligible.ok or eligible.decision is None:
            raise _refused(eligible.because, own=eligible.own, decision=eligible.decision)
        draft, own_part = redrafted(row), None
        if text is not None or title is not None:
            draft, own_part = edited(draft, text=text, title=title, base_version=base_version)
        _settled(row, locked, actor, Proposal.State.ACCEPTED, edits=own_part)
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
        OwnProposal: someone else must reject it.
        Refused: the actor may not review proposals there.
        Invalid: the reason is refused, or the thread is archived.
    """
    with valid():
        why = clean_text(reason, limit_bytes=LONGEST_REASON, name="the reason", allow_blank=True)
    with _open(actor, proposal) as (locked, row):
        verdict = may_resolve(actor, row.proposer, _names(actor, [row]))
        if not verdict.allowed:
            raise _refused(verdict.to_responder, own=verdict.rule in _OWN)
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
        if row.document is not None:
            _require_seen(actor, row.document)
        if row.state != Proposal.State.OPEN:
            raise _gone(row, actor)
        yield locked, row


def _require_seen(actor: Actor, document: Document) -> None:
    """What someone may not view is not there for them, so no refusal names it."""
    if decide_on(actor, Action.VIEW, document).level < Level.ALLOW:
        raise NotFound()


def _settled(
    row: Proposal,
    locked: Locked,
    actor: Actor,
    state: Proposal.State,
    reason: str = "",
    edits: Patch | None = None,
) -> None:
    # Conditional, so that one of two resolutions wins even where the thread's lock were not enough.
    won = Proposal.objects.filter(pk=row.pk, state=Proposal.State.OPEN).update(
        state=state, resolver=actor, resolved_at=locked.now, reason=reason, resolver_edits=edits
    )
    row.refresh_from_db(fields=["state", "resolver", "resolved_at", "reason", "resolver_edits"])
    if not won:
        raise _gone(row, actor)


def _gone(row: Proposal, actor: Actor) -> Gone:
    if row.resolver == actor:
        return AlreadyYours(f"You {_PAST[row.state]} it at {row.resolved_at:%H:%M} UTC.")
    who = selectors.told(row.resolver) if row.resolver else phrases.GONE_NAME
    return Gone(f"{who} {_PAST[row.state]} it at {row.resolved_at:%H:%M} UTC.")


def _refused(because: str, *, own: bool, decision: Decision | None = None) -> Refused:
    return OwnProposal(because, decision) if own else Refused(because, decision)


def _target(proposal: Proposal) -> Document | Workspace:
    return proposal.document or proposal.workspace


def _names(actor: Actor, proposals: Sequence[Proposal]) -> dict[UUID, str]:
    return names_of(actor, *(proposal.proposer for proposal in proposals))


def _rights(actor: Actor, proposal: Proposal, *, for_write: bool = False) -> tuple[Decision, Decision]:
    """Decide on the two rights that accepting needs: reviewing, which is asked first and locked, and changing."""
    target = _target(proposal)
    lowers = partial(lowerings, actor, proposal.document, proposal.thread)
    return (
        decide_on(actor, Action.REVIEW_DOCUMENT, target, for_write=for_write),
        decide_on(actor, Action.CHANGE_DOCUMENT, target, lowers=lowers),
    )


def _eligible(verdict: Verdict, rights: tuple[Decision, Decision]) -> Eligibility:
    if not verdict.allowed:
        return Eligibility(ok=False, because=verdict.to_responder, own=verdict.rule in _OWN)
    rejects = rights[0].level is Level.ALLOW
    for decision in rights:
        if decision.level < Level.ALLOW:
            because = phrases.cannot_accept("You", _to_reader(decision).removesuffix("."))
            return Eligibility(ok=False, because=because, decision=decision, rejects=rejects)
    return Eligibility(ok=True, because=verdict.to_responder, decision=rights[0], rejects=rejects)


def _to_reader(decision: Decision) -> str:
    return phrases.to_reader(decision.because, decision.parties[0].name if decision.parties else "")
