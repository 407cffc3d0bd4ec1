"""Undoing, in a turn, what an earlier call did: what a turn that revises another is told of it by name (DESIGN 6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from agents.models.turns import Call
from agents.tools.contract import Looked, ToolContext, tool
from agents.tools.named import NAME, as_undone, call_named
from collab.db import in_db
from permissions.actors import Agent

Name = Annotated[str, Field(pattern=NAME, description="The call as you are told of it, like T3-1.")]
ToolName = Annotated[str, Field(max_length=100, description="The tool it called, like reserve_table.")]


async def _was_it_undone(ctx: ToolContext, args: BaseModel) -> Looked:
    return await in_db(_recorded, ctx, args.model_dump()["call"])


def _recorded(ctx: ToolContext, name: str) -> Looked:
    """Return what the record says: whoever undoes a call claims it first, so what no turn claimed no turn undid."""
    found = call_named(ctx.thread, name)
    if found is None or not isinstance(found.undone_by, Agent):
        return Looked(happened=False)
    return Looked(happened=True, result=as_undone(found)) if found.outcome == Call.Outcome.UNDONE else Looked(None)


@tool(effect="write", lookup=_was_it_undone)
async def undo_call(ctx: ToolContext, call: Name, tool: ToolName) -> JsonValue:
    """Undo what an earlier call did, where you were told of it by its name: it was done for the person you work for."""
    return await ctx.undoes(call, tool)
