"""What a run asks: the message that it posts, or the questions that it answers. It reads and writes the database."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from uuid import UUID

from ag_ui.core import ResumeEntry, RunAgentInput, TextPart, UserMessage

from agents.clients.agui.mapping import ACTION, QUESTION, Run
from agents.models.turns import Question
from collab import selectors
from collab.commands import run as carried_out
from collab.errors import Invalid
from permissions.actors import Client
from permissions.errors import NotFound

LONGEST_ID = 200
MOST_ANSWERS = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that has been asked for, and the seq of the log that it begins behind; without a run there is no turn."""

    run: Run
    position: int
    waits: bool


def asked(actor: Client, thread: UUID, wanted: RunAgentInput) -> Asked:
    """Post the newest message of a run, or carry out its answers: once, however often the run is sent.

    Raises:
        NotFound: there is no such thread or question, or the client may not see it.
        Refused: the client may not start turns there, or answers what a person answers in person.
        Invalid: the run is of another thread, or holds nothing to post.
        Conflict: a run of this id asked something else.
    """
    place = selectors.thread_for(actor, thread)
    if wanted.thread_id != str(thread):
        raise Invalid("threadId is not the thread of this address.")
    if not 0 < len(wanted.run_id) <= LONGEST_ID:
        raise Invalid(f"runId has 1 to {LONGEST_ID} characters.")
    if wanted.resume:
        return _resumed(actor, thread, wanted, wanted.resume)
    body = {"thread": str(thread), "text": _text(wanted)}
    posted = carried_out(actor, "message_post", _key(wanted, ""), body)
    shown = Run(str(place.id), wanted.run_id, message=posted["message"])
    return Asked(shown, posted["seq"] - 1, posted["kind"] == "message")


def _resumed(actor: Client, thread: UUID, wanted: RunAgentInput, entries: list[ResumeEntry]) -> Asked:
    if len(entries) > MOST_ANSWERS:
        raise Invalid(f"A run answers at most {MOST_ANSWERS} interrupts.")
    questions = [_resolved(actor, thread, wanted, entry) for entry in entries]
    turns = {question.turn_id for question in questions}
    if len(turns) != 1:
        raise Invalid("A run answers the questions of one turn.")
    turn = questions[0].turn
    return Asked(Run(str(thread), wanted.run_id, resumes=str(turn.id)), turn.seq, waits=_goes_on(questions))


def _resolved(actor: Client, thread: UUID, wanted: RunAgentInput, entry: ResumeEntry) -> Question:
    kind, id = _named(entry.interrupt_id)
    if kind == ACTION:
        # Carried out as anyone's, so that the rule that people approve in person says what it says everywhere.
        name = "action_approve" if entry.status == "resolved" else "action_decline"
        carried_out(actor, name, _key(wanted, str(id)), {"action": str(id)})
    question = Question.objects.select_related("turn").filter(pk=id, turn__thread=thread).first()
    if question is None:
        raise NotFound
    if entry.status == "cancelled":
        carried_out(actor, "question_dismiss", _key(wanted, str(id)), {"turn": str(question.turn_id)})
    else:
        answer = {"question": str(id), "answer": _answer(entry)}
        carried_out(actor, "question_answer", _key(wanted, str(id)), answer)
    return question


def _goes_on(questions: list[Question]) -> bool:
    """A turn goes on once all that it asked has an answer."""
    of_turn = Question.objects.filter(turn=questions[0].turn_id)
    return not of_turn.filter(answered_at=None).exists() and not of_turn.filter(dismissed=True).exists()


def _text(wanted: RunAgentInput) -> str:
    message = wanted.messages[-1] if wanted.messages else None
    if not isinstance(message, UserMessage):
        raise Invalid("The last of the messages is the user's: it is what is posted.")
    if isinstance(message.content, str):
        return message.content
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    if len(texts) < len(message.content):
        raise Invalid("A message holds text and nothing else.")
    return "\n\n".join(texts)


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
    """A run's id is its sender's, of any form; its commands are the same commands whenever it is sent again."""
    digest = hashlib.sha256("\n".join([wanted.run_id, what]).encode("utf-8", "surrogatepass")).hexdigest()
    return f"agui:{digest[:40]}"
