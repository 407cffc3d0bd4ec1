"""What a person approves, frozen: the calls with their arguments and what these name (DESIGN 7, Consent). Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agents.tools.consent import Frozen, step_hash

LONGEST_NAME = 200
"""Characters of a text that may name a document."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a call, its tool, its canonical arguments with their hash, and the version of each document named."""

    call: UUID
    tool: str
    args: str
    sha256: str
    documents: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the step as an action's row keeps it."""
        return {
            "call": str(self.call), "tool": self.tool, "args": self.args, "sha256": self.sha256,
            "documents": dict(self.documents),
        }  # fmt: skip


def frozen(calls: Sequence[tuple[UUID, str, str]], versions: Mapping[str, Iterable[tuple[UUID, int]]]) -> list[Step]:
    """Freeze calls, in order.

    Args:
        calls: each call's id, its tool, and its arguments as canonical JSON.
        versions: the id and version of each document that an argument may name, by what it is named.
    """
    return [Step(call, tool, args, step_hash(tool, args), _documents(args, versions)) for call, tool, args in calls]


def steps_hash(steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of an action's steps in their order, which the log records."""
    return hashlib.sha256("\n".join(str(step["sha256"]) for step in steps).encode()).hexdigest()


def read(step: Mapping[str, Any]) -> Frozen:
    """Return what a step that an action's row keeps is held to as it is carried out."""
    return Frozen(step["sha256"], {UUID(id): version for id, version in step["documents"].items()})


def named(args: str) -> set[str]:
    """Return what some arguments may name: each of their texts, as :func:`name` reads it."""
    return {name(text) for text in _texts(json.loads(args) if args else {}) if len(text) <= LONGEST_NAME}


def name(text: str) -> str:
    """Return a document's id or its title as tools compare it, however it was written."""
    try:
        return str(UUID(text))
    except ValueError:
        return text.strip().casefold()


def _documents(args: str, versions: Mapping[str, Iterable[tuple[UUID, int]]]) -> dict[str, int]:
    found = {id: version for one in named(args) for id, version in versions.get(one, ())}
    return {str(id): found[id] for id in sorted(found)}


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
        case str():
            yield value
