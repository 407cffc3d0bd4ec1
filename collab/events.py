"""The closed list of events a thread's log can hold, and their JSON (DESIGN 6, Events). Pure.

An event holds ids, versions and content hashes, never what a person wrote. A type this code does not know
round-trips as :class:`Unknown`, so that old and new code can read one log.
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, ClassVar, get_args
from uuid import UUID

from collab.canonical import canonical, parse_json


@dataclass(frozen=True, slots=True)
class ThreadCreated:
    type: ClassVar[str] = "thread_created"


@dataclass(frozen=True, slots=True)
class ThreadChanged:
    """Title, archived, answers, agent or delegation: which of them; ``value`` where it is not a person's text."""

    type: ClassVar[str] = "thread_changed"
    what: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class ModeChanged:
    type: ClassVar[str] = "mode_changed"
    mode: str


@dataclass(frozen=True, slots=True)
class FocusChanged:
    type: ClassVar[str] = "focus_changed"
    document: UUID | None


@dataclass(frozen=True, slots=True)
class MessagePosted:
    type: ClassVar[str] = "message_posted"
    message: UUID
    kind: str
    content: str
    """The salted hash of the text."""


@dataclass(frozen=True, slots=True)
class MessageTaken:
    """Messages that joined a running turn at a boundary."""

    type: ClassVar[str] = "message_taken"
    messages: tuple[UUID, ...]
    taken_as: str


@dataclass(frozen=True, slots=True)
class MessageCancelled:
    type: ClassVar[str] = "message_cancelled"
    message: UUID


@dataclass(frozen=True, slots=True)
class MessagePassedOver:
    type: ClassVar[str] = "message_passed_over"
    message: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    type: ClassVar[str] = "turn_started"
    number: int
    trigger: str
    took: tuple[UUID, ...]
    resumes: UUID | None = None
    continues: UUID | None = None
    restarts: UUID | None = None
    revises: UUID | None = None


@dataclass(frozen=True, slots=True)
class CallStarted:
    type: ClassVar[str] = "call_started"
    call: UUID
    tool: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    type: ClassVar[str] = "call_ended"
    call: UUID
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallShared:
    type: ClassVar[str] = "call_shared"
    call: UUID


@dataclass(frozen=True, slots=True)
class TurnPaused:
    type: ClassVar[str] = "turn_paused"
    questions: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    type: ClassVar[str] = "question_answered"
    questions: tuple[UUID, ...]
    message: UUID | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    type: ClassVar[str] = "turn_ended"
    turn: UUID
    status: str
    reason: str = ""
    message: UUID | None = None


@dataclass(frozen=True, slots=True)
class DocumentCreated:
    type: ClassVar[str] = "document_created"
    document: UUID


@dataclass(frozen=True, slots=True)
class DocumentChanged:
    type: ClassVar[str] = "document_changed"
    document: UUID
    version: int


@dataclass(frozen=True, slots=True)
class DocumentArchived:
    type: ClassVar[str] = "document_archived"
    document: UUID
    version: int


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """How a document takes changes by agents and clients: directly, or as proposals."""

    type: ClassVar[str] = "policy_changed"
    document: UUID
    policy: str


@dataclass(frozen=True, slots=True)
class ProposalCreated:
    type: ClassVar[str] = "proposal_created"
    proposal: UUID


@dataclass(frozen=True, slots=True)
class ProposalResolved:
    type: ClassVar[str] = "proposal_resolved"
    proposal: UUID
    state: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class MessageHeld:
    """A message whose meaning for the running turn is unclear: no turn takes it until its author says what it means."""

    type: ClassVar[str] = "message_held"
    message: UUID


@dataclass(frozen=True, slots=True)
class MessageReleased:
    """A held message waits again: its author said what it means, or said nothing in time."""

    type: ClassVar[str] = "message_released"
    message: UUID
    meant: str


@dataclass(frozen=True, slots=True)
class CallRepeatAllowed:
    """Someone let a call be done again of which nobody knows whether it was done."""

    type: ClassVar[str] = "call_repeat_allowed"
    call: UUID


@dataclass(frozen=True, slots=True)
class ActionAsked:
    """Consent was asked for; ``steps`` is the hash of the frozen steps."""

    type: ClassVar[str] = "action_asked"
    action: UUID
    number: int
    steps: str


@dataclass(frozen=True, slots=True)
class ActionResolved:
    type: ClassVar[str] = "action_resolved"
    action: UUID
    state: str


@dataclass(frozen=True, slots=True)
class DeliveryAdmitted:
    """What a source delivered reached this thread as the message or notice named, if it became one."""

    type: ClassVar[str] = "delivery_admitted"
    delivery: UUID
    message: UUID | None = None


@dataclass(frozen=True, slots=True)
class EffectGone:
    """A source reported that what a call did is gone."""

    type: ClassVar[str] = "effect_gone"
    call: UUID
    delivery: UUID


@dataclass(frozen=True, slots=True)
class TimerSet:
    type: ClassVar[str] = "timer_set"
    timer: UUID


@dataclass(frozen=True, slots=True)
class TimerFired:
    type: ClassVar[str] = "timer_fired"
    timer: UUID
    message: UUID
    number: int


@dataclass(frozen=True, slots=True)
class TimerSuperseded:
    """A timer will not fire: ``superseded``, as where what it was about is moot, or ``cancelled`` by someone."""

    type: ClassVar[str] = "timer_superseded"
    timer: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of a type this code does not know, kept as it was read."""

    type: str
    text: str


Fact = (
    ThreadCreated
    | ThreadChanged
    | ModeChanged
    | FocusChanged
    | MessagePosted
    | MessageTaken
    | MessageCancelled
    | MessagePassedOver
    | TurnStarted
    | CallStarted
    | CallEnded
    | CallShared
    | TurnPaused
    | QuestionAnswered
    | TurnEnded
    | DocumentCreated
    | DocumentChanged
    | DocumentArchived
    | PolicyChanged
    | ProposalCreated
    | ProposalResolved
    | MessageHeld
    | MessageReleased
    | CallRepeatAllowed
    | ActionAsked
    | ActionResolved
    | DeliveryAdmitted
    | EffectGone
    | TimerSet
    | TimerFired
    | TimerSuperseded
)

LONGEST = 1_000_000
"""Bytes of one event's data; far above what any type holds."""

CATALOGUE: dict[str, type[Fact]] = {kind.type: kind for kind in get_args(Fact)}


def dump(event: Fact) -> str:
    """Return the canonical JSON text of an event's data: what the log stores and hashes."""
    return canonical(_plain(asdict(event)))


def load(type: str, text: str) -> Fact | Unknown:
    """Read what :func:`dump` wrote; a type or a shape this code does not know comes back as :class:`Unknown`."""
    kind = CATALOGUE.get(type)
    data = parse_json(text, max_bytes=LONGEST)
    if kind is None or not isinstance(data, dict) or not _fits(kind, data):
        return Unknown(type, text)
    return kind(
        **{field.name: _typed(str(field.type), data[field.name]) for field in fields(kind) if field.name in data}
    )


def _fits(kind: type[Fact], data: dict[str, Any]) -> bool:
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    return needed <= data.keys() <= {field.name for field in fields(kind)}


def _plain(value: Any) -> Any:
    match value:
        case UUID():
            return str(value)
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple():
            return [_plain(part) for part in value]
        case _:
            return value


def _typed(annotation: str, value: Any) -> Any:
    if value is None or "UUID" not in annotation:
        return value
    return tuple(UUID(part) for part in value) if annotation.startswith("tuple") else UUID(value)
