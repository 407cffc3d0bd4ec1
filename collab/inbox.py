"""The inbox registry: how each kind of thing that waits for people is found and counted (DESIGN 3 and 11). Knows no
model and no app: `collab` adds proposals, the app above what it lets wait.

A kind's list and its count follow the same rule as the act that settles one, so what is in the inbox can be done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from permissions.actors import Actor, Person

PAGE = 50
"""How many things a page of the inbox holds."""

MOST_SHOWN = 99
"""Above this a number is shown as "99+"."""

LONGEST_TEXT = 400
"""Characters of a thing's text that the inbox shows."""


@dataclass(frozen=True, slots=True)
class Place:
    """A thing's place in its kind's list, which is newest first."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One thing that waits.

    Attributes:
        anchor: its card in the thread's page.
        text: more of it, or why it was proposed; may be empty.
        by: who proposed or asked it.
        because: whose turn it is to do what, in a sentence.
        settles: the reader may settle it here, as its kind says how.
        yes: what the button says that settles it, where that is not what its kind says.
        until: it can be settled before this moment; None for no end.
    """

    id: UUID
    workspace: UUID
    thread: UUID
    thread_title: str
    anchor: str
    title: str
    at: datetime
    by: Actor
    because: str
    text: str = ""
    settles: bool = False
    yes: str = ""
    until: datetime | None = None

    @property
    def place(self) -> Place:
        return Place(self.at, self.id)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many things wait in one thread."""

    workspace: UUID
    thread: UUID
    number: int


FindFn = Callable[[Person, UUID | None, Place | None, int], list[Waiting]]
"""Returns what waits for a person, newest first: only in one workspace, after a place, so many at most. The number of
queries does not grow with them."""

CountFn = Callable[[Person], Iterable[Tally]]
"""Returns how many things wait for a person in each thread, in a number of queries that does not grow with them."""


@dataclass(frozen=True, slots=True)
class Act:
    """One way to settle a thing: its name in a form, the command that does it, what its button says, and what is said
    of the command's result."""

    name: str
    command: str
    word: str
    said: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """How the things of a kind are settled where they are listed.

    Attributes:
        argument: what the commands call the thing.
        yes: what the first button does.
        no: what the second does, which takes a reason.
        why: how the reason is asked for.
    """

    argument: str
    yes: Act
    no: Act
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of thing that waits.

    Attributes:
        order: kinds stand in the inbox by this.
        heading: what its section is called.
        count: how many there are.
        for_others: they are the reader's, and wait for others: they are listed and not counted as waiting.
        events: the types of events that may change it.
        settling: how its things are settled from the inbox; None where they are not.
    """

    name: str
    order: int
    heading: str
    find: FindFn
    count: CountFn
    for_others: bool = False
    events: frozenset[str] = frozenset()
    settling: Settling | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """What a page shows of one kind."""

    kind: Kind
    waiting: list[Waiting]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page of the inbox ends: in this kind's list, at this place."""

    kind: str
    place: Place


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the inbox, and where the next one begins; None on the last."""

    sections: list[Section]
    next: Cursor | None


@dataclass(frozen=True, slots=True)
class Count:
    """How many things wait for a person: in all, of each kind, in each workspace, in each thread."""

    total: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    workspaces: dict[UUID, int] = field(default_factory=dict)
    threads: dict[UUID, int] = field(default_factory=dict)

    @property
    def shortly(self) -> str:
        """The total as pages show it."""
        return f"{MOST_SHOWN}+" if self.total > MOST_SHOWN else str(self.total)


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Add a kind of thing that waits. Registering a name again replaces it."""
    KINDS[kind.name] = kind


def act_called(name: str) -> tuple[Settling, Act] | None:
    """Return the act of this name, and how it settles what; None where no kind has one."""
    for kind in KINDS.values():
        for act in (kind.settling.yes, kind.settling.no) if kind.settling else ():
            if kind.settling and act.name == name:
                return kind.settling, act
    return None


def changed_by(event_types: Iterable[str]) -> bool:
    """Say whether events of these types may change what waits for someone."""
    stirring = {event_type for kind in KINDS.values() for event_type in kind.events}
    return not stirring.isdisjoint(event_types)


def counted(reader: Person) -> Count:
    """Return how many things wait for a person, in a number of queries that does not grow with them."""
    kinds, workspaces, threads = Counter[str](), Counter[UUID](), Counter[UUID]()
    for kind in KINDS.values():
        for tally in kind.count(reader) if not kind.for_others else ():
            kinds[kind.name] += tally.number
            workspaces[tally.workspace] += tally.number
            threads[tally.thread] += tally.number
    return Count(kinds.total(), dict(kinds), dict(workspaces), dict(threads))


def for_others(reader: Person) -> int:
    """Return how many things of a person's wait for others."""
    return sum(tally.number for kind in KINDS.values() if kind.for_others for tally in kind.count(reader))


def page_of(
    reader: Person,
    *,
    workspace: UUID | None = None,
    after: Cursor | None = None,
    count: Count | None = None,
    size: int = PAGE,
) -> Page:
    """Return a page of what waits for a person and, behind it, of theirs that waits for others.

    Args:
        workspace: only what is in this one.
        after: where the page before ended.
        count: how much waits, where that is known: a kind of which nothing does is not looked for.
        size: how many things it holds at most.
    """
    sections: list[Section] = []
    room = size
    for kind in _from(after):
        if count is not None and not (kind.for_others or count.kinds.get(kind.name)):
            continue
        place = after.place if after and after.kind == kind.name else None
        found = kind.find(reader, workspace, place, room + 1)
        sections += _section(kind, found[:room])
        if len(found) > room:
            return Page(sections, _end(sections))
        room -= len(found)
    return Page(sections, None)


def _from(after: Cursor | None) -> Sequence[Kind]:
    kinds = sorted(KINDS.values(), key=lambda kind: kind.order)
    names = [kind.name for kind in kinds]
    return kinds[names.index(after.kind) :] if after and after.kind in names else kinds


def _section(kind: Kind, waiting: list[Waiting]) -> list[Section]:
    return [Section(kind, waiting)] if waiting else []


def _end(sections: Sequence[Section]) -> Cursor:
    last = sections[-1]
    return Cursor(last.kind.name, last.waiting[-1].place)
