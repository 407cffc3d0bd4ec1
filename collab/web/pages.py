"""What the pages show, as their reader may read it: the sidebar and a thread's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from collab import reads, selectors
from collab.inbox import Count, counted
from collab.models.documents import Document
from collab.models.threads import ReadMark, Thread
from collab.models.workspaces import Workspace
from collab.selectors import DocumentLine, Member, ThreadLine
from collab.web.access import admission
from collab.web.frames import page_items
from permissions.actors import Actor, Person
from permissions.decisions import AccountKind, Action, Level
from permissions.gate import decisions_on
from permissions.models import User

SHARED = "Shared with you"
"""What a workspace is called to who may see one of its threads or documents, and not the workspace."""

MOST = 50
"""Threads, and documents, that stand in the sidebar of any page but the workspace's own."""

OFFERED = (Action.VIEW, Action.START_TURN, Action.CHANGE_DOCUMENT, Action.MANAGE)


@dataclass(frozen=True, slots=True)
class Me:
    """Who reads the page."""

    id: UUID
    name: str
    hue: int
    role: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The sidebar: where the reader is in a workspace, and what they may begin there."""

    workspace: Workspace
    others: bool
    threads: Sequence[ThreadLine]
    documents: Sequence[DocumentLine]
    people: Sequence[Member]
    me: Me
    may: Mapping[str, bool]
    waits: Count
    more_threads: bool = False
    more_documents: bool = False
    at: str = ""
    thread_id: UUID | None = None
    document_id: UUID | None = None


def side(
    reader: User, workspace: Workspace, *, at: str = "", thread: UUID | None = None, document: UUID | None = None
) -> Side:
    """Return the sidebar of a workspace that the reader was let into, in a constant number of queries.

    Who was let into only a part of it is shown neither its name nor its people. Beside the workspace's own page stands
    all that is in it, beside others so much that a page costs the same in a large one.

    Args:
        at: which page this is: ``workspace``, ``people``, ``inbox`` or none of them.
        thread, document: the one that is open.
    """
    actor = Person(reader.id)
    most = None if at == "workspace" else MOST
    limit = most and most + 1
    threads = selectors.threads_of(actor, workspace.id, limit=limit)
    documents = selectors.documents_of(actor, workspace.id, limit=limit)
    waits = counted(actor)
    people = selectors.people_of(workspace.id)
    decisions = decisions_on(actor, workspace, actions=OFFERED)
    if decisions[Action.VIEW].level < Level.ALLOW:
        workspace.name = SHARED
        people = [member for member in people if member.id == reader.id]
    return Side(
        workspace=workspace,
        others=len(selectors.workspaces_of(actor)) > 1,
        threads=[replace(line, waits=waits.threads.get(line.thread.id, 0)) for line in threads[:most]],
        documents=documents[:most],
        people=people,
        me=_me(reader, people),
        waits=waits,
        more_threads=len(threads) > len(threads[:most]),
        more_documents=len(documents) > len(documents[:most]),
        may={action.value: decision.level is Level.ALLOW for action, decision in decisions.items()},
        at=at,
        thread_id=thread,
        document_id=document,
    )


def thread_data(reader: UUID, thread: Thread, side: Side) -> dict[str, Any]:
    """Return what the thread page embeds for its scripts (docs/protocol.md): the same items a socket would send."""
    actor = Person(reader)
    mark = ReadMark.objects.filter(thread=thread, user=reader).values_list("seq", flat=True).first()
    return {
        "viewer": admission(reader, thread).json,
        "thread": reads.build(actor, [("thread", thread.id)])[0],
        "people": [
            {"id": str(member.id), "name": member.name, "hue": member.hue, "role": member.role}
            for member in side.people
        ],
        "workspace": {"id": str(thread.workspace_id), "name": side.workspace.name},
        "read_seq": mark or 0,
        **page_items(actor, thread),
    }


def every_agent(workspace: UUID) -> list[Member]:
    """Return the active agents there are, those enabled in the workspace with their role. The caller has checked that
    the reader may manage it."""
    enabled = {member.id: member for member in selectors.agents_of(workspace)}
    accounts = User.objects.filter(kind=AccountKind.AGENT.value, is_active=True).order_by("display_name", "username")
    return [enabled.get(one.id) or Member(one.id, one.name, one.username, None, None) for one in accounts]


def shown_document(actor: Actor, thread: Thread) -> Document | None:
    """Return the document a thread's page opens with: the one it shows, else the first it follows, else none."""
    followed = selectors.followed_by(actor, thread.id)
    return next((document for document in followed if document.id == thread.focus_id), next(iter(followed), None))


def _me(reader: User, people: Sequence[Member]) -> Me:
    member = next((member for member in people if member.id == reader.id), None)
    role = member.role if member else ("administrator" if reader.is_superuser else None)
    return Me(reader.id, reader.name, member.hue if member else 0, role)
