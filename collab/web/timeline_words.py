"""What the timeline says of held messages, consent, sources and timers, in the words of their items; and how it quotes
and numbers what it names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from collab import events
from collab.reads import Item, Ref
from collab.text import visible

EXCERPT_CHARS = 80

Items = Mapping[Ref, Item]
Said = tuple[str, str, str]
"""An icon, a look (``ok``, ``no``, ``wait``, ``go`` or none), and what happened."""


def short(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else f"{line[:EXCERPT_CHARS].rstrip(' .…')}…"


def excerpt(message: Item | None) -> str:
    """Return what a message says, quoted; of what a source says nothing is hidden."""
    if message is None:
        return "something that is not shown"
    is_data = message["author"]["kind"] == "source"
    return f"“{visible(short(message['text'])) if is_data else short(message['text'])}”"


def numbers(ids: Sequence[UUID], items: Items) -> str:
    """Return messages by their numbers in the log."""
    seqs = [str(item["seq"]) for id in ids if (item := items.get(("message", id)))]
    return f"{'Messages' if len(seqs) > 1 else 'Message'} {', '.join(seqs)}" if seqs else "A message"


def _held(fact: events.MessageHeld, items: Items) -> Said:
    message = items.get(("message", fact.message))
    whom = message["author"]["name"] if message else "its author"
    return "help", "wait", f"{numbers([fact.message], items)} is held: {whom} is asked what it means"


def _released(fact: events.MessageReleased, items: Items) -> Said:
    which = numbers([fact.message], items).lower()
    match fact.meant:
        case "adds":
            return "join", "", f"said that {which} adds to what is done"
        case "revises":
            return "pencil", "", f"said that {which} changes what is done"
    return "chat", "", f"let {which} wait for a turn of its own"


def _repeat(fact: events.CallRepeatAllowed, items: Items) -> Said:
    return "key", "", f"allowed {_call(fact.call, items)} again, though nobody knows whether it was done"


def _asked(fact: events.ActionAsked, items: Items) -> Said:
    action = items.get(("action", fact.action))
    if action is None:
        return "clock", "wait", f"Asked for consent: A{fact.number}"
    steps = ", then ".join(str(step["label"]).lower() for step in action["steps"])
    return "clock", "wait", f"Asked {action['for']['name']} to approve A{fact.number}: {steps}"


def _decided(fact: events.ActionResolved, items: Items) -> Said:
    action = items.get(("action", fact.action)) or {}
    number = f"A{action['number']}" if action else ""
    one = number or "An action"
    reason = str(action.get("reason", ""))
    match fact.state:
        case "approved":
            return "check", "ok", f"approved {number or 'an action'}"
        case "declined":
            return "x", "", f"declined {number or 'an action'}{f': “{short(reason)}”' if reason else ''}"
        case "expired":
            return "clock", "", f"{one} expired. {reason}".rstrip()
        case "failed":
            return "ban", "no", f"{one} could not start. {reason}".rstrip()
    return "minus", "", f"{one} was superseded. {reason}".rstrip()


def _delivered(fact: events.DeliveryAdmitted, items: Items) -> Said:
    if fact.message is None:
        return "plug", "", "delivered something that asks for nothing"
    return "plug", "", f"delivered {numbers([fact.message], items).lower()}"


def _gone(fact: events.EffectGone, items: Items) -> Said:
    return "minus", "no", f"reported that what {_call(fact.call, items)} did is gone"


def _timer_set(fact: events.TimerSet, items: Items) -> Said:
    timer = items.get(("timer", fact.timer))
    if timer is None:
        return "clock", "", "set a timer"
    again = "" if timer["repeats"] == "never" else f", {_REPEATS.get(timer['repeats'], timer['repeats'])}"
    at = str(timer["local"]).replace("T", " ")
    says = visible(short(timer["text"]))
    return "clock", "", f"set timer {timer['number']} for {at} ({timer['zone']}){again}: “{says}”"


def _timer_fired(fact: events.TimerFired, items: Items) -> Said:
    return "bell", "go", f"{_timer(fact.timer, items)} fired: {numbers([fact.message], items).lower()}"


def _timer_over(fact: events.TimerSuperseded, items: Items) -> Said:
    if fact.reason == "cancelled":
        return "x", "", f"cancelled {_timer(fact.timer, items).lower()}"
    timer = items.get(("timer", fact.timer))
    why = f": {visible(short(timer['reason']))}" if timer and timer["reason"] else ""
    return "minus", "", f"{_timer(fact.timer, items)} was superseded{why}"


def _timer(id: UUID, items: Items) -> str:
    timer = items.get(("timer", id))
    return f"Timer {timer['number']}" if timer else "A timer"


def _call(id: UUID, items: Items) -> str:
    call = items.get(("call", id))
    return str(call["label"]).lower() if call else "a call"


_REPEATS = {"daily": "every day", "weekdays": "on weekdays", "weekly": "every week", "monthly": "every month"}

SAYS: Mapping[str, Callable[[Any, Items], Said]] = {
    "message_held": _held,
    "message_released": _released,
    "call_repeat_allowed": _repeat,
    "action_asked": _asked,
    "action_resolved": _decided,
    "delivery_admitted": _delivered,
    "effect_gone": _gone,
    "timer_set": _timer_set,
    "timer_fired": _timer_fired,
    "timer_superseded": _timer_over,
}
