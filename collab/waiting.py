"""The proposals that wait for a person, and those of theirs that wait for others (DESIGN 5 and 11).

A list follows the rule of the single check: what is in it is what :func:`collab.services.proposals.acceptance` lets
this person accept, in a thread and of a document they may view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet

from collab import inbox
from collab.gists import gist
from collab.inbox import Place, Tally, Waiting
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from collab.resolvers import who_else
from permissions import phrases
from permissions.actors import Actor, Person, chain
from permissions.decisions import Action
from permissions.grants import allowed_at, names_of
from permissions.resolvable import not_resolved_by, proposed_for
from permissions.resolving import may_resolve

EVENTS = frozenset({"proposal_created", "proposal_resolved", "thread_changed"})
"""What changes which proposals are open in a thread that takes changes."""

VERBS = {"create": "Create", "edit": "Change", "archive": "Archive"}

# The workspace first: most rights are held there, and a database stops at the first that is.
_THREAD: dict[str, type[Model]] = {"workspace": Workspace, "thread": Thread}
_TARGET: dict[str, type[Model]] = {"workspace": Workspace, "document": Document}


def proposals_for(reader: Person) -> QuerySet[Proposal]:
    """Return the open proposals that a person may accept or reject as the database stands."""
    return _open(reader).filter(_may_accept(reader)).exclude(not_resolved_by(reader, "proposer"))


def proposals_of(reader: Person) -> QuerySet[Proposal]:
    """Return the open proposals that a person made, or that were made for them, and that they may not accept."""
    theirs = _open(reader).filter(proposed_for(reader, "proposer"))
    return theirs.filter(not_resolved_by(reader, "proposer") | ~_may_accept(reader))


def workspaces_seen(reader: Person) -> list[UUID]:
    """Return the workspaces that a person may view, whole or a thread of: where something may wait for them."""
    whole = allowed_at(reader, Action.VIEW, {"pk": Workspace})
    parts = Thread.objects.filter(allowed_at(reader, Action.VIEW, {"pk": Thread})).values("workspace_id")
    return list(Workspace.objects.filter(whole | Q(pk__in=parts)).values_list("pk", flat=True))


SETTLING = inbox.Settling(
    argument="proposal",
    yes=inbox.Act("accept", "proposal_accept", "Accept", lambda result: f"Accepted. {result['summary']}"),
    no=inbox.Act("reject", "proposal_reject", "Reject", lambda result: "Rejected. Nothing was changed."),
    why="Why? The proposer reads it.",
)


def register() -> None:
    """Add proposals to the inbox."""
    inbox.register(
        inbox.Kind(
            name="proposal", order=30, heading="You can accept", find=_for_reader, count=_for, events=EVENTS,
            settling=SETTLING,
        )
    )  # fmt: skip
    inbox.register(
        inbox.Kind(
            name="own", order=90, heading="Yours, waiting for someone else", find=_of_reader, count=_of,
            for_others=True, events=EVENTS,
        )
    )  # fmt: skip


def _may_accept(reader: Person) -> Q:
    """Return the condition that a person may review proposals on what one changes, and change it."""
    needed = (Action.REVIEW_DOCUMENT, Action.CHANGE_DOCUMENT)
    review, change = (allowed_at(reader, action, _TARGET) for action in needed)
    return review & change


def _open(reader: Person) -> QuerySet[Proposal]:
    """Return the open proposals in threads that take changes, as far as a person may view thread and document."""
    seen = allowed_at(reader, Action.VIEW, _THREAD)
    document_seen = Q(document=None) | allowed_at(reader, Action.VIEW, _TARGET)
    opened = Proposal.objects.filter(state=Proposal.State.OPEN, thread__archived_at=None)
    return opened.filter(seen, document_seen)


def _for(reader: Person) -> Iterable[Tally]:
    return _tallies(proposals_for(reader))


def _of(reader: Person) -> Iterable[Tally]:
    return _tallies(proposals_of(reader))


def _tallies(proposals: QuerySet[Proposal]) -> Iterable[Tally]:
    found = proposals.values("workspace_id", "thread_id").annotate(number=Count("pk"))
    return [Tally(row["workspace_id"], row["thread_id"], row["number"]) for row in found]


def _for_reader(reader: Person, workspace: UUID | None, after: Place | None, limit: int) -> list[Waiting]:
    rows = _page(proposals_for(reader), workspace, after, limit)
    names = names_of(reader, *{row.proposer for row in rows})
    told = {proposer: may_resolve(reader, proposer, names).to_responder for proposer in {row.proposer for row in rows}}
    return [_waiting(row, told[row.proposer], settles=True) for row in rows]


def _of_reader(reader: Person, workspace: UUID | None, after: Place | None, limit: int) -> list[Waiting]:
    rows = _page(proposals_of(reader), workspace, after, limit)
    names = {**names_of(*{row.proposer for row in rows}), reader.id: "you"}
    others = who_else(reader, rows)
    return [_waiting(row, f"{_another_must(row.proposer, names)} {others[row.pk].sentence}") for row in rows]


def _page(proposals: QuerySet[Proposal], workspace: UUID | None, after: Place | None, limit: int) -> Sequence[Proposal]:
    if workspace is not None:
        proposals = proposals.filter(workspace=workspace)
    if after is not None:
        proposals = proposals.filter(
            Q(proposed_at__lt=after.at) | Q(proposed_at=after.at, pk__lt=after.id), proposed_at__lte=after.at
        )
    # What a document would be is long and not shown here.
    own = ("change", "title", "edits", "rationale", "proposer", "proposed_at")
    places = ("workspace__name", "thread__workspace", "thread__title", "document__workspace", "document__title")
    rows = proposals.select_related("workspace", "thread", "document").only(*own, *places)
    return list(rows.order_by("-proposed_at", "-pk")[:limit])


def _waiting(row: Proposal, because: str, *, settles: bool = False) -> Waiting:
    return Waiting(
        id=row.pk, workspace=row.workspace_id, thread=row.thread_id, thread_title=row.thread.title,
        anchor=f"p-{row.pk}", title=_title(row), text=row.rationale[: inbox.LONGEST_TEXT],
        at=row.proposed_at, by=row.proposer, because=because, settles=settles,
    )  # fmt: skip


def _title(row: Proposal) -> str:
    """Say what it would do: two changes to one document are told apart by it."""
    told = gist(row.edits)
    return f"{VERBS[row.change]} {row.title}{f': {told}' if told else ''}"


def _another_must(proposer: Actor, names: Mapping[UUID, str]) -> str:
    """Say who proposed it and that someone else must accept it."""
    told = phrases.proposed([phrases.party_name(party, names) for party in chain(proposer)])
    return phrases.another_must_accept(f"{told[:1].upper()}{told[1:]}")
