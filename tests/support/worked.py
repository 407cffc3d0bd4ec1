"""A thread in which everything that a log records has happened, driven step by step in the test's own transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast
from uuid import uuid4

import pytest
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturnPart

from agents.models.turns import Call, Turn
from agents.tools import gate
from agents.tools.asked import Made, row_of
from agents.tools.contract import Tool
from agents.turns import boundary, history
from agents.turns.boundary import Work
from agents.turns.start import Started, start_next
from collab.services.documents import document_edit
from collab.services.messages import message_cancel
from collab.services.proposals import proposal_accept, proposal_reject
from collab.services.threads import thread_mode_set
from collab.services.workspaces import member_role_set
from permissions.roles import Role
from tests.support.cast import Someone, Studio
from tests.support.tools import text_group
from tests.support.turns import posts

T = TypeVar("T")


async def _here(unit: Callable[..., Any], *args: Any) -> Any:
    return unit(*args)


async def _at_once(sending: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> Any:
    return asyncio.run(sending(*args))  # what goes to another side waits, and touches no database


async def _not_looked_up(call: object) -> bool:
    return False  # a test looks up itself, when it wants to


def _finished(doing: Coroutine[Any, Any, T]) -> T:
    """Run what never has to wait, without an event loop: Django keeps its connections out of those."""
    try:
        doing.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    raise AssertionError("it waits for something")


@dataclass
class Worker:
    """Robin at work in the studio's thread, one step at a time, as a runner would take them."""

    studio: Studio
    work: Work

    @classmethod
    def begins(cls, studio: Studio) -> Worker:
        """Start the turn that is next."""
        started = start_next(studio.thread.id)
        assert started is not None
        return cls.on(studio, started)

    @classmethod
    def on(cls, studio: Studio, started: Started) -> Worker:
        """Work on a turn that was started."""
        return cls(studio, Work(started.turn, started.workspace, started.names, history.load(started.turn.history)))

    @property
    def turn(self) -> Turn:
        return self.work.turn

    def calls(self, tool: str, **args: Any) -> list[ToolReturnPart]:
        """Make one call; return what the model is told, nothing for a question."""
        part = ToolCallPart(tool, args, tool_call_id=uuid4().hex)
        self.work.messages.append(ModelResponse(parts=[part]))
        number = self.turn.calls.count() + 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gate, "in_db", _here)
            patch.setattr(gate, "_sent", partial(_at_once, gate._sent))
            patch.setattr(gate, "call_settle", _not_looked_up)
            told = _finished(gate.carry_out(self.work, part, step=self.turn.steps + 1, number=number))
        return [told] if told else []

    def sends(self, tool: Tool) -> Call:
        """Send a call out and leave it open."""
        part = ToolCallPart(tool.name, {}, tool_call_id=uuid4().hex)
        row = row_of(self.work, part, step=1, number=self.turn.calls.count() + 1)
        gate._store_sent(self.work, Made(row, tool, tool.args()))
        return row

    def steps(self, tool: str, **args: Any) -> None:
        """Make one call and reach the boundary after it."""
        self.work.returns = list(self.calls(tool, **args))
        boundary.reach(self.work)

    def ends(self, reply: str = "Done.") -> None:
        """Say something and reach the last boundary."""
        self.work.text = reply
        self.work.returns = []
        boundary.reach(self.work)


def edit(old: str, new: str) -> dict[str, Any]:
    """Return the arguments of an edit of the plan."""
    return {"document": "Launch plan", "edits": [{"find": old, "replace": new}]}


def worked(studio: Studio) -> Worker:
    """Let everything happen once: a prompt, a steer, a reply, an answer, messages that are cancelled and passed over,
    changes and proposals; then leave T5 running with a call that was sent, and a message of Ben's waiting."""
    ana, ben, thread = studio.ana, studio.ben, studio.thread
    posts(ana, thread, "raise the budget")
    first = Worker.begins(studio)
    posts(ana, thread, "to 950")
    first.steps("edit_document", **edit("900", "950"))
    posts(ben, thread, "book a table")
    first.ends()
    _asked(studio)
    _dropped(studio, ben)
    _proposed(studio)
    posts(ana, thread, "people only", kind="comment")
    posts(ana, thread, "invite them")
    posts(ana, thread, "all of them")
    last = Worker.begins(studio)
    last.sends(text_group)
    posts(ben, thread, "me next")
    return last


def _asked(studio: Studio) -> None:
    second = Worker.begins(studio)
    second.steps("ask_person", question="Which day?")
    posts(studio.ana, studio.thread, "Friday")
    posts(studio.ana, studio.thread, "in the evening")
    Worker.begins(studio).ends()


def _dropped(studio: Studio, someone: Someone) -> None:
    cancelled = posts(someone, studio.thread, "forget it")
    message_cancel(actor=someone.actor, message=cancelled.id)
    posts(someone, studio.thread, "and cancel the venue")
    _role_set(studio, someone, Role.VIEWER)
    assert start_next(studio.thread.id) is None
    _role_set(studio, someone, Role.EDITOR)


def _proposed(studio: Studio) -> None:
    ana, ben, thread = studio.ana, studio.ben, studio.thread
    thread_mode_set(actor=ana.actor, thread=thread.id, mode="suggest")
    posts(ana, thread, "make it 16")
    robin = Worker.begins(studio)
    robin.steps("edit_document", **edit("for 12", "for 16"))
    robin.ends()
    proposal_accept(actor=ben.actor, proposal=thread.proposals.get().id)
    for word in ("Saturday", "Sunday"):
        suggested = document_edit(
            actor=ana.actor, document=studio.document.id, thread=thread.id, propose=True,
            edits=[{"find": "Friday", "replace": word}],
        )  # fmt: skip
        assert suggested.proposal is not None
        if word == "Saturday":
            proposal_reject(actor=ben.actor, proposal=suggested.proposal.id)


def _role_set(studio: Studio, someone: Someone, role: Role) -> None:
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=someone.id, role=role)
