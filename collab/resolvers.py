"""Who else could accept a proposal at present: what its card and the inbox say in advance (DESIGN 5, may_resolve)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.workspaces import Workspace
from permissions import phrases
from permissions.actors import Actor, Person, person
from permissions.decisions import Action, Facts, Level, decide
from permissions.grants import readable
from permissions.holders import Standings, people_holding
from permissions.resolving import may_resolve
from permissions.roles import REVIEW_DOCUMENT

MOST_NAMES = 3
"""Names given, at most."""

_NEEDED = (Action.VIEW, Action.REVIEW_DOCUMENT, Action.CHANGE_DOCUMENT)


@dataclass(frozen=True, slots=True)
class WhoElse:
    """Whether there is someone else who can accept a proposal at present, and the sentence that says who, or that there
    is nobody."""

    anyone: bool
    sentence: str


def who_else(reader: Actor, proposals: Sequence[Proposal]) -> dict[UUID, WhoElse]:
    """Return, for open proposals that their reader may not accept, who can at present.

    Three queries, however many proposals there are. A person is named when they could accept it in person: they are not
    its proposer, and hold what accepting needs on the document and the thread. Who was let into only a part of the
    workspace is told no names.

    Args:
        proposals: loaded with their document, thread and workspace.
    """
    if not proposals:
        return {}
    workspaces = Workspace.objects.filter(pk__in={row.workspace_id for row in proposals})
    whole = set(readable(workspaces, reader).values_list("pk", flat=True))
    places = {place.pk: place for row in proposals for place in (_target(row), row.thread)}
    standings = people_holding(REVIEW_DOCUMENT, list(places.values()))
    return {row.id: _found(reader, row, standings, names=row.workspace_id in whole) for row in proposals}


def _found(reader: Actor, row: Proposal, standings: Mapping[UUID, Standings], *, names: bool) -> WhoElse:
    target = _target(row)
    able = list(_able(reader, row, standings[target.pk], standings[row.thread_id]))
    if not able:
        return WhoElse(anyone=False, sentence=phrases.nobody_can_accept(target.guarded_name))
    if not names:
        return WhoElse(anyone=True, sentence=phrases.SOMEONE_CAN)
    return WhoElse(anyone=True, sentence=phrases.others_can(able[:MOST_NAMES], more=len(able) > MOST_NAMES))


def _able(reader: Actor, row: Proposal, on_target: Standings, on_thread: Standings) -> Iterator[str]:
    facts, in_thread = Facts("", on_target), Facts("", on_thread)
    for account, standing in on_target.items():
        candidate = Person(account)
        if candidate == person(reader) or not may_resolve(candidate, row.proposer, {}).allowed:
            continue
        rights = [decide(candidate, action, facts) for action in _NEEDED]
        if all(right.level is Level.ALLOW for right in (*rights, decide(candidate, Action.VIEW, in_thread))):
            yield standing.name


def _target(row: Proposal) -> Document | Workspace:
    return row.document or row.workspace
