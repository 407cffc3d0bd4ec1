"""What of this app waits for a person: open questions in threads where they may start turns (DESIGN 6), and actions
that they alone may approve (DESIGN 7)."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, F, Model, Q, QuerySet

from agents.models.actions import PendingAction
from agents.models.turns import Question, Turn
from agents.turns.ending import acting
from collab import inbox
from collab.inbox import Place, Tally, Waiting
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions import phrases
from permissions.actors import Person
from permissions.clock import AccordNow
from permissions.decisions import Action
from permissions.grants import allowed_at, names_of

EVENTS = frozenset({"turn_paused", "question_answered", "turn_ended", "thread_changed"})
"""What changes which questions are open in a thread that takes answers."""

DECIDED = frozenset({"action_asked", "action_resolved", "thread_changed"})
"""What changes which actions wait for someone."""

_PLACES: dict[str, type[Model]] = {"turn__thread__workspace": Workspace, "turn__thread": Thread}


def questions_for(reader: Person) -> QuerySet[Question]:
    """Return the open questions that a person may answer as the database stands."""
    may = allowed_at(reader, Action.VIEW, _PLACES) & allowed_at(reader, Action.START_TURN, _PLACES)
    opened = Question.objects.filter(
        answered_at=None, dismissed=False, turn__status=Turn.Status.PAUSED, turn__thread__archived_at=None
    )
    return opened.filter(may)


SETTLING = inbox.Settling(
    argument="action",
    yes=inbox.Act("approve", "action_approve", "Approve", lambda result: "Approved. It runs in a new turn for you."),
    no=inbox.Act("decline", "action_decline", "Decline", lambda result: "Declined. Nothing was done."),
    why="Why? Everyone in the thread reads it. It may stay empty.",
)


def register() -> None:
    """Add questions to the inbox."""
    inbox.register(
        inbox.Kind(name="question", order=20, heading="Asks you a question", find=_find, count=_tallies, events=EVENTS)
    )
    inbox.register(
        inbox.Kind(
            name="action", order=5, heading="To approve", find=_find_actions, count=_count_actions, events=DECIDED,
            settling=SETTLING,
        )
    )  # fmt: skip


def actions_for(reader: Person) -> QuerySet[PendingAction]:
    """Return the actions that a person may approve as the database stands."""
    may = allowed_at(reader, Action.VIEW, {"thread__workspace": Workspace, "thread": Thread})
    opened = PendingAction.objects.filter(state=PendingAction.State.OPEN, expires_at__gt=AccordNow())
    return opened.filter(may, addressee=reader, thread__archived_at=None)


def _count_actions(reader: Person) -> Iterable[Tally]:
    found = actions_for(reader).values("thread", workspace=F("thread__workspace_id"))
    return [Tally(row["workspace"], row["thread"], row["number"]) for row in found.annotate(number=Count("pk"))]


def _find_actions(reader: Person, workspace: UUID | None, after: Place | None, limit: int) -> list[Waiting]:
    found = actions_for(reader)
    if workspace is not None:
        found = found.filter(thread__workspace=workspace)
    if after is not None:
        found = found.filter(Q(asked_at__lt=after.at) | Q(asked_at=after.at, pk__lt=after.id))
    rows = found.select_related("thread", "turn").defer("turn__history").order_by("-asked_at", "-pk")[:limit]
    return [_waiting_action(row) for row in rows]


def _waiting_action(row: PendingAction) -> Waiting:
    thread = row.thread
    return Waiting(
        id=row.pk, workspace=thread.workspace_id, thread=thread.pk, thread_title=thread.title, anchor=f"a-{row.pk}",
        title=row.text[: inbox.LONGEST_TEXT], at=row.asked_at, by=acting(row.turn),
        because=f"Only you can approve or decline A{row.number}. A yes in the chat approves nothing.",
        settles=_is_whole(row), yes=_approves(len(row.steps)), until=row.expires_at,
    )  # fmt: skip


def _is_whole(row: PendingAction) -> bool:
    """Whether a list shows all of it: nobody approves what they do not see."""
    shortened = any(argument["whole"] for step in row.steps for argument in step["arguments"])
    return len(row.text) <= inbox.LONGEST_TEXT and not shortened


def _approves(steps: int) -> str:
    match steps:
        case 1:
            return "Approve"
        case 2:
            return "Approve both steps"
    return f"Approve all {steps} steps"


def _tallies(reader: Person) -> Iterable[Tally]:
    found = questions_for(reader).values(thread=F("turn__thread_id"), workspace=F("turn__thread__workspace_id"))
    return [Tally(row["workspace"], row["thread"], row["number"]) for row in found.annotate(number=Count("pk"))]


def _find(reader: Person, workspace: UUID | None, after: Place | None, limit: int) -> list[Waiting]:
    found = questions_for(reader)
    if workspace is not None:
        found = found.filter(turn__thread__workspace=workspace)
    if after is not None:
        found = found.filter(Q(asked_at__lt=after.at) | Q(asked_at=after.at, pk__lt=after.id))
    rows = list(found.select_related("turn__thread").defer("turn__history").order_by("-asked_at", "-pk")[:limit])
    names = names_of(*(acting(row.turn) for row in rows))
    return [_waiting(row, names.get(row.turn.agent_id, phrases.GONE_NAME)) for row in rows]


def _waiting(row: Question, agent: str) -> Waiting:
    thread = row.turn.thread
    return Waiting(
        id=row.pk, workspace=thread.workspace_id, thread=thread.pk, thread_title=thread.title, anchor=f"q-{row.pk}",
        title=row.text[: inbox.LONGEST_TEXT], at=row.asked_at, by=acting(row.turn),
        because=f"You can answer: {agent} waits, and then works for whoever answers.",
    )  # fmt: skip
