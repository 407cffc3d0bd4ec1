"""Opening a thread with a title or with its first message: a form of a workspace's page, and a command."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from collab.commands import Args, Result, register
from collab.models.threads import Message, Thread
from collab.services.messages import message_post
from collab.services.threads import thread_create
from permissions.actors import Actor

TITLE_CHARS = 60
"""How much of a first message makes a thread's title."""


class ThreadCreate(Args):
    workspace: UUID
    title: str = ""
    text: str = ""
    agent: UUID | None = None


@transaction.atomic
def thread_opened(
    *, actor: Actor, workspace: UUID, title: str, text: str, client_id: str, agent: UUID | None = None
) -> tuple[Thread, Message | None]:
    """Open a thread and post its first message, where there is one; where that is refused, there is no thread either.

    Args:
        title: "" takes it from the message.
        text: the first message; "" posts none.
        client_id: made by the sender, of the message.
        agent: as for :func:`collab.services.threads.thread_create`, whose errors this raises.
    """
    opened = thread_create(actor=actor, workspace=workspace, title=title or _title_of(text), agent_id=agent)
    posted = message_post(actor=actor, thread=opened.id, content=text, client_id=client_id) if text else None
    return opened, posted


def register_commands() -> None:
    """Register the command that opens a thread."""
    register("thread_create", ThreadCreate, _create)


def _create(actor: Actor, args: ThreadCreate) -> Result:
    opened, posted = thread_opened(
        actor=actor, workspace=args.workspace, title=args.title, text=args.text, client_id=args.command_id,
        agent=args.agent,
    )  # fmt: skip
    message = None if posted is None else {"message": str(posted.id), "seq": posted.seq, "kind": posted.kind}
    return {"thread": str(opened.id), "posted": message}


def _title_of(text: str) -> str:
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1].rstrip()}…"
