"""Whom a figure is measured with: the cast in their studio, and a crowd of viewers."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from collab.models.threads import Thread
from collab.services.threads import thread_create
from collab.services.workspaces import member_add
from permissions.models import User
from permissions.roles import Role
from tests.support import cast
from tests.support.cast import Someone, Studio
from tests.support.sockets import session_of


@dataclass(frozen=True, slots=True)
class Seat:
    """A place to watch or write a thread from: the thread, and the session of whoever sits there."""

    thread: UUID
    session: str


def studio() -> Studio:
    """Make what the cast shares."""
    ana, ben, vera = (cast.someone(name) for name in ("Ana", "Ben", "Vera"))
    return cast.studio(ana=ana, ben=ben, vera=vera, robin=cast.agent("Robin"))


def another_thread(made: Studio, title: str) -> Thread:
    """Open one more thread with Robin."""
    return thread_create(actor=made.ana.actor, workspace=made.workspace.id, title=title, agent_id=made.robin.id)


def seat(someone: Someone, thread: Thread) -> Seat:
    """Sign someone in, to sit at a thread."""
    return Seat(thread.id, session_of(someone.user))


def crowd(made: Studio, size: int) -> list[Someone]:
    """Add this many viewers to the studio."""
    people = []
    for number in range(size):
        user = User.objects.create_user(f"viewer{number}", display_name=f"Viewer {number}")
        member_add(actor=made.ana.actor, workspace=made.workspace.id, username=user.username, role=Role.VIEWER)
        people.append(Someone(user))
    return people
