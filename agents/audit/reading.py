"""Reading what the audit judges, a stretch of a log at a time, straight from the tables and as of one moment."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group as GroupTable
from django.db import connection
from django.db.models import (
    BooleanField,
    CharField,
    Count,
    ExpressionWrapper,
    F,
    Field,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Cast, Coalesce

from agents.audit.grants import GrantHistory, Group
from agents.audit.proposed import Accepted, faults
from agents.audit.rows import (
    AcceptedRow,
    CallRow,
    DelegationRow,
    EventRow,
    GrantRow,
    MessageRow,
    ProposalRow,
    QuestionRow,
    RevisionRow,
    Rows,
    ThreadRow,
    TurnRow,
)
from agents.audit.state import State
from agents.models.turns import Call, Question, Turn
from collab.models.delegations import Delegation
from collab.models.documents import Revision
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message, Thread
from permissions.clock import AccordNow
from permissions.models import GrantChange, User

STRETCH = 500
"""Events that are in memory at once, with the rows they name."""

AT_ONCE = 1_000
"""Ids in one statement."""

DOCUMENTS = 10
"""Accepted proposals that are in memory at once, each with the document before and after."""


@contextmanager
def snapshot() -> Iterator[None]:
    """Read everything in the block as of one moment while others go on writing; inside a transaction, as of that."""
    if connection.in_atomic_block:
        yield
        return
    # Not transaction.atomic(): on SQLite that begins as a writer and holds up every other one.
    kind = "ISOLATION LEVEL REPEATABLE READ READ ONLY" if connection.vendor == "postgresql" else "DEFERRED"
    with connection.cursor() as cursor:
        cursor.execute(f"BEGIN {kind}")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def threads() -> Iterator[ThreadRow]:
    """Read every thread, those of one workspace together."""
    rows = Thread.objects.annotate(
        now=AccordNow(),
        messages_kept=_count(Message.objects.filter(thread=OuterRef("pk")), "thread"),
        turns_kept=_count(Turn.objects.filter(thread=OuterRef("pk")), "thread"),
        calls_kept=_count(Call.objects.filter(turn__thread=OuterRef("pk")), "turn__thread"),
        shared_kept=_count(Call.objects.filter(turn__thread=OuterRef("pk"), shared_at__isnull=False), "turn__thread"),
        proposals_kept=_count(Proposal.objects.filter(thread=OuterRef("pk")), "thread"),
        revisions_kept=_count(Revision.objects.filter(thread=OuterRef("pk")), "thread"),
        epoch=F("workspace__grants_epoch"),
    )
    for row in rows.order_by("workspace_id", "id").values().iterator(chunk_size=STRETCH):
        held = row["lease_until"] is not None and row["lease_until"] > row["now"]
        yield ThreadRow(
            id=str(row["id"]), workspace=str(row["workspace_id"]), head_seq=row["head_seq"],
            head_hash=row["head_hash"], workspace_epoch=row["epoch"], now=row["now"],
            is_idle=row["agent_id"] is not None and row["archived_at"] is None and not held,
            counts={
                "messages": row["messages_kept"], "turns": row["turns_kept"], "calls": row["calls_kept"],
                "shared calls": row["shared_kept"], "proposals": row["proposals_kept"],
                "revisions": row["revisions_kept"],
            },
        )  # fmt: skip


def stretches(thread: ThreadRow) -> Iterator[Sequence[EventRow]]:
    """Read a thread's log in order, a stretch at a time."""
    after = -1
    while stretch := [EventRow(*row) for row in _events(thread.id, after)]:
        yield stretch
        after = stretch[-1].seq


def head(thread: str, seq: int) -> str | None:
    """Return the hash of one event of a thread; None where there is none."""
    return Event.objects.filter(thread_id=UUID(thread), seq=seq).values_list("hash", flat=True).first()


def rows_named(thread: ThreadRow, events: Iterable[EventRow]) -> Rows:
    """Read the rows that a stretch of a thread's log names."""
    named: dict[str, set[str]] = {"message": set(), "turn": set(), "call": set(), "question": set(), "proposal": set()}
    accepted: set[str] = set()
    documents: list[tuple[str, int]] = []
    over: set[str] = set()
    delegates = False
    for event in events:
        delegates |= event.one("what") == "delegation"
        named["message"] |= {event.one("message"), *event.taken}
        named["turn"] |= {event.turn or "", *map(event.one, ("continues", "restarts", "revises"))}
        named["call"].add(event.one("call"))
        named["question"] |= set(event.many("questions"))
        named["proposal"].add(event.one("proposal"))
        accepted |= {event.one("proposal")} if event.one("state") == "accepted" else set()
        over |= {event.turn or ""} if event.type == "turn_ended" else set()
        documents += [(event.one("document"), event.version)] if event.one("document") else []
    return Rows(
        messages=_messages(named["message"]),
        turns=_turns(named["turn"]),
        calls=_calls(named["call"]),
        questions={**_questions(named["question"], "pk"), **_questions(over, "turn")},
        proposals=_proposals(named["proposal"]),
        accepted=_accepted(accepted),
        revisions=_revisions(thread.id, documents),
        delegations=_delegations(thread.id) if delegates else {},
    )


def rows_open(state: State) -> Rows:
    """Read the rows of everything that is open where a thread's log ends."""
    waiting = [message.id for message in state.waiting]
    return Rows(messages=_messages(waiting), turns=_turns(state.turns), proposals=_proposals(state.proposals))


