"""Tools that tests register for as long as they last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import BaseModel, JsonValue

from agents.tools import registry
from agents.tools.contract import Looked, Tool, ToolContext, tool


@tool(effect="write", label="Reserve table")
async def reserve_table(ctx: ToolContext, guests: int) -> JsonValue:
    """Reserve a table."""
    return {"reservation": "R1", "guests": guests}


@tool(effect="write", permission="", label="Text group")
async def text_group(ctx: ToolContext) -> JsonValue:
    """Text everybody."""
    return None


@tool(effect="write", permission="", consent="always", keyed=True, label="Send flowers")
async def send_flowers(ctx: ToolContext, to: str) -> JsonValue:
    """Send flowers; a person is always asked first."""
    return {"to": to}


async def _boat_found(ctx: ToolContext, args: BaseModel) -> Looked:
    return Looked(True)


async def _boat_given_up(ctx: ToolContext, args: BaseModel, result: JsonValue) -> JsonValue:
    return None


@tool(effect="write", permission="", label="Book boat", lookup=_boat_found, undo=_boat_given_up)
async def book_boat(ctx: ToolContext, guests: int) -> JsonValue:
    """Book a boat; the answer to who books a large one is lost."""
    if guests > 8:
        raise ConnectionError
    return {"boat": "B1"}


@contextmanager
def registered(*made: Tool) -> Iterator[None]:
    """Have the server's packs define some tools more."""
    with pytest.MonkeyPatch.context() as patch:
        for one in made:
            patch.setitem(registry.TOOLS, one.name, one)
        yield
