"""Posting to a thread, and taking back what no turn took yet (DESIGN 2 and 6)."""

from __future__ import annotations

import re
import secrets
from uuid import UUID

from collab.canonical import content_hash
from collab.errors import Busy, Gone, Invalid
from collab.events import MessageCancelled, MessagePosted
from collab.log import Locked, append, thread_locked
from collab.models.threads import Message, Thread
from collab.services.checks import require_open, valid
from collab.signals import thread_asked
from collab.text import clean_text
from permissions.actors import Actor, Agent, author_key
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.gate import require
from permissions.models import User

LONGEST = 32_768
"""Bytes of one message."""

LONGEST_REPLY = 1_048_576
"""Bytes of a turn's reply; what an agent may say in one is its own, lower limit."""

MOST_WAITING = 200
"""Messages that may wait in one thread."""


def message_post(*, actor: Actor, thread: UUID, content: str, client_id: str, kind: str = "message") -> Message:
    """Post a message to a thread's agent and ask for a turn, or a comment to its people.

    A repeated ``client_id`` of the same author returns the message it posted the first time. In a thread that answers
    when mentioned, a message that does not name the agent is a comment (DESIGN 4).

    Raises:
        NotFound: the actor may not see the thread, or there is none.
        Refused: the actor may not start a turn (or, for a comment, may not comment) there; nothing is posted.
        Invalid: the text is empty, too long or holds characters no database keeps; or the thread is archived.
        Busy: too many messages wait already.
    """
    with thread_locked(thread) as locked:
        kind = _kind_of(locked.row, content, kind)
        action = Action.START_TURN if kind == Message.Kind.MESSAGE else Action.COMMENT
        decision = require(actor, action, locked.row, for_write=True)
        if earlier := Message.objects.filter(
            thread_id=thread, author_key=author_key(actor), client_id=client_id
        ).first():
            return earlier
        require_open(locked.row)
        waits = kind == Message.Kind.MESSAGE
        if waits and Message.objects.filter(thread_id=thread, waits=True).count() >= MOST_WAITING:
            raise Busy(f"{MOST_WAITING} messages wait already; post again when some are answered", retry_after=10)
        message = message_record(
            locked, actor=actor, content=content, client_id=client_id, kind=kind, waits=waits,
            grants_epoch=decision.grants_epoch or 0,
        )  # fmt: skip
        if waits:
            thread_asked.send(sender=Thread, thread_id=thread)
        return message


def message_record(
    locked: Locked,
    *,
    actor: Actor,
    content: str,
    client_id: str,
    kind: str,
    waits: bool = False,
    turn: UUID | None = None,
    interrupted: bool = False,
    grants_epoch: int = 0,
) -> Message:
    """Write a message and its event to a thread that the caller holds and has checked: a person's post, a notice, or
    (with ``turn``) the reply of a turn."""
    with valid():
        text = clean_text(content, limit_bytes=LONGEST if turn is None else LONGEST_REPLY, name="the message")
    salt = secrets.token_hex(16)
    message = Message(
        thread_id=locked.row.id, seq=locked.next_seq, kind=kind, author=actor, author_key=_key(actor),
        client_id=client_id, content=text, salt=salt, posted_at=locked.now, waits=waits, turn_id=turn,
        interrupted=interrupted,
    )  # fmt: skip
    message.save(force_insert=True)
    event = MessagePosted(message=message.id, kind=kind, content=content_hash(bytes.fromhex(salt), text))
    append(locked, event, actor=actor, turn=turn, grants_epoch=grants_epoch)
    return message


def message_cancel(*, actor: Actor, message: UUID) -> Message:
    """Take back a message of one's own that no turn has taken, held or not (DESIGN 6, Boundaries).

    Raises:
        NotFound: there is no such message, or the actor may not see its thread.
        Refused: it is another author's.
        Gone: a turn took it, or it was passed over or cancelled.
    """
    thread = Message.objects.filter(pk=message).values_list("thread_id", flat=True).first()
    if thread is None:
        raise NotFound()
    with thread_locked(thread) as locked:
        require(actor, Action.VIEW, locked.row)
        found = Message.objects.get(pk=message)
        if found.author_key != author_key(actor) or isinstance(found.author, Agent):
            raise Refused("Only its author may cancel a message.")
        if not found.waits and found.held_at is None:
            raise Gone(_why_settled(found))
        found.waits, found.held_at, found.cancelled_at = False, None, locked.now
        found.save(update_fields=["waits", "held_at", "cancelled_at"])
        append(locked, MessageCancelled(message=found.id), actor=actor)
        return found


def notice_post(*, actor: Actor, thread: UUID, content: str, client_id: str) -> Message:
    """Tell a thread's people something, from a source or the system; it starts and cuts nothing (DESIGN 2).

    Raises:
        NotFound: there is no such thread.
        Refused: the actor may not post notices there.
        Invalid: the text is refused.
    """
    with thread_locked(thread) as locked:
        require(actor, Action.COMMENT, locked.row)
        return message_record(locked, actor=actor, content=content, client_id=client_id, kind=Message.Kind.NOTICE)


def _key(actor: Actor) -> str:
    """The agent's own messages share an author with nobody they answer."""
    return f"agent:{actor.id}" if isinstance(actor, Agent) else author_key(actor)


def _kind_of(thread: Thread, content: str, kind: str) -> str:
    if kind not in {Message.Kind.MESSAGE, Message.Kind.COMMENT}:
        raise Invalid(f"a post is a message or a comment, not {kind!r}")
    if kind == Message.Kind.MESSAGE and thread.agent_id is None:
        return Message.Kind.COMMENT
    if thread.agent_id and kind == Message.Kind.MESSAGE and thread.answers == Thread.Answers.WHEN_MENTIONED:
        agent = User.objects.get(pk=thread.agent_id)
        if not re.search(rf"(?<!\w)@?{re.escape(agent.name)}(?!\w)", content, re.IGNORECASE):
            return Message.Kind.COMMENT
    return kind


def _why_settled(message: Message) -> str:
    if message.cancelled_at is not None:
        return "It was cancelled already."
    if message.passed_over is not None:
        return "The thread has passed over it already."
    return "A turn has taken it already." if message.taken_by else "It does not wait for a turn."
