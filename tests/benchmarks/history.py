"""Threads with a long past: as many events as a figure needs, written in bulk, their chain intact."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from itertools import islice
from uuid import UUID, uuid4

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

from agents.models.turns import Turn
from agents.turns.history import dump
from collab.canonical import content_hash
from collab.events import MessagePosted, TurnEnded, TurnStarted
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message, Thread
from permissions.actors import Actor, author_key
from permissions.ids import new_id
from tests.support.cast import Studio

EVENTS = 4
"""Events of one exchange: a message, the turn it starts, the reply, the turn's end."""

AT_ONCE = 250
"""Exchanges written in one transaction."""

ASKED = "Could you look at the plan again and tell me whether dinner for twelve still fits?"
AGO = timedelta(days=2)
"""How long ago it was: nobody's turns of today are used up."""

REPLIED = "It does. Dinner for twelve is 480, which leaves 420 of the budget for drinks and flowers."


def fill(made: Studio, thread: Thread, events: int) -> None:
    """Give a thread the past of this many events: people and the agent have talked."""
    exchanges = iter(range(events // EVENTS))
    while chunk := list(islice(exchanges, AT_ONCE)):
        with thread_locked(thread.id) as locked:
            turns, messages = zip(*(_exchange(made, locked, number) for number in chunk), strict=True)
            Turn.objects.bulk_create(turns)
            Message.objects.bulk_create([message for pair in messages for message in pair])


def _exchange(made: Studio, locked: Locked, number: int) -> tuple[Turn, tuple[Message, Message]]:
    author = (made.ana, made.ben)[number % 2].actor
    agent = made.robin.acting_for(author, made.thread)
    turn = new_id()
    asked = _message(locked, author, ASKED, taken_by=turn)
    started = TurnStarted(number=locked.row.turn_count + 1, trigger="message", took=(asked.id,))
    seq = append(locked, started, actor=agent, turn=turn)
    replied = _message(locked, agent, REPLIED, turn=turn)
    append(locked, TurnEnded(turn=turn, status="completed", message=replied.id), actor=agent, turn=turn)
    locked.change(turn_count=locked.row.turn_count + 1)
    return _turn(made, locked, author, turn, seq), (asked, replied)


def _message(
    locked: Locked, author: Actor, text: str, *, turn: UUID | None = None, taken_by: UUID | None = None
) -> Message:
    salt = uuid4().hex
    message = Message(
        id=new_id(), thread_id=locked.row.id, seq=locked.next_seq, kind="message", author=author,
        author_key=f"agent:{author.id}" if turn else author_key(author), client_id=uuid4().hex, content=text, salt=salt,
        posted_at=locked.now, turn_id=turn, taken_by=taken_by, taken_as="prompt" if taken_by else None,
    )  # fmt: skip
    event = MessagePosted(message=message.id, kind="message", content=content_hash(bytes.fromhex(salt), text))
    append(locked, event, actor=author, turn=turn)
    return message


def _turn(made: Studio, locked: Locked, author: Actor, id: UUID, seq: int) -> Turn:
    then = locked.now - AGO
    return Turn(
        id=id, thread_id=locked.row.id, number=locked.row.turn_count, seq=seq, trigger="message", origin=author,
        on_behalf_of=author, agent_id=made.robin.id, root_id=id, status="completed", lease_epoch=0, text=REPLIED,
        history=_history(), started_at=then, ended_at=then, input_tokens=400, output_tokens=20,
    )  # fmt: skip


@lru_cache
def _history() -> str:
    asked = ModelRequest(parts=[UserPromptPart(f"Ana: {ASKED}")], metadata={"input": True, "texts": [ASKED]})
    return dump([asked, ModelResponse(parts=[TextPart(REPLIED)])])
