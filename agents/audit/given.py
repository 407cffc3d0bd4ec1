"""INV5 and INV1 of what people give away: delegations to the agent, and calls they share (DESIGN 4 and 6). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from agents.audit.grants import Moment
from agents.audit.parties import accounts, kind
from agents.audit.rows import DelegationRow, EventRow, Rows
from agents.audit.state import State

CHANGES = frozenset({"document_created", "document_changed", "document_archived"})
ORDER = ("deny", "propose", "allow")
ENOUGH = {"propose": frozenset({"propose_document", "change_document"}), "allow": frozenset({"change_document"})}
"""The grants, one of which a giver holds for a delegation of theirs to give anything."""

DECIDED_WITHIN = timedelta(minutes=1)
"""How long after an event's time its right may have been decided: a delegation that ends meanwhile lowers nothing."""


def standing(state: State, event: EventRow) -> DelegationRow | None:
    """Return the delegation to the agent that does something to a document, as the log has it by then."""
    given = state.delegation
    if given is None or event.at >= given.until or kind(event.actor) != "agent":
        return None
    is_its = accounts(event.actor)[0] == given.agent
    return given if is_its and (event.type in CHANGES or event.type == "proposal_created") else None


def gives(given: DelegationRow, state: State, objects: set[str], moment: Moment) -> bool:
    """Say whether a delegation gives its agent anything: its giver could do as much, and the agent could view it."""
    giver = accounts(given.given_by)
    if given.level not in ENOUGH or kind(given.given_by) != "person":
        return False
    may = state.grants.holds(giver[0], ENOUGH[given.level], objects, moment)
    return may and state.grants.holds(given.agent, {"view"}, objects, moment)


def forbids(given: DelegationRow, event: EventRow) -> bool:
    """Say whether a delegation keeps its agent from what it did, whoever gave it."""
    needed = "allow" if event.type in CHANGES else "propose"
    return ORDER.index(given.level) < ORDER.index(needed) and event.at + DECIDED_WITHIN < given.until


def delegation_has_its_row(state: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """A delegation that is given or ended has its row, which says by whom."""
    if event.type != "thread_changed" or event.one("what") != "delegation":
        return
    if event.one("value") == "ended":
        row = state.delegation
        if row is None or row.ended_by != event.actor:
            yield f"{event.actor} ends a delegation that its row says {row.ended_by if row else 'nobody'} ended"
        return
    given = rows.delegations.get((event.at, event.one("value")))
    if given is None or given.given_by != event.actor:
        yield f"{event.actor} delegates {event.one('value')}, its row says {given.given_by if given else 'nobody'}"


def call_is_shared_by_its_person(_: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """What a call brought is its person's: they alone share it, in person, and its row says so."""
    if event.type != "call_shared":
        return
    row = rows.calls.get(event.one("call"))
    if row is None or row.shared_by != event.actor:
        yield f"{event.actor} shares a call that its row says {row.shared_by if row else 'nobody'} shared"
    elif kind(event.actor) != "person" or row.whom != event.actor:
        yield f"{event.actor} shares a call that was made for {row.whom or 'no one'}"
