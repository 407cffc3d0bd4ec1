"""A restaurant's tables, and texts to the group. They ask the service at ``ACCORD_WORLD_URL``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, JsonValue

from agents.tools.contract import Looked, NotDone, ToolContext, tool
from agents.tools.http import Service

RESTAURANT = Service("The restaurant", "nothing was booked")
CANCELLING = Service("The restaurant", "nothing was cancelled")
FINDING = Service("The restaurant", "nothing was looked up")
PHONE = Service("The phone", "nothing was sent")


def _real_day(day: str) -> str:
    date.fromisoformat(day)
    return day


Day = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="A day, like 2027-01-31."), AfterValidator(_real_day)
]
Clock = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="A time of day, like 20:30.")]
Party = Annotated[int, Field(ge=1, le=20, description="How many guests.")]
Number = Annotated[str, Field(pattern=r"^R\d{1,9}$", description="A reservation's number, like R1.")]
Name = Annotated[str, Field(max_length=80, description="Whom the table is for.")]
Text = Annotated[str, Field(min_length=1, max_length=500, description="What the text says.")]


async def _was_it_done(ctx: ToolContext, args: BaseModel) -> Looked:
    return await RESTAURANT.done_with(ctx.key)


async def _was_it_cancelled(ctx: ToolContext, args: BaseModel) -> Looked:
    return await CANCELLING.done_with(ctx.key)


async def _was_it_sent(ctx: ToolContext, args: BaseModel) -> Looked:
    return await PHONE.done_with(ctx.key)


async def _give_back(ctx: ToolContext, args: BaseModel, result: JsonValue) -> JsonValue:
    number = result.get("reservation") if isinstance(result, dict) else None
    if not isinstance(number, str):
        raise NotDone("The record does not say which reservation it was.")
    return await CANCELLING.asked("DELETE", f"/reservations/{number}", key=f"{ctx.key}:undo")


def _about(result: JsonValue) -> Sequence[tuple[str, str]]:
    number = result.get("reservation") if isinstance(result, dict) else None
    return [("restaurant", f"reservation {number}")] if isinstance(number, str) else []


@tool(effect="write", keyed=True, undo=_give_back, lookup=_was_it_done, routes=_about, per_day=50, timeout=15.0)
async def reserve_table(ctx: ToolContext, day: Day, time: Clock, party: Party, name: Name = "") -> JsonValue:
    """Reserve a table at the restaurant. You are told the reservation's number."""
    body: dict[str, JsonValue] = {"day": day, "time": time, "party": party, "name": name}
    return await RESTAURANT.asked("POST", "/reservations", key=ctx.key, body=body)


@tool(effect="write", keyed=True, lookup=_was_it_cancelled, per_day=50, timeout=15.0)
async def cancel_table(ctx: ToolContext, reservation: Number) -> JsonValue:
    """Cancel a reservation at the restaurant."""
    return await CANCELLING.asked("DELETE", f"/reservations/{reservation}", key=ctx.key)


@tool(effect="read", timeout=15.0)
async def find_reservation(ctx: ToolContext, reservation: Number | None = None, day: Day | None = None) -> JsonValue:
    """Find reservations at the restaurant by their number, by their day, or by both."""
    query = {"id": reservation, "day": day}
    named = {name: value for name, value in query.items() if value is not None}
    if not named:
        raise NotDone("A reservation is found by its number or its day.")
    return await FINDING.asked("GET", "/reservations", query=named)


@tool(effect="write", keyed=True, lookup=_was_it_sent, per_day=100, timeout=15.0)
async def text_group(ctx: ToolContext, text: Text) -> JsonValue:
    """Send a text to everybody in the group."""
    return await PHONE.asked("POST", "/texts", key=ctx.key, body={"to": "group", "text": text})
