"""Tools that book at the fake restaurant, one for each way in which an outcome that nobody knows becomes known.

Every booking carries the key of its call as its name, so the restaurant's ledger tells what was done for which call,
also where the restaurant is asked with a key of its own each time, and would book again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, JsonValue

from agents.tools.contract import Consent, Looked, Tool, ToolContext, tool
from agents.tools.http import Service

HALL = Service("The hall", "nothing was booked")
KINDS = {"keyed": (True, False), "looked_up": (False, True), "neither": (False, False)}
"""Whether a tool of this kind is keyed, and whether it has a lookup."""

DAYS = {"book": "2027-06-0{}", "order": "2027-07-0{}"}
"""The days booked at: a day seats only so many."""


def tables() -> Iterator[Tool]:
    """Make the tools: ``book_*``, which ask nobody first, and ``order_*``, which always do."""
    for number, (kind, (keyed, has_lookup)) in enumerate(KINDS.items(), start=1):
        yield _made(f"book_{kind}", DAYS["book"].format(number), "never", keyed=keyed, has_lookup=has_lookup)
        yield _made(f"order_{kind}", DAYS["order"].format(number), "always", keyed=keyed, has_lookup=has_lookup)


def _made(name: str, day: str, consent: Consent, *, keyed: bool, has_lookup: bool) -> Tool:
    async def book(ctx: ToolContext, party: int) -> JsonValue:
        """Book a table."""
        body: dict[str, JsonValue] = {"day": day, "time": "20:30", "party": party, "name": ctx.key}
        return await HALL.asked("POST", "/reservations", key=ctx.key if keyed else uuid4().hex, body=body)

    async def given_back(ctx: ToolContext, args: BaseModel, result: Any) -> JsonValue:
        return await HALL.asked("DELETE", f"/reservations/{result['reservation']}", key=f"{ctx.key}:undo")

    async def found(ctx: ToolContext, args: BaseModel) -> Looked:
        held = await HALL.asked("GET", "/reservations", query={"day": day})
        ours: list[JsonValue] = [one for one in held["reservations"] if one["name"] == ctx.key]
        return Looked(True, ours[0]) if ours else Looked(False)

    book.__name__ = name
    label = name.replace("_", " ").capitalize()
    lookup = found if has_lookup else None
    return tool(effect="write", keyed=keyed, consent=consent, lookup=lookup, undo=given_back, label=label)(book)
