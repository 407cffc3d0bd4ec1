"""Threads with a long past: as many events as a figure needs, written in bulk, their chain intact."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from secrets import token_hex
from typing import Any
from uuid import UUID

from django.db import connection
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

from agents.models.turns import Turn
from agents.turns.history import dump
from collab.canonical import content_hash
from collab.events import MessagePosted, TurnEnded, TurnStarted
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message, Thread
from collab.models.workspaces import Workspace
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
    epoch = Workspace.objects.values_list("grants_epoch", flat=True).get(pk=made.workspace.id)
    exchanges = iter(range(events // EVENTS))
    while chunk := list(islice(exchanges, AT_ONCE)):
        with thread_locked(thread.id) as locked:
            past = _Past(made, locked, epoch)
            for number in chunk:
                past.exchange(number)
            Turn.objects.bulk_create(past.turns)
            Message.objects.bulk_create(past.messages)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # what its own autovacuum has done to a thread that grew in months


@dataclass(slots=True)
class _Past:
    """What is written in one transaction, as the services would have written it."""

    made: Studio
    locked: Locked
    grants_epoch: int
    turns: list[Turn] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def exchange(self, number: int) -> None:
        """A person asks, and a turn answers."""
        row, turn = self.locked.row, new_id()
        author = (self.made.ana, self.made.ben)[number % 2].actor
        agent = self.made.robin.acting_for(author, row)
        asked = self._message(author, f"{ASKED} ({number})", taken_by=turn, taken_as="prompt")
        self.locked.change(turn_count=row.turn_count + 1, lease_epoch=row.lease_epoch + 1)
        started = TurnStarted(number=row.turn_count, trigger="message", took=(asked.id,))
        seq = append(self.locked, started, actor=agent, turn=turn, grants_epoch=self.grants_epoch)
        replied = self._message(agent, f"{REPLIED} ({number})", turn_id=turn)
        append(self.locked, TurnEnded(turn=turn, status="completed", message=replied.id), actor=agent, turn=turn)
        self._turn(turn, author, seq, replied.content)

    def _message(self, author: Actor, text: str, **columns: Any) -> Message:
        salt, turn = token_hex(16), columns.get("turn_id")
        message = Message(
            id=new_id(), thread_id=self.locked.row.id, seq=self.locked.next_seq, kind="message", author=author,
            author_key=f"agent:{self.made.robin.id}" if turn else author_key(author), client_id=token_hex(16),
            content=text, salt=salt, posted_at=self.locked.now, **columns,
        )  # fmt: skip
        event = MessagePosted(message=message.id, kind="message", content=content_hash(bytes.fromhex(salt), text))
        append(self.locked, event, actor=author, turn=turn, grants_epoch=0 if turn else self.grants_epoch)
        self.messages.append(message)
        return message

    def _turn(self, id: UUID, author: Actor, seq: int, text: str) -> None:
        row, then = self.locked.row, self.locked.now - AGO
        self.turns.append(
            Turn(
                id=id, thread_id=row.id, number=row.turn_count, seq=seq, trigger="message", origin=author,
                on_behalf_of=author, agent_id=self.made.robin.id, root_id=id, status="completed",
                lease_epoch=row.lease_epoch, text=text, history=_history(), started_at=then, ended_at=then,
                input_tokens=400, output_tokens=20,
            )
        )  # fmt: skip


@lru_cache
def _history() -> str:
    asked = ModelRequest(parts=[UserPromptPart(f"Ana: {ASKED}")], metadata={"input": True, "texts": [ASKED]})
    return dump([asked, ModelResponse(parts=[TextPart(REPLIED)])])
