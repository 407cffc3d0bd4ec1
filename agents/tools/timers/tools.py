"""Timers, through the same services as people: set and cancelled as the agent for its person."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from agents.models.timers import Timer
from agents.timers.services import LONGEST, timer_cancel, timer_set, timers_of
from agents.tools.contract import ToolContext, tool
from permissions.errors import NotFound

At = Annotated[str, Field(description="The local day and time, like 2026-06-12T20:30.", max_length=16)]
Zone = Annotated[str, Field(description="The IANA time zone of that time, like Europe/Berlin.", max_length=50)]
Says = Annotated[str, Field(description="What people are told, or you are asked, then.", max_length=LONGEST)]
Does = Annotated[
    Literal["tells", "asks"], Field(description="tells: people read it. asks: you are asked, and act for no one.")
]
Subject = Annotated[
    str, Field(description='What it is about, like "film F1": it does not fire once that is moot.', max_length=200)
]
Number = Annotated[int, Field(ge=1, description="As list_timers says.")]


@tool(effect="write", local=True, consent="unless_person", label="Set timer")
def set_timer(
    ctx: ToolContext,
    text: Says,
    at: At,
    zone: Zone = "UTC",
    repeats: Literal["never", "daily", "weekdays", "weekly", "monthly"] = "never",
    does: Does = "tells",
    subject: Subject = "",
) -> JsonValue:
    """Set a timer for the person you work for: at that moment this conversation is told something, or you are asked."""
    timer = timer_set(
        actor=ctx.actor, thread=ctx.thread, text=ctx.said(text), at=at, zone=zone, repeats=repeats, does=does,
        subject=subject, turn=ctx.turn,
    )  # fmt: skip
    return _told(timer)


@tool(effect="write", local=True, consent="unless_person", label="Cancel timer")
def cancel_timer(ctx: ToolContext, number: Number) -> JsonValue:
    """Cancel a timer of the person you work for."""
    found = Timer.objects.filter(thread_id=ctx.thread, number=number).first()
    if found is None:
        raise NotFound(f"There is no timer {number} in this thread.")
    return _told(timer_cancel(actor=ctx.actor, timer=found.id, turn=ctx.turn))


@tool(effect="read", local=True, label="List timers")
def list_timers(ctx: ToolContext) -> JsonValue:
    """List the timers that wait in this conversation."""
    return [_told(timer) for timer in timers_of(ctx.thread)]


def _told(timer: Timer) -> JsonValue:
    return {
        "number": timer.number, "text": timer.text, "due": timer.due_at.isoformat(timespec="minutes"),
        "at": timer.local, "zone": timer.zone, "repeats": timer.repeats, "does": timer.does, "state": timer.state,
    }  # fmt: skip
