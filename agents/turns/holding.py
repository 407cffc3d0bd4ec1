"""Messages that are held: what they mean for the running turn is unclear, and their author is asked (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from agents.models.turns import Turn
from agents.turns.ending import acting
from collab import events
from collab.errors import Gone, Invalid
from collab.events import MessageHeld, MessageReleased
from collab.log import Locked, append, thread_locked
from collab.models.threads import Event, Message, Thread
from collab.services.checks import require_open
from collab.signals import thread_asked
from permissions.actors import Actor, Person, System, same_author
from permissions.clock import AccordNow
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.gate import require

HELD_FOR = timedelta(hours=24)
"""How long a message is held; then it waits for a turn of its own."""

AT_ONCE = 100
"""Held messages that are let go at once, at most."""

MEANT = ("adds", "independent", "revises")
"""What its author can say a message means."""


def message_mean(*, actor: Actor, message: UUID, meant: str) -> Message:
    """Say what a held message of one's own means for the turn it came during; it then waits again. Where that turn's
    work is over, whatever it means waits for the next turn.

    Args:
        meant: ``adds``, ``independent`` or ``revises``.

    Raises:
        NotFound: there is no such message, or the actor may not see its thread.
        Refused: it is another author's, or the actor is no person.
        Invalid: it can mean no such thing; or the thread is archived.
        Gone: it is not held.
    """
    thread = Message.objects.filter(pk=message).values_list("thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    with thread_locked(thread) as locked:
        require(actor, Action.VIEW, locked.row)
        found = Message.objects.get(pk=message)
        if not isinstance(actor, Person) or not same_author(found.author, actor):
            raise Refused("Only its author, in person, says what a message means.")
        if meant not in MEANT:
            raise Invalid(f"A message {MEANT[0]}, is {MEANT[1]} or {MEANT[2]}.")
        require_open(locked.row)
        if found.held_at is None:
            raise Gone("It is not held: nobody asks what it means.")
        _release(locked, found, meant, actor)
        return found


def messages_held(locked: Locked, turn: Turn, ids: Iterable[UUID]) -> None:
    """Hold waiting messages until their author says what they mean for a turn, at its boundary."""
    for message in Message.objects.filter(pk__in=list(ids), waits=True).order_by("seq"):
        message.waits, message.held_at = False, locked.now
        message.save(update_fields=["waits", "held_at"])
        append(locked, MessageHeld(message=message.id), actor=acting(turn), turn=turn.id)


def messages_let_go() -> None:
    """Let messages wait for a turn of their own whose authors did not say in time what they mean."""
    late = Message.objects.filter(held_at__lt=AccordNow() - HELD_FOR).order_by("held_at")
    for id, thread in list(late.values_list("id", "thread_id")[:AT_ONCE]):
        with thread_locked(thread) as locked:
            found = Message.objects.get(pk=id)
            if found.held_at is not None and found.held_at <= locked.now - HELD_FOR:
                _release(locked, found, "independent", System())


def _release(locked: Locked, message: Message, meant: str, actor: Actor) -> None:
    append(locked, MessageReleased(message=message.id, meant=meant), actor=actor)
    message.held_at, message.waits = None, True
    message.meant = meant if _still_runs(message) else "independent"
    message.save(update_fields=["held_at", "waits", "meant"])
    thread_asked.send(sender=Thread, thread_id=locked.row.id)


def _still_runs(message: Message) -> bool:
    """Whether the work that a held message came during goes on: its turn, or one of the same lineage, is not over."""
    held = Event.objects.filter(thread_id=message.thread_id, seq__gt=message.seq, type=MessageHeld.type)
    held = held.exclude(turn_id=None)
    for turn, data in held.order_by("-seq").values_list("turn_id", "data"):
        fact = events.load(MessageHeld.type, data)
        if isinstance(fact, MessageHeld) and fact.message == message.id:
            root = Turn.objects.filter(pk__in=[turn]).values("root_id")
            going = Turn.objects.filter(thread_id=message.thread_id, status__in=["running", "paused"])
            return going.filter(root_id__in=root, resumed_by=None).exists()
    return False
