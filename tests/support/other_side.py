"""The other side of tools that are not local: what reached it, what it answers, and what it then knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, JsonValue

from agents.tools.contract import Looked, NotDone, Tool, ToolContext, tool
from agents.tools.enabling import workspace_tool_enable
from permissions.actors import Actor
from permissions.services import grant_give
from tests.support.cast import Someone, Studio
from tests.support.turns import posts
from tests.support.worked import Worker


@dataclass
class Outside:
    """A restaurant that keeps what it was asked, by key.

    Attributes:
        sent: the key of each request that reached it, in order; ``asked_by`` is who each was made as.
        booked: what it has booked, by key.
        answers: called with each request once it is booked, and returns the answer; it may raise.
        looks: what is answered to who asks what became of a request; None says what is true.
    """

    sent: list[str] = field(default_factory=list)
    asked_by: list[Actor] = field(default_factory=list)
    booked: dict[str, int] = field(default_factory=dict)
    undone: list[str] = field(default_factory=list)
    answers: Callable[[str, int], Any] = lambda key, guests: {"reservation": f"R{guests}"}
    looks: Callable[[], Any] | None = None
    undoes: Callable[[], Any] = lambda: {"cancelled": True}
    looked_up: int = 0

    def tool(self, name: str = "reserve_table", **contract: Any) -> Tool:
        """Return a tool that asks it for a table."""

        async def reserve_table(ctx: ToolContext, guests: int, near: str = "window") -> Any:
            """Reserve a table."""
            self.sent.append(ctx.key)
            self.asked_by.append(ctx.actor)
            self.booked[ctx.key] = guests
            return self.answers(ctx.key, guests)

        reserve_table.__name__ = name
        return tool(effect="write", label=name.replace("_", " ").capitalize(), **contract)(reserve_table)

    async def lookup(self, ctx: ToolContext, args: BaseModel) -> Looked:
        """Say what became of a request."""
        self.looked_up += 1
        if self.looks is not None:
            found: Looked = self.looks()
            return found
        happened = ctx.key in self.booked
        return Looked(happened, {"reservation": f"R{self.booked[ctx.key]}"} if happened else None)

    async def undo(self, ctx: ToolContext, args: BaseModel, result: JsonValue) -> JsonValue:
        """Cancel what was booked."""
        self.undone.append(ctx.key)
        came: JsonValue = self.undoes()
        return came

    def loses_its_answer(self, key: str = "", guests: int = 0) -> Any:
        """Book, and answer nothing that arrives."""
        raise ConnectionResetError("the line broke")

    def says_no(self, key: str, guests: int) -> Any:
        """Book nothing, and say so."""
        del self.booked[key]
        raise NotDone("There is no table for so many.")


class Counter:
    """The studio with a tool of the other side enabled, which Robin and whoever is named may use."""

    def __init__(self, studio: Studio, tool: Tool, *people: Someone) -> None:
        self.studio, self.tool = studio, tool
        self.enabled = workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=tool.name)
        for holder in (studio.robin.user, *(person.user for person in people)):
            grant_give(by=studio.ana.actor, holder=holder, codename="use_tool", obj=self.enabled)

    def turn_for(self, someone: Someone) -> Worker:
        """Begin a turn that someone asked for."""
        posts(someone, self.studio.thread, "book a table")
        return Worker.begins(self.studio)
