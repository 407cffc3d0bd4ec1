"""The history of grants, replayed: who held what at a moment (DESIGN 5, FAILURES INV5). Pure.

A scope's lines are in the order of its epochs. A group's lines of several scopes are in the order of their times, which
is the order they were written in: whoever changes a group or its grants holds the group's row.

Who joined and who left leaves a line only while the group holds a grant somewhere. So whether someone belonged is known
where the group held one all the way from their last recorded move, or to their next one, or to the present.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from permissions.decisions import Held
from permissions.why import Kept

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was decided: by a scope's epoch, or where that is 0, by time. What expires does so by ``at``."""

    at: datetime
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of the history. ``through`` is the group that the account joined or left; ``group`` is a holder's id."""

    scope: UUID
    epoch: int
    at: datetime
    object: UUID
    codename: str
    given: bool
    expires_at: datetime | None = None
    account: UUID | None = None
    group: int | None = None
    through: str = ""


@dataclass(frozen=True, slots=True)
class Team:
    """A group as it is at present."""

    id: int
    name: str
    members: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Belonged:
    """Whether an account was in a group at a moment; ``known`` is False where no line can show it."""

    was: bool
    known: bool = True


@dataclass(frozen=True, slots=True)
class History:
    """What is needed of the history to say what some accounts held on one object.

    Attributes:
        scope: the object's scope; ``object`` may be the same.
        lines: oldest first: what was given and taken on either; all that the groups among those holders held anywhere;
            all moves of the accounts.
        teams: the groups there are, by id.
        now: the moment up to which the lines reach.
    """

    object: UUID
    scope: UUID
    lines: Sequence[Recorded]
    teams: Mapping[int, Team]
    now: datetime

    def kept(self, account: UUID, moment: Moment) -> list[Kept]:
        """Return the grants an account held on the object and its scope, itself and through groups; expired ones say
        so."""
        return [
            Kept(Held(line.codename, on_scope=line.object != self.object, through=self._through(line)), line.expires_at,
                 stands=_unexpired(line, moment.at))
            for line in self._newest(moment)
            if line.account == account or (line.group is not None and self.belonged(account, line.group, moment).was)
        ]  # fmt: skip

    def unsure(self, account: UUID, moment: Moment) -> list[str]:
        """Return the names of the groups that held something and of which nobody can say whether the account was in."""
        held = {line.group for line in self._newest(moment) if line.group is not None and _unexpired(line, moment.at)}
        return sorted(
            self.teams[group].name
            for group in held
            if group in self.teams and not self.belonged(account, group, moment).known
        )

    def belonged(self, account: UUID, group: int, moment: Moment) -> Belonged:
        """Say whether an account was in a group."""
        team = self.teams.get(group)
        if team is None:
            return Belonged(was=False, known=False)
        moves = [line for line in self.lines if line.account == account and line.through == team.name]
        before = [move for move in moves if self._was(move, moment)]
        after = [move for move in moves if not self._was(move, moment)]
        if before and self._held_throughout(group, before[-1].at, moment.at):
            return Belonged(before[-1].given)
        if self._renamed(account):
            return Belonged(account in team.members, known=False)
        until = after[0].at if after else self.now
        then = not after[0].given if after else account in team.members
        return Belonged(then, known=self._held_throughout(group, moment.at, until))

    def _newest(self, moment: Moment) -> list[Recorded]:
        """The last line of each grant on the object and its scope, where it was given."""
        newest: dict[object, Recorded] = {}
        for line in sorted(self.lines, key=lambda line: line.epoch):
            if line.object in {self.object, self.scope} and not line.through and self._was(line, moment):
                newest[line.object, line.codename, line.account, line.group] = line
        return [line for line in newest.values() if line.given]

    def _was(self, line: Recorded, moment: Moment) -> bool:
        if moment.epoch and line.scope == self.scope:
            return line.epoch <= moment.epoch
        return line.at <= moment.at

    def _through(self, line: Recorded) -> str:
        team = self.teams.get(line.group) if line.group is not None else None
        return team.name if team else ""

    def _renamed(self, account: UUID) -> bool:
        """A group's new name hides the moves that were recorded under its old one."""
        names = {team.name for team in self.teams.values()}
        return any(line.through and line.through not in names for line in self.lines if line.account == account)

    def _held_throughout(self, group: int, start: datetime, end: datetime) -> bool:
        lines = [line for line in self.lines if line.group == group]
        return all(covered >= until for covered, until in _stretches(lines, start, max(start, end)))


def _stretches(lines: Sequence[Recorded], start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield, for each stretch without a change, until when the longest of the grants stands, and when it ends."""
    standing: dict[object, datetime] = {}
    since = start
    for line in lines:
        if line.at > end:
            break
        if line.at > since:
            yield max(standing.values(), default=since), line.at
            since = line.at
        key = (line.scope, line.object, line.codename)
        if line.given:
            standing[key] = line.expires_at or NEVER
        else:
            standing.pop(key, None)
    yield max(standing.values(), default=datetime.min.replace(tzinfo=UTC)), end


def _unexpired(line: Recorded, at: datetime) -> bool:
    return line.expires_at is None or line.expires_at > at
