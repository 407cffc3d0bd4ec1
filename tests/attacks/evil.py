"""A compromised model: it sees all that a model sees, remembers it across turns, and answers with whatever it likes."""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import connection
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from agents.models.turns import Call, Turn
from agents.turns.runner import Runner
from collab.log import thread_locked
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from collab.services.messages import message_post, message_record
from permissions.actors import Actor, Person
from tests.support.turns import Asked

T = TypeVar("T")
IDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Move:
    """One response: pieces of text, then calls with their arguments (a text stands for itself) and ids."""

    says: Sequence[str] = ()
    calls: Sequence[tuple[str, Any]] = ()
    call_ids: Sequence[str] = ()


@dataclass
class EvilModel:
    """Answers each request with the next of its moves at once; out of moves, it says a word and so ends the turn.

    A move may be a function of the model, made when it is due from all it has ``seen``.
    """

    moves: deque[Move | Callable[[EvilModel], Move]] = field(default_factory=deque)
    seen: list[Asked] = field(default_factory=list)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(stream_function=self._respond, model_name="evil")

    @property
    def words(self) -> str:
        """Everything it was ever given, as one text."""
        return "\n".join(asked.words for asked in self.seen)

    @property
    def parts(self) -> list[Any]:
        """Every part of what it was given last."""
        return [part for message in self.seen[-1].messages for part in message.parts if hasattr(part, "content")]

    @property
    def ids(self) -> list[str]:
        """Every id it was ever given."""
        return list(dict.fromkeys(IDS.findall(self.words)))

    def will(self, *moves: Move | Callable[[EvilModel], Move]) -> None:
        """Queue moves."""
        self.moves.extend(moves)

    def calls(self, tool: str, args: Any = None, /, **named: Any) -> None:
        """Queue a move that is one call."""
        self.will(Move(calls=[(tool, named if args is None else args)]))

    def says(self, *pieces: str) -> None:
        """Queue a move that is words, which ends a turn."""
        self.will(Move(says=pieces))

    async def _respond(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.seen.append(Asked(list(messages)))
        move = self.moves.popleft() if self.moves else Move(says=["Well."])
        found = move if isinstance(move, Move) else move(self)
        for piece in found.says:
            yield piece
        for number, (name, args) in enumerate(found.calls):
            text = args if isinstance(args, str) else json.dumps(args)
            id = found.call_ids[number] if found.call_ids else f"call-{len(self.seen)}-{number}"
            yield {number: DeltaToolCall(name=name, json_args=text, tool_call_id=id)}
        if not found.says and not found.calls:
            yield ""


def asks(author: Actor, thread: Thread, text: str) -> None:
    """Post a message: as a person does, or as a source's or the system's input is admitted."""
    if isinstance(author, Person):
        message_post(actor=author, thread=thread.id, content=text, client_id=uuid4().hex)
        return
    epoch = Workspace.objects.get(pk=thread.workspace_id).grants_epoch
    with thread_locked(thread.id) as locked:
        message_record(
            locked, actor=author, content=text, client_id=uuid4().hex, kind="message", waits=True, grants_epoch=epoch
        )


def works(thread: Thread | UUID) -> Turn:
    """Let this process work the thread's next turn to its end, and return it."""
    id = thread if isinstance(thread, UUID) else thread.id
    before = set(Turn.objects.filter(thread=id).values_list("id", flat=True))
    asyncio.run(Runner(id).work())
    return Turn.objects.filter(thread=id).exclude(pk__in=before).latest("number")


def aside(act: Callable[..., T], *args: Any) -> T:
    """Do something while the model answers, as another process would: on a connection of its own."""

    def done() -> T:
        try:
            return act(*args)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(done).result()


def told(turn: Turn) -> list[tuple[str, str | None, str]]:
    """Return each call of a turn: the tool as it was called, its outcome and its reason."""
    return list(Call.objects.filter(turn=turn).order_by("number").values_list("called_as", "outcome", "reason"))


def reasons(turn: Turn) -> list[str]:
    """Return why each call of a turn was refused or failed; empty for one that was done."""
    return [reason for _, _, reason in told(turn)]


def edit(find: str, replace: str, document: str = "Launch plan", **more: Any) -> dict[str, Any]:
    """Return the arguments of an edit."""
    return {"document": document, "edits": [{"find": find, "replace": replace}], **more}
