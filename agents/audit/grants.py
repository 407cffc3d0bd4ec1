"""The grant history of one workspace, replayed: who held what at an epoch (INV5). Pure.

It shows grants and groups. What leaves no line there it takes as it is at present: who is a superuser, and who
belongs to a group that held nothing here when they joined it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents.audit.rows import GrantRow


@dataclass(frozen=True, slots=True)
class Group:
    """A group that grants are held by, as it is at present."""

    name: str
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was decided: at an epoch of the workspace's grants, at a time (which grants may expire by)."""

    epoch: int
    at: datetime


@dataclass(slots=True)
class GrantHistory:
    """Who was given and lost what in a workspace, in order."""

    superusers: frozenset[str]
    groups: Mapping[int, Group]
    _grants: dict[tuple[str, str], dict[str | int, list[GrantRow]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """By object and codename, then by holder: an account or a group."""
    _moves: dict[tuple[str, str], list[GrantRow]] = field(default_factory=lambda: defaultdict(list))
    """By account and group name: joined or left."""

    @classmethod
    def replayed(
        cls, rows: Sequence[GrantRow], groups: Mapping[int, Group], superusers: frozenset[str]
    ) -> GrantHistory:
        """Make the history of a workspace from its lines, which are in order of their epochs."""
        history = cls(superusers, groups)
        for row in rows:
            if row.through:
                history._moves[row.account or "", row.through].append(row)
            else:
                holder = row.group or row.account or ""
                history._grants[row.object, row.codename][holder].append(row)
        return history

    def holds(self, account: str, codenames: Collection[str], objects: Collection[str], moment: Moment) -> bool:
        """Say whether an account held one of the grants on one of the objects, itself or through a group."""
        if account in self.superusers:
            return True
        held = [self._grants.get((id, codename), {}) for id in objects for codename in codenames]
        if any(_stands(holders.get(account, ()), moment) for holders in held):
            return True
        return any(
            _stands(lines, moment) and self._belongs(account, self.groups[holder], moment)
            for holders in held
            for holder, lines in holders.items()
            if isinstance(holder, int) and holder in self.groups
        )

    def _belongs(self, account: str, group: Group, moment: Moment) -> bool:
        moves = self._moves.get((account, group.name), ())
        if not moves:
            return account in group.members
        before = [move for move in moves if move.epoch <= moment.epoch]
        # Whoever's first recorded move is later was the other way round until then.
        return before[-1].given if before else not moves[0].given


def _stands(lines: Sequence[GrantRow], moment: Moment) -> bool:
    newest = next((line for line in reversed(lines) if line.epoch <= moment.epoch), None)
    if newest is None or not newest.given:
        return False
    return newest.expires_at is None or newest.expires_at > moment.at
