"""The read registry: how the app above adds what viewers of a thread read (DESIGN 3). Knows no model and no app.

An *item* is the full view of one entity, as one viewer may read it: a JSON object with ``item`` (its name) and
``id``. Pages and sockets build items the same way, from the same events, so a live page equals a fresh one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol
from uuid import UUID

from collab.events import Fact, Unknown
from permissions.actors import Actor

Item = dict[str, Any]
Ref = tuple[str, UUID]
"""An entity: the name of its items, and its id."""


class EventRow(Protocol):
    """What a mapping may read of a log entry."""

    @property
    def thread_id(self) -> UUID: ...
    @property
    def seq(self) -> int: ...
    @property
    def turn_id(self) -> UUID | None: ...
    @property
    def actor(self) -> Any: ...


class Reading(Enum):
    """Who reads the same of an item."""

    SAME = "same"
    """Everyone who may see the thread."""
    PERSON = "person"
    """Everyone, but the person that an agent's event is for reads more; of another's event, each viewer may."""
    WORKSPACE = "workspace"
    """Everyone who may see the workspace; whoever may see only parts of it reads of those."""
    EACH = "each"
    """Each viewer may read something else."""


ItemsFn = Callable[[Actor | None, Sequence[UUID]], list[Item]]
"""Builds the items of these ids as a viewer reads them, in a number of queries that does not grow with the ids;
None is everyone who reads the same (:class:`Reading`): what is private to someone is left out. An id that is not there,
or that the viewer may not see, has no item. Every item is called what its builder was registered as."""

EventItemsFn = Callable[[EventRow, Any], Iterable[Ref]]
"""Says which entities an event touches, given its log entry and its fact."""

LookedUpFn = Callable[[Sequence[Any]], Sequence[Iterable[Ref]]]
"""Says which further entities each of some facts of one type touches, in a number of queries that does not grow with
them."""

StandingFn = Callable[[UUID], Iterable[Ref]]
"""Says which entities of a thread are shown whatever part of the log is read: what waits, runs or stands open."""

SnapshotFn = Callable[[UUID], dict[str, Any] | None]
"""Returns the live frame (offset 0, all text) of the turn that this process runs in a thread, or None."""


@dataclass(frozen=True, slots=True)
class Builder:
    """How the items of one name are built, and who reads the same of them."""

    fn: ItemsFn
    reading: Reading


BUILDERS: dict[str, Builder] = {}
EVENT_ITEMS: dict[str, EventItemsFn] = {}
LOOKED_UP: dict[str, LookedUpFn] = {}
STANDING: list[StandingFn] = []
SNAPSHOTS: list[SnapshotFn] = []


def register_items(name: str, fn: ItemsFn, reading: Reading = Reading.SAME) -> None:
    """Say how the items called ``name`` are built. Registering again replaces."""
    BUILDERS[name] = Builder(fn, reading)


def register_event_items(event_type: str, fn: EventItemsFn) -> None:
    """Say which entities an event of this type touches; their items travel with it. Registering again replaces."""
    EVENT_ITEMS[event_type] = fn


def register_looked_up(event_type: str, fn: LookedUpFn) -> None:
    """Say which entities events of this type touch beside those they name. Registering again replaces."""
    LOOKED_UP[event_type] = fn


def register_standing(fn: StandingFn) -> None:
    """Add entities that every page of a thread shows, however old they are."""
    if fn not in STANDING:
        STANDING.append(fn)


def register_snapshot(fn: SnapshotFn) -> None:
    """Add a way to get the whole text of a turn that runs in this process."""
    if fn not in SNAPSHOTS:
        SNAPSHOTS.append(fn)


def refs_of(entries: Sequence[tuple[EventRow, Fact | Unknown]]) -> list[list[Ref]]:
    """Return the entities that each of some events touches, each once; none for a type that nobody registered.

    Args:
        entries: log entries with their facts.
    """
    found = [list(_named(row, fact)) for row, fact in entries]
    for event_type, fn in LOOKED_UP.items():
        places = [place for place, (_, fact) in enumerate(entries) if _is_known(fact, event_type)]
        if places:
            for place, refs in zip(places, fn([entries[place][1] for place in places]), strict=True):
                found[place] += refs
    return [list(dict.fromkeys(refs)) for refs in found]


def _is_known(fact: Fact | Unknown, event_type: str) -> bool:
    """Say whether a fact is of this type, and of the shape that this code knows."""
    return fact.type == event_type and not isinstance(fact, Unknown)


def _named(row: EventRow, fact: Fact | Unknown) -> Iterable[Ref]:
    fn = EVENT_ITEMS.get(fact.type)
    return [] if fn is None or isinstance(fact, Unknown) else fn(row, fact)


def standing(thread_id: UUID) -> list[Ref]:
    """Return the entities every page of a thread shows, each once."""
    return list(dict.fromkeys(ref for fn in STANDING for ref in fn(thread_id)))


def snapshot(thread_id: UUID) -> dict[str, Any] | None:
    """Return the live frame with all text of the turn that this process runs in the thread, or None."""
    return next((frame for fn in SNAPSHOTS if (frame := fn(thread_id)) is not None), None)


def build(viewer: Actor | None, refs: Iterable[Ref]) -> list[Item]:
    """Build the items of these entities as a viewer reads them, grouped by name in the order the names first occur.

    Entities whose name nobody registered have no item.
    """
    by_name: dict[str, list[UUID]] = {}
    for name, id in dict.fromkeys(refs):
        by_name.setdefault(name, []).append(id)
    return [item for name, ids in by_name.items() if name in BUILDERS for item in BUILDERS[name].fn(viewer, ids)]
