"""What is open at a point of a thread's log: waiting messages, unfinished turns, open proposals. Pure.

The audit replays the log into it. It forgets what has ended, so it stays small however long the log is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agents.audit.grants import GrantHistory
from agents.audit.parties import whom
from agents.audit.rows import DelegationRow, EventRow, Rows, ThreadRow

RUNNING, PAUSED = "running", "paused"

UNSETTLED = frozenset({"pending_confirmation", "unknown"})
"""Outcomes after which a call may begin again, or come to another."""

MOVES = UNSETTLED | {"done"}
"""Outcomes that may not be a call's last one: what was done may be undone."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that asked for a turn and has met no end yet."""

    id: str
    seq: int
    author: str


@dataclass(slots=True)
class OpenTurn:
    """A turn that has not ended and was not resumed."""

    id: str
    whom: str | None
    epoch: int
    status: str = RUNNING
    calls: dict[str, bool] = field(default_factory=dict)
    """Started and not ended; True for those that ask people."""
    asked_seq: int = 0
    questions: frozenset[str] = frozenset()
    """Asked and not answered."""
    answered_by: str = ""
    reply: str = ""
    """The message that answered."""


@dataclass(slots=True)
class State:
    """A thread as its log has it so far."""

    thread: ThreadRow
    grants: GrantHistory
    waiting: list[Waiting] = field(default_factory=list)
    held: list[Waiting] = field(default_factory=list)
    """Messages whose author is asked what they mean."""
    turns: dict[str, OpenTurn] = field(default_factory=dict)
    proposals: dict[str, str] = field(default_factory=dict)
    """Open proposals, and who made each."""
    mode: str = "edit"
    delegation: DelegationRow | None = None
    """What was given to the thread's agent last and not ended; its time may be over."""
    lease_epoch: int = 0
    grants_epoch: int = 0
    unsettled: set[str] = field(default_factory=set)
    """Calls that wait for consent, or of which nobody knows whether they were done."""
    counted: Counter[str] = field(default_factory=Counter)
    """How many rows of each table the log has recorded."""

    @property
    def running(self) -> OpenTurn | None:
        return next((turn for turn in self.turns.values() if turn.status == RUNNING), None)

    def message(self, id: str) -> Waiting | None:
        """Return a message that waits."""
        return next((message for message in self.waiting if message.id == id), None)


def asks_for_turn(event: EventRow) -> bool:
    """Say whether the event posts what a turn must take: a message, and not the agent's own reply."""
    return event.type == "message_posted" and event.one("kind") == "message" and event.turn is None


def apply(state: State, event: EventRow, rows: Rows) -> None:
    """Take the state past one event. An event of a type that is not known here changes nothing."""
    if event.turn is not None:
        state.lease_epoch = max(state.lease_epoch, event.lease_epoch)
    state.grants_epoch = max(state.grants_epoch, event.grants_epoch)
    if event.type in RECORDED and not (event.type == "call_started" and event.one("call") in state.unsettled):
        state.counted[RECORDED[event.type]] += 1
    if event.type in _APPLIED:
        _APPLIED[event.type](state, event, rows)


def _posted(state: State, event: EventRow, _: Rows) -> None:
    if asks_for_turn(event):
        state.waiting.append(Waiting(event.one("message"), event.seq, event.actor))


def _settled(state: State, event: EventRow, _: Rows) -> None:
    gone = {*event.taken, event.one("message")}
    state.waiting = [message for message in state.waiting if message.id not in gone]
    state.held = [message for message in state.held if message.id not in gone]


def _held(state: State, event: EventRow, _: Rows) -> None:
    if message := state.message(event.one("message")):
        state.waiting.remove(message)
        state.held.append(message)


def _released(state: State, event: EventRow, _: Rows) -> None:
    for message in [message for message in state.held if message.id == event.one("message")]:
        state.held.remove(message)
        state.waiting = sorted([*state.waiting, message], key=lambda one: one.seq)


def _started(state: State, event: EventRow, rows: Rows) -> None:
    _settled(state, event, rows)
    state.turns.pop(event.one("resumes"), None)
    if event.turn is not None:
        state.turns[event.turn] = OpenTurn(event.turn, whom(event.actor), event.lease_epoch)


def _paused(state: State, event: EventRow, _: Rows) -> None:
    if turn := state.turns.get(event.turn or ""):
        turn.status, turn.asked_seq, turn.questions = PAUSED, event.seq, frozenset(event.many("questions"))


def _answered(state: State, event: EventRow, _: Rows) -> None:
    if turn := state.turns.get(event.turn or ""):
        turn.questions -= set(event.many("questions"))
        turn.answered_by, turn.reply = event.actor, event.one("message")


def _ended(state: State, event: EventRow, _: Rows) -> None:
    state.turns.pop(event.turn or "", None)


def _call_started(state: State, event: EventRow, rows: Rows) -> None:
    if turn := state.turns.get(event.turn or ""):
        row = rows.calls.get(event.one("call"))
        turn.calls[event.one("call")] = row is not None and row.asks
    state.unsettled.discard(event.one("call"))


def _call_ended(state: State, event: EventRow, _: Rows) -> None:
    if event.one("outcome") in UNSETTLED:
        state.unsettled.add(event.one("call"))
    else:
        state.unsettled.discard(event.one("call"))
    if turn := state.turns.get(event.turn or ""):
        turn.calls.pop(event.one("call"), None)


def _proposed(state: State, event: EventRow, _: Rows) -> None:
    state.proposals[event.one("proposal")] = event.actor


def _resolved(state: State, event: EventRow, _: Rows) -> None:
    state.proposals.pop(event.one("proposal"), None)


def _mode_changed(state: State, event: EventRow, _: Rows) -> None:
    state.mode = event.one("mode")


def _changed(state: State, event: EventRow, rows: Rows) -> None:
    if event.one("what") == "delegation":
        state.delegation = rows.delegations.get((event.at, event.one("value")))


RECORDED: Mapping[str, str] = {
    "message_posted": "messages",
    "turn_started": "turns",
    "call_started": "calls",
    "call_shared": "shared calls",
    "proposal_created": "proposals",
    "document_created": "revisions",
    "document_changed": "revisions",
    "document_archived": "revisions",
}
"""Which events record a row of which table, one each."""

_APPLIED: Mapping[str, Callable[[State, EventRow, Rows], None]] = {
    "message_posted": _posted,
    "message_taken": _settled,
    "message_cancelled": _settled,
    "message_passed_over": _settled,
    "message_held": _held,
    "message_released": _released,
    "turn_started": _started,
    "turn_paused": _paused,
    "question_answered": _answered,
    "turn_ended": _ended,
    "call_started": _call_started,
    "call_ended": _call_ended,
    "proposal_created": _proposed,
    "proposal_resolved": _resolved,
    "mode_changed": _mode_changed,
    "thread_changed": _changed,
}
