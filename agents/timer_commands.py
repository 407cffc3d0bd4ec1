"""The commands of timers, and their items: what ``wiring.py`` connects (DESIGN 3)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from agents import timer_items
from agents.models.timers import Timer
from agents.timers.services import timer_cancel, timer_set
from collab import commands, reads
from permissions.actors import Actor


class TimerSetArgs(commands.Args):
    """Says what happens when, and in which thread."""

    thread: UUID
    text: str
    at: str
    zone: str = "UTC"
    repeats: Literal["never", "daily", "weekdays", "weekly", "monthly"] = "never"
    does: Literal["tells", "asks"] = "tells"
    subject: str = ""


class TimerArgs(commands.Args):
    """Names a timer."""

    timer: UUID


def register() -> None:
    """Register the commands and what is read of timers."""
    commands.register("timer_set", TimerSetArgs, _set)
    commands.register("timer_cancel", TimerArgs, _cancel)
    reads.register_items("timer", timer_items.timer_items, reads.Reading.EACH)
    for event_type, touched in timer_items.TOUCHED.items():
        reads.register_event_items(event_type, touched)
    reads.register_standing(timer_items.standing)


def _set(actor: Actor, args: TimerSetArgs) -> commands.Result:
    timer = timer_set(
        actor=actor, thread=args.thread, text=args.text, at=args.at, zone=args.zone, repeats=args.repeats,
        does=args.does, subject=args.subject,
    )  # fmt: skip
    return _told(timer)


def _cancel(actor: Actor, args: TimerArgs) -> commands.Result:
    return _told(timer_cancel(actor=actor, timer=args.timer))


def _told(timer: Timer) -> commands.Result:
    return {
        "timer": str(timer.id), "number": timer.number, "state": timer.state, "due_at": timer.due_at.isoformat(),
    }  # fmt: skip
