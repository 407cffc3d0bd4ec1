"""The grant history of one workspace, replayed: who held what at an epoch (INV5). Pure.

It shows grants and groups. What leaves no line there it takes as it is at present: who is a superuser, and who
belongs to a group. Who joined or left one while it held nothing here left no line, so nothing is said against them.
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
    _held_by: dict[int, list[GrantRow]] = field(default_factory=lambda: defaultdict(list))
    """By group: what it was given and lost here."""

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
                if row.group:
                    history._held_by[row.group].append(row)
        return history

    def holds(self, account: str, codenames: Collection[str], objects: Collection[str], moment: Moment) -> bool:
        """Say whether an account held one of the grants on one of the objects, itself or through a group."""
        if account in self.superusers:
            return True
        held = [self._grants.get((id, codename), {}) for id in objects for codename in codenames]
        if any(_stands(holders.get(account, ()), moment) for holders in held):
            return True
        return any(
            _stands(lines, moment) and self._belongs(account, holder, moment)
            for holders in held
            for holder, lines in holders.items()
            if isinstance(holder, int) and holder in self.groups
        )

    def _belongs(self, account: str, holder: int, moment: Moment) -> bool:
        """Say whether an account was in a group. It may have been where nothing shows it: neither the move before, nor
        the one after, nor the present, for the group held nothing here meanwhile."""
        group = self.groups[holder]
        moves = self._moves.get((account, group.name), ())
        before = [move for move in moves if move.epoch <= moment.epoch]
        after = [move for move in moves if move.epoch > moment.epoch]
        if before and self._held_throughout(holder, before[-1].epoch, moment.epoch):
            return before[-1].given
        then = not after[0].given if after else account in group.members
        until = after[0].epoch if after else None
        return then or not self._held_throughout(holder, moment.epoch, until)

    def _held_throughout(self, holder: int, start: int, end: int | None) -> bool:
        """Say whether a group held a grant without an end here at every epoch from one to another, or to the last."""
        held: set[tuple[str, str]] = set()
        had_some = True
        for row in self._held_by.get(holder, ()):
            if end is not None and row.epoch > end:
                break
            if row.epoch > start:
                had_some = had_some and bool(held)
            key = (row.object, row.codename)
            (held.add if row.given and row.expires_at is None else held.discard)(key)
        return had_some and bool(held)


def _stands(lines: Sequence[GrantRow], moment: Moment) -> bool:
    newest = next((line for line in reversed(lines) if line.epoch <= moment.epoch), None)
    if newest is None or not newest.given:
        return False
    return newest.expires_at is None or newest.expires_at > moment.at
