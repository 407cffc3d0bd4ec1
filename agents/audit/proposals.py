"""INV8: a proposal is resolved once, by someone else, and what is accepted is what was proposed (DESIGN 5). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from agents.audit.parties import may_resolve, may_withdraw
from agents.audit.rows import EventRow, Rows
from agents.audit.state import State


def proposal_is_by_its_proposer(_: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """A proposal has its row, which names who proposed it."""
    if event.type != "proposal_created":
        return
    row = rows.proposals.get(event.one("proposal"))
    if row is None or row.seq != event.seq:
        yield "the proposal that was made is gone"
    elif row.proposer != event.actor:
        yield f"the proposal says it is by {row.proposer}, but {event.actor} made it"


def proposal_is_resolved_once(state: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """At most one resolution, which the row repeats."""
    if event.type != "proposal_resolved":
        return
    row = rows.proposals.get(event.one("proposal"))
    if event.one("proposal") not in state.proposals:
        yield f"proposal {event.one('proposal')} is {event.one('state')} though it is not open"
    if row and (row.state, row.resolver) != (event.one("state"), event.actor):
        yield f"{event.actor} {event.one('state')} it, its row says {row.state} by {row.resolver}"


def nobody_resolves_their_own(state: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """Whoever accepts or rejects may, by who they are; only their own proposals people withdraw."""
    if event.type != "proposal_resolved":
        return
    row = rows.proposals.get(event.one("proposal"))
    proposer = state.proposals.get(event.one("proposal")) or (row.proposer if row else "")
    rule = may_withdraw if event.one("state") == "withdrawn" else may_resolve
    if not rule(event.actor, proposer):
        yield f"{event.actor} {event.one('state')} what {proposer} proposed"


def accepted_is_what_was_proposed(_: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """An accepted proposal made the version that its event names, which is what was proposed and no more."""
    if event.type != "proposal_resolved" or event.one("state") != "accepted":
        return
    made = rows.accepted.get(event.one("proposal"))
    if made is None or made.version != event.version:
        yield f"version {event.version} is said to come of it, and {f'{made.version} did' if made else 'none did'}"
    else:
        yield from made.faults
