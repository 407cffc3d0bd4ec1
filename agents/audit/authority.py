"""INV5: no effect without authority at that moment, as far as the grant history shows it (DESIGN 5). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.audit.given import CHANGES, forbids, gives, standing
from agents.audit.grants import Moment
from agents.audit.parties import accounts, kind
from agents.audit.rows import EventRow, Rows
from agents.audit.state import State

NEEDED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(CHANGES, frozenset({"change_document"})),
    "proposal_created": frozenset({"propose_document", "change_document"}),
    "proposal_resolved": frozenset({"review_document"}),
    "turn_started": frozenset({"start_turn"}),
    "question_answered": frozenset({"start_turn"}),
    "thread_created": frozenset({"start_turn"}),
    "thread_changed": frozenset({"manage"}),
    "mode_changed": frozenset({"manage"}),
    "policy_changed": frozenset({"manage"}),
    "call_shared": frozenset({"view"}),
    "call_repeat_allowed": frozenset({"view"}),
}
"""The grants, one of which everyone in the actor's chain must hold, by type of event."""

NEEDED_TO_POST: Mapping[str, frozenset[str]] = {
    "message": frozenset({"start_turn"}),
    "comment": frozenset({"comment"}),
}


def has_authority(state: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """Replay the grants up to the epoch an effect was decided at: each party of its actor held what it needs, on the
    object or its workspace. Agents and clients change no document in suggest mode and never manage. A delegation takes
    the place of the agent's own grants and of the mode, as far as its giver could do as much."""
    codenames = _needed(event)
    if not codenames:
        return
    moment, objects = Moment(event.grants_epoch, event.at), _objects(state, event, rows)
    given = standing(state, event)
    is_given = given is not None and gives(given, state, objects, moment)
    if given is not None and forbids(given, event):
        yield f"{event.actor} was kept from it until {given.until} by a delegation of {given.given_by}"
    for account in accounts(event.actor)[int(is_given) :]:
        if not state.grants.holds(account, codenames, objects, moment):
            yield f"{event.actor}: {account} held no {' or '.join(sorted(codenames))} at grants epoch {moment.epoch}"
    is_a_service = kind(event.actor) in {"agent", "client"}
    if is_a_service and event.type in CHANGES and state.mode == "suggest" and not is_given:
        yield f"{event.actor} changes a document in suggest mode"
    if is_a_service and "manage" in codenames:
        yield f"{event.actor} manages the thread"
    if event.grants_epoch < state.grants_epoch or event.grants_epoch > state.thread.workspace_epoch:
        yield f"decided at grants epoch {event.grants_epoch}, after {state.grants_epoch}"


def revision_is_the_events(_: State, event: EventRow, rows: Rows) -> Iterator[str]:
    """Each change of a document has its revision, by the same actor in the same turn."""
    if event.type not in CHANGES:
        return
    row = rows.revisions.get((event.one("document"), event.version))
    if row is None or (row.actor, row.turn) != (event.actor, event.turn):
        said = row.actor if row else "nobody"
        yield f"{event.actor} made version {event.version} of {event.one('document')}, which says it is by {said}"


def _needed(event: EventRow) -> frozenset[str]:
    if event.type == "message_posted":
        return NEEDED_TO_POST.get(event.one("kind"), frozenset()) if event.turn is None else frozenset()
    if event.type == "question_answered" and event.one("message"):
        return frozenset()  # decided with the start of the turn that the reply resumes
    if event.type == "proposal_resolved" and event.one("state") == "withdrawn":
        return frozenset()
    return NEEDED.get(event.type, frozenset())


def _objects(state: State, event: EventRow, rows: Rows) -> set[str]:
    """Where the grant may be held: the workspace, and the document or the thread that the event is about."""
    workspace = state.thread.workspace
    if event.type in CHANGES or event.type == "policy_changed":
        return {workspace, event.one("document")}
    if event.type.startswith("proposal_"):
        proposal = rows.proposals.get(event.one("proposal"))
        return {workspace} | ({proposal.document} if proposal and proposal.document else set())
    return {workspace, state.thread.id}
