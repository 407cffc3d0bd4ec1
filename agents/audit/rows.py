"""What the audit reads, as frozen values: ids are texts, actors are the lines they are kept as. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the audit: which rule, where, and what is wrong; a note is worth a look and breaks no rule."""

    rule: str
    thread: str
    seq: int | None
    because: str
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread, and what its row says of its log."""

    id: str
    workspace: str
    head_seq: int
    head_hash: str
    workspace_epoch: int
    """The newest epoch of its workspace's grants."""
    now: datetime
    is_idle: bool
    """It has an agent, is not archived and no process holds it."""
    counts: Mapping[str, int]
    """How many rows of each table it has."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event: its stored columns, and its data as plain JSON (empty where the text is none)."""

    seq: int
    type: str
    actor: str
    turn: str | None
    lease_epoch: int
    grants_epoch: int
    text: str
    at: datetime
    prev_hash: str
    hash: str
    data: Mapping[str, Any]

    def one(self, name: str) -> str:
        """Return one id or word of the data; "" where there is none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def many(self, name: str) -> tuple[str, ...]:
        """Return a list of ids of the data; empty where there is none."""
        value = self.data.get(name)
        return tuple(part for part in value if isinstance(part, str)) if isinstance(value, list) else ()

    @property
    def version(self) -> int:
        """The version of the document that it makes; the first where it does not say."""
        value = self.data.get("version")
        return value if isinstance(value, int) else 1

    @property
    def taken(self) -> tuple[str, ...]:
        """The messages that this event takes."""
        names = {"turn_started": "took", "message_taken": "messages"}
        return self.many(names[self.type]) if self.type in names else ()


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message, and what became of it."""

    id: str
    seq: int
    kind: str
    author: str
    content: str
    salt: str
    turn: str | None
    waits: bool
    taken_by: str | None
    taken_as: str | None
    passed_over: bool
    cancelled: bool
    posted_at: datetime
    held: bool = False

    @property
    def fates(self) -> list[str]:
        """What the row says became of it; exactly one for a message that asked for a turn."""
        said = {
            "waits": self.waits,
            "taken": self.taken_by is not None,
            "passed over": self.passed_over,
            "cancelled": self.cancelled,
            "held": self.held,
        }
        return [fate for fate, holds in said.items() if holds]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as its row has it."""

    id: str
    number: int
    seq: int
    on_behalf_of: str | None
    origin: str
    status: str
    lease_epoch: int


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call; ``asks`` says that it put a question to people, and so stays open while its turn is paused."""

    id: str
    turn: str
    outcome: str | None
    asks: bool
    whom: str | None
    """Whom its turn is for."""
    shared_by: str | None
    moved_from: str
    """The outcome it had before the one it has; "" where it had none."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question of a turn."""

    id: str
    turn: str
    answered_by: str | None
    dismissed: bool


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """A suggested change."""

    id: str
    seq: int
    document: str | None
    proposer: str
    state: str
    resolver: str | None


@dataclass(frozen=True, slots=True)
class AcceptedRow:
    """The version of its document that came of an accepted proposal, and in which ways it is not what was proposed.

    That is judged as it is read (:mod:`agents.audit.proposed`), so that no stretch holds many documents at once.
    """

    version: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One version of a document, made in a thread."""

    document: str
    version: int
    actor: str
    turn: str | None


@dataclass(frozen=True, slots=True)
class DelegationRow:
    """What someone lets a thread's agent do to documents there until a moment."""

    agent: str
    level: str
    until: datetime
    given_by: str
    given_at: datetime
    ended_by: str | None


@dataclass(frozen=True, slots=True)
class GrantRow:
    """A line of the grant history. With ``through`` it says that the account joined or left the group of that name."""

    epoch: int
    account: str | None
    group: int | None
    codename: str
    given: bool
    through: str
    object: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a stretch of the log names, by id (revisions by document and version)."""

    messages: Mapping[str, MessageRow] = field(default_factory=dict)
    turns: Mapping[str, TurnRow] = field(default_factory=dict)
    calls: Mapping[str, CallRow] = field(default_factory=dict)
    questions: Mapping[str, QuestionRow] = field(default_factory=dict)
    proposals: Mapping[str, ProposalRow] = field(default_factory=dict)
    accepted: Mapping[str, AcceptedRow] = field(default_factory=dict)
    revisions: Mapping[tuple[str, int], RevisionRow] = field(default_factory=dict)
    delegations: Mapping[tuple[datetime, str], DelegationRow] = field(default_factory=dict)
    """By when they were given, and their level."""
