"""What a person approves, frozen: the calls with their arguments and what these name (DESIGN 7, Consent). Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agents.tools.consent import Frozen, step_hash


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


def frozen(calls: Sequence[tuple[UUID, str, str]], versions: Mapping[str, int]) -> list[Step]:
    """Freeze calls, in order.

    Args:
        calls: each call's id, its tool, and its arguments as canonical JSON.
        versions: the version of each document that an argument may name, by its id.
    """
    return [
        Step(
            call, tool, args, step_hash(tool, args),
            {value: versions[value] for value in sorted(set(named(args))) if value in versions},
        )
        for call, tool, args in calls
    ]  # fmt: skip


def steps_hash(steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of an action's steps in their order, which the log records."""
    return hashlib.sha256("\n".join(str(step["sha256"]) for step in steps).encode()).hexdigest()


def read(step: Mapping[str, Any]) -> Frozen:
    """Return what a step that an action's row keeps is held to as it is carried out."""
    return Frozen(step["sha256"], {UUID(id): version for id, version in step["documents"].items()})


def named(args: str) -> Iterator[str]:
    """Return the texts among some arguments that are the id of something."""
    return _ids(json.loads(args) if args else {})


def _ids(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for part in value.values():
                yield from _ids(part)
        case list():
            for part in value:
                yield from _ids(part)
        case str() if len(value) == 36:
            try:
                yield str(UUID(value))
            except ValueError:
                return