def history(workspace: str) -> GrantHistory:
    """Read the grant history of a workspace."""
    columns = ("epoch", "account_id", "group_id", "codename", "given", "through", "object_id", "expires_at")
    changes = GrantChange.objects.filter(scope_id=workspace).order_by("epoch", "at", "id")
    lines = [GrantRow(*row) for row in _plain(changes.values_list(*columns))]
    found = GroupTable.objects.filter(pk__in={line.group for line in lines if line.group})
    groups = {group.pk: Group(group.name, _ids(User.objects.filter(groups=group))) for group in found}
    return GrantHistory.replayed(lines, groups, _ids(User.objects.filter(is_superuser=True)))


def _count(rows: QuerySet[Any], by: str) -> Coalesce:
    counted = rows.order_by().values(by).annotate(kept=Count("pk")).values("kept")
    return Coalesce(Subquery(counted), 0)


def _actor(column: str) -> Cast:
    """The line an actor is kept as, not what the code makes of it."""
    return Cast(column, CharField())


def _events(thread: str, after: int) -> list[tuple[Any, ...]]:
    columns = (
        "seq",
        "type",
        _actor("actor"),
        "turn_id",
        "lease_epoch",
        "grants_epoch",
        "data",
        "at",
        "prev_hash",
        "hash",
    )
    rows = Event.objects.filter(thread_id=UUID(thread), seq__gt=after).order_by("seq")
    return [(*row, _data(row[columns.index("data")])) for row in _plain(rows.values_list(*columns)[:STRETCH])]


def _data(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _messages(ids: Iterable[str]) -> dict[str, MessageRow]:
    columns = (
        "id", "seq", "kind", _actor("author"), "content", "salt", "turn_id", "waits", "taken_by", "taken_as",
        _is_set("passed_over"), _is_set("cancelled_at"), "posted_at", _is_set("held_at"),
    )  # fmt: skip
    return {row[0]: MessageRow(*row) for row in _by(Message.objects.all(), ids, columns)}


def _turns(ids: Iterable[str]) -> dict[str, TurnRow]:
    columns = ("id", "number", "seq", _actor("on_behalf_of"), _actor("origin"), "status", "lease_epoch")
    return {row[0]: TurnRow(*row) for row in _by(Turn.objects.all(), ids, columns)}


def _calls(ids: Iterable[str]) -> dict[str, CallRow]:
    columns = (
        "id", "turn_id", "outcome", _is_set("question"), _actor("turn__on_behalf_of"), _actor("shared_by"),
        "moved_from",
    )  # fmt: skip
    return {row[0]: CallRow(*row) for row in _by(Call.objects.all(), ids, columns)}


def _questions(ids: Iterable[str], path: str) -> dict[str, QuestionRow]:
    columns = ("id", "turn_id", _actor("answered_by"), "dismissed")
    return {row[0]: QuestionRow(*row) for row in _by(Question.objects.all(), ids, columns, path)}


def _proposals(ids: Iterable[str]) -> dict[str, ProposalRow]:
    columns = ("id", "seq", "document_id", _actor("proposer"), "state", _actor("resolver"))
    return {row[0]: ProposalRow(*row) for row in _by(Proposal.objects.all(), ids, columns)}


def _accepted(ids: Iterable[str]) -> dict[str, AcceptedRow]:
    columns = (
        "proposal__change", "proposal__edits", "proposal__resolver_edits", "proposal__base_data", "proposal__title",
        "proposal__data", _before("title", CharField()), _before("data", JSONField()), "patch", "title", "data",
    )  # fmt: skip
    made = Revision.objects.filter(proposal__in=filter(_is_id, ids)).values_list("proposal_id", "version", *columns)
    rows = made.iterator(chunk_size=DOCUMENTS)
    return {str(id): AcceptedRow(version, faults(Accepted(*values))) for id, version, *values in rows}


def _before(column: str, kind: Field[Any, Any]) -> Subquery:
    """A column of the version before a revision."""
    earlier = Revision.objects.filter(document=OuterRef("document"), version=OuterRef("version") - 1)
    return Subquery(earlier.values(column), output_field=kind)


def _revisions(thread: str, named: Collection[tuple[str, int]]) -> dict[tuple[str, int], RevisionRow]:
    made = Revision.objects.filter(thread_id=UUID(thread), version__in={version for _, version in named})
    columns = ("document_id", "version", _actor("actor"), "turn_id")
    return {row[:2]: RevisionRow(*row) for row in _by(made, {document for document, _ in named}, columns, "document")}


def _delegations(thread: str) -> dict[tuple[datetime, str], DelegationRow]:
    columns = ("agent_id", "level", "until", _actor("given_by"), "given_at", _actor("ended_by"))
    made = Delegation.objects.filter(thread_id=UUID(thread)).order_by("given_at", "pk")
    rows = (DelegationRow(*row) for row in _plain(made.values_list(*columns)))
    return {(row.given_at, row.level): row for row in rows}


def _by(rows: QuerySet[Any], ids: Iterable[str], columns: Sequence[Any], path: str = "pk") -> Iterator[tuple[Any, ...]]:
    """Read some columns of the rows with these ids, some ids at a time; an id that is none names nothing."""
    wanted = sorted(filter(_is_id, ids))
    for start in range(0, len(wanted), AT_ONCE):
        found = rows.filter(**{f"{path}__in": wanted[start : start + AT_ONCE]})
        yield from _plain(found.values_list(*columns))


def _plain(rows: QuerySet[Any, Any]) -> list[tuple[Any, ...]]:
    return [tuple(str(value) if isinstance(value, UUID) else value for value in row) for row in rows]


def _is_set(column: str) -> ExpressionWrapper[Q]:
    return ExpressionWrapper(Q(**{f"{column}__isnull": False}), output_field=BooleanField())


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _ids(users: QuerySet[User]) -> frozenset[str]:
    return frozenset(map(str, users.values_list("pk", flat=True)))
