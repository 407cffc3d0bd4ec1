"""What must hold where a thread's log ends: what is open by it is open by the rows, and no row is beside it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from agents.audit.rows import Finding, Rows
from agents.audit.state import PAUSED, State

WAITS_AT_MOST = timedelta(minutes=10)
"""How long a message may wait in a thread where nothing keeps it from being taken, before it is worth a note."""

TABLES: Mapping[str, str] = {
    "messages": "INV2", "turns": "INV15", "calls": "INV15", "shared calls": "INV1", "proposals": "INV8",
    "revisions": "INV5",
}  # fmt: skip
"""The invariant that a row the log does not record breaks."""


def end(state: State, rows: Rows) -> Iterator[Finding]:
    """Compare what is open at the end with the rows, and how many rows there are with how many the log recorded.

    Args:
        rows: those of everything that is open.
    """
    thread = state.thread.id
    for message in state.waiting:
        row = rows.messages.get(message.id)
        if row is not None and row.fates != ["waits"]:
            said = " and ".join(row.fates) or "nothing of it"
            yield Finding("INV2", thread, message.seq, f"waits by the log, its row says {said}")
    for turn in state.turns.values():
        found = rows.turns.get(turn.id)
        if found is not None and found.status != turn.status:
            yield Finding("INV15", thread, found.seq, f"the turn is {turn.status}, its row says {found.status}")
    for id in state.proposals:
        proposal = rows.proposals.get(id)
        if proposal is not None and proposal.state != "open":
            yield Finding("INV8", thread, proposal.seq, f"is open by the log, its row says {proposal.state}")
    for table, rule in TABLES.items():
        kept, recorded = state.thread.counts[table], state.counted[table]
        if kept != recorded:
            yield Finding(rule, thread, None, f"it has {kept} {table}, the log records {recorded}")
    yield from _waits_long(state, rows)


def _waits_long(state: State, rows: Rows) -> Iterator[Finding]:
    paused = any(turn.status == PAUSED for turn in state.turns.values())
    if paused or state.running or not state.thread.is_idle:
        return
    for message in state.waiting[:1]:
        row = rows.messages.get(message.id)
        if row is not None and state.thread.now - row.posted_at > WAITS_AT_MOST:
            because = f"{len(state.waiting)} messages wait since {row.posted_at:%Y-%m-%d %H:%M} and nothing takes them"
            yield Finding("INV2", state.thread.id, message.seq, because, is_note=True)
