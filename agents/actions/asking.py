"""A turn's calls that wait for consent become one pending action as it ends or pauses (DESIGN 7, Consent)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from agents.actions.closing import action_closed
from agents.actions.freezing import frozen, name, named, steps_hash
from agents.actions.questions import Worded, step_worded, worded
from agents.models.actions import PendingAction
from agents.models.sources import Delivery
from agents.models.turns import Call, Turn
from agents.sources.handlers import read_body
from agents.sources.handling import Unreadable
from agents.tools import consent
from agents.tools.registry import ASKS, label_of
from agents.turns.ending import acting
from collab.events import ActionAsked
from collab.log import Locked, append
from collab.models.documents import Document
from collab.models.threads import Message
from permissions import phrases
from permissions.actors import Source, System
from permissions.grants import names_of

STANDS = timedelta(minutes=10)
"""How long an action may be approved, and, once it is, how long its turn may wait for the thread."""


def action_asked(locked: Locked, turn: Turn, calls: Sequence[Call]) -> PendingAction | None:
    """Ask for consent to calls, in the transaction that ends or pauses their turn; an open action for the same subject
    is superseded. Nothing is asked where there are no calls."""
    addressee = consent.addressee(turn.origin, turn.principal)
    if not calls or addressee is None:
        return None
    number = PendingAction.objects.filter(thread_id=turn.thread_id).count() + 1
    wording = [step_worded(label_of(call.called_as), call.args, ASKS.get(call.called_as, "")) for call in calls]
    parts = frozen([(call.pk, call.called_as, call.args) for call in calls], _versions(locked, calls))
    steps = [step.as_json() | said.as_json() for step, said in zip(parts, wording, strict=True)]
    subject = _subject(turn)
    action = PendingAction(
        thread_id=turn.thread_id, number=number, seq=locked.next_seq, turn=turn, steps=steps, subject=subject,
        origin=turn.origin, addressee=addressee, text=_text(turn, number, wording), asked_at=locked.now,
        expires_at=locked.now + STANDS,
    )  # fmt: skip
    append(locked, ActionAsked(action.pk, number, steps_hash(steps)), actor=acting(turn), turn=turn.id)
    older = PendingAction.objects.filter(thread_id=turn.thread_id, state="open", subject=subject) if subject else ()
    for one in older:
        because = f"A{number} asks about the same, later."
        action_closed(locked, one, state="superseded", by=System(), because=because)
    action.save(force_insert=True)
    return action


def _text(turn: Turn, number: int, wording: Sequence[Worded]) -> str:
    asks = phrases.told(turn.origin, names_of(turn.origin))
    return worded(number, asks, wording, int(STANDS.total_seconds()) // 60)


def _versions(locked: Locked, calls: Sequence[Call]) -> Mapping[str, list[tuple[UUID, int]]]:
    """Return the documents that calls name, by their id or their title: tools take both."""
    names = {one for call in calls for one in named(call.args)}
    found: dict[str, list[tuple[UUID, int]]] = defaultdict(list)
    documents = Document.objects.filter(workspace_id=locked.row.workspace_id) if names else Document.objects.none()
    for id, title, version in documents.values_list("pk", "title", "version"):
        for one in {str(id), name(title)} & names:
            found[one].append((id, version))
    return found


def _subject(turn: Turn) -> str:
    """What the delivery was about that the turn began with, by its source; nothing where it did not begin so."""
    if not isinstance(turn.origin, Source):
        return ""
    taken = Message.objects.filter(taken_by__in=Turn.objects.filter(root_id=turn.root_id).values("pk"))
    found = Delivery.objects.filter(message_id__in=taken.values("pk")).select_related("source").first()
    if found is None:
        return ""
    try:
        subjects = read_body(found.source.handler, bytes(found.body)).subjects
    except Unreadable:
        return ""
    return f"{turn.origin.id}:{subjects[0]}"[:200] if subjects else ""
