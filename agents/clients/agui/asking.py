"""What a run asks: the message that it posts, or the questions that it answers. It reads and writes the database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ag_ui.core import (
    ResumeEntry,
    RunAgentInput,
    RunFinishedCancelledOutcome,
    RunFinishedOutcome,
    TextPart,
    UserMessage,
)
from django.db import transaction

from agents.actions.services import IN_PERSON
from agents.clients.agui.mapping import ACTION, QUESTION, Run, interrupted, questions
from agents.models.actions import PendingAction
from agents.models.turns import Question
from collab import reads, selectors
from collab.commands import run as carried_out
from collab.errors import Invalid
from permissions.actors import Client
from permissions.errors import NotFound, Refused

LONGEST_ID = 200
MOST_ANSWERS = 50

LEFT_OUT = "A message holds text and nothing else: what else stood in it was left out."


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that has been asked for, and the seq of the log that it begins behind; ``ends`` is how it ends at once,
    where there is no turn to show."""

    run: Run
    position: int
    ends: RunFinishedOutcome | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What a run says of a question: its answer, or None to leave it unanswered."""

    question: Question
    answer: str | None


def asked(actor: Client, thread: UUID, wanted: RunAgentInput) -> Asked:
    """Post the newest message of a run, or carry out its answers, all or none of them: once, however often the run is
    sent. A run that leaves everything unanswered dismisses what is still open, and posts its newest message.

    Raises:
        NotFound: there is no such thread, question or action, or the client may not see it.
        Refused: the client may not start turns there, or answers what a person answers in person.
        Invalid: the run is of another thread, answers what it may not at once, or holds nothing to post.
        Conflict: a run of this id asked something else.
        Gone: what it answers was answered or dismissed already.
    """
    place = selectors.thread_for(actor, thread)
    if wanted.thread_id != str(thread):
        raise Invalid("threadId is not the thread of this address.")
    if not 0 < len(wanted.run_id) <= LONGEST_ID:
        raise Invalid(f"runId has 1 to {LONGEST_ID} characters.")
    entries = _entries(place.id, wanted.resume or ())
    with transaction.atomic():
        if any(entry.answer is not None for entry in entries):
            return _answered(actor, wanted, entries)
        for turn in dict.fromkeys(entry.question.turn_id for entry in entries if _is_open(entry.question)):
            carried_out(actor, "question_dismiss", _key(wanted, str(turn)), {"turn": str(turn)})
        return _posted(actor, wanted)


def _posted(actor: Client, wanted: RunAgentInput) -> Asked:
    message = wanted.messages[-1] if wanted.messages else None
    if isinstance(message, UserMessage):
        text, left_out = _text(message)
        posted = carried_out(actor, "message_post", _key(wanted, ""), {"thread": wanted.thread_id, "text": text})
        shown = Run(wanted.thread_id, wanted.run_id, message=posted["message"], left_out=left_out)
        return Asked(shown, posted["seq"] - 1, None if posted["kind"] == "message" else interrupted([]))
    if wanted.resume:
        return Asked(Run(wanted.thread_id, wanted.run_id), 0, RunFinishedCancelledOutcome())
    raise Invalid("The last of the messages is the user's: it is what is posted.")


def _answered(actor: Client, wanted: RunAgentInput, entries: Sequence[Entry]) -> Asked:
    """Answer questions of one turn; where it asked more, the run ends at once, and waits for those."""
    if len({entry.question.turn_id for entry in entries}) != 1 or any(entry.answer is None for entry in entries):
        raise Invalid("A run answers questions of one turn, and leaves none of those it names unanswered.")
    for entry in entries:
        id = str(entry.question.pk)
        carried_out(actor, "question_answer", _key(wanted, id), {"question": id, "answer": entry.answer})
    turn = entries[0].question.turn
    others = Question.objects.filter(turn=turn, answered_at=None, dismissed=False).order_by("pk")
    left = questions(reads.build(actor, [("question", id) for id in others.values_list("pk", flat=True)]))
    shown = Run(wanted.thread_id, wanted.run_id, resumes=str(turn.id))
    return Asked(shown, turn.seq, interrupted(left) if left else None)


def _entries(thread: UUID, sent: Sequence[ResumeEntry]) -> list[Entry]:
    """Read what a run says of interrupts; leaving an action to its person changes nothing, so nothing is made of it."""
    if len(sent) > MOST_ANSWERS:
        raise Invalid(f"A run answers at most {MOST_ANSWERS} interrupts.")
    if len({entry.interrupt_id for entry in sent}) < len(sent):
        raise Invalid("A run answers each interrupt once.")
    found = [_entry(thread, entry) for entry in sent]
    return [entry for entry in found if entry is not None]


def _entry(thread: UUID, sent: ResumeEntry) -> Entry | None:
    kind, id = _named(sent.interrupt_id)
    resolved = sent.status == "resolved"
    if kind == ACTION:
        if not PendingAction.objects.filter(pk=id, thread=thread).exists():
            raise NotFound
        if resolved:
            raise Refused(IN_PERSON)
        return None
    found = Question.objects.select_related("turn").defer("turn__history")
    question = found.filter(pk=id, turn__thread=thread).first()
    if question is None:
        raise NotFound
    return Entry(question, _answer(sent) if resolved else None)


def _is_open(question: Question) -> bool:
    return question.answered_at is None and not question.dismissed


def _text(message: UserMessage) -> tuple[str, str]:
    """Return a message's text, and a sentence where something else in it was left out."""
    if isinstance(message.content, str):
        return message.content, ""
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    if not texts:
        raise Invalid("The message holds no text.")
    return "\n\n".join(texts), LEFT_OUT if len(texts) < len(message.content) else ""


def _answer(entry: ResumeEntry) -> str:
    found = entry.payload.get("answer") if isinstance(entry.payload, dict) else entry.payload
    if not isinstance(found, str):
        raise Invalid("The payload of an answer is a text.")
    return found


def _named(interrupt: str) -> tuple[str, UUID]:
    kind = next((kind for kind in (QUESTION, ACTION) if interrupt.startswith(kind)), None)
    try:
        if kind is None:
            raise NotFound
        return kind, UUID(interrupt.removeprefix(kind))
    except ValueError:
        raise NotFound from None


def _key(wanted: RunAgentInput, what: str) -> str:
    """A run's id is its sender's, of any form, in one thread; its commands are the same whenever it is sent again."""
    named = "\n".join([wanted.thread_id, wanted.run_id, what])
    digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
    return f"agui:{digest[:40]}"
