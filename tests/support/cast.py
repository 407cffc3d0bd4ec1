"""The cast of every test, and the studio they share, made through the services as people would make it.

Ana is the owner, Ben an editor, Vera a viewer, Zoe a stranger; Robin is the agent, Desk a client.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agents.services import agent_create
from collab.models.documents import Document
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from collab.services.documents import document_create
from collab.services.threads import thread_create
from collab.services.workspaces import agent_enable, member_add, workspace_create
from permissions.actors import Agent, Client, Person, Principal, System
from permissions.decisions import AccountKind
from permissions.models import User
from permissions.roles import Role
from permissions.services import account_create_service

PASSWORD = "kept by the cast only"
PLAN = "# Launch plan\n\nDinner on Friday for 12.\n\nBudget: 900.\n"


@dataclass(frozen=True, slots=True)
class Someone:
    """A person of the cast: their account, and the actor they are when they do something themselves."""

    user: User

    @property
    def id(self) -> UUID:
        return self.user.pk

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def actor(self) -> Person:
        return Person(self.user.pk)


@dataclass(frozen=True, slots=True)
class Desk:
    """A client's account; it acts for whom it is asked to."""

    user: User

    def acting_for(self, someone: Someone | None) -> Client:
        """Return the client acting for a person, or for no one."""
        return Client(self.user.pk, someone.id if someone else None)


@dataclass(frozen=True, slots=True)
class Robin:
    """The agent's account; it acts in a thread, for whom it is asked to."""

    user: User

    @property
    def id(self) -> UUID:
        return self.user.pk

    def acting_for(self, principal: Someone | Principal | None, thread: Thread) -> Agent:
        """Return the agent in a turn of a thread that works for a person or a client, or for no one."""
        acts_for = principal.actor if isinstance(principal, Someone) else principal
        return Agent(self.user.pk, thread.id, acts_for)


@dataclass(frozen=True, slots=True)
class Studio:
    """What the cast shares: a workspace, the thread "Launch dinner" with Robin, the document "Launch plan"."""

    workspace: Workspace
    thread: Thread
    document: Document
    ana: Someone
    ben: Someone
    vera: Someone
    robin: Robin


def someone(name: str) -> Someone:
    """Create a person of the cast, who may sign in with ``PASSWORD``."""
    return Someone(User.objects.create_user(name.lower(), password=PASSWORD, display_name=name))


def agent(name: str) -> Robin:
    """Create an agent, with no grant yet."""
    return Robin(agent_create(actor=System(), name=name).account)


def client(name: str) -> Desk:
    """Create a client's account, with no grant yet."""
    return Desk(account_create_service(kind=AccountKind.CLIENT, name=name))


def studio(*, ana: Someone, ben: Someone, vera: Someone, robin: Robin) -> Studio:
    """Create what the cast shares."""
    workspace = workspace_create(actor=ana.actor, name="Studio launch")
    member_add(actor=ana.actor, workspace=workspace.id, username=ben.user.username, role=Role.EDITOR)
    member_add(actor=ana.actor, workspace=workspace.id, username=vera.user.username, role=Role.VIEWER)
    agent_enable(actor=ana.actor, workspace=workspace.id, agent_account=robin.id, role=Role.EDITOR)
    thread = thread_create(actor=ana.actor, workspace=workspace.id, title="Launch dinner", agent_id=robin.id)
    written = document_create(
        actor=ana.actor, workspace=workspace.id, title="Launch plan", kind="markdown", text=PLAN, thread=thread.id
    )
    thread.refresh_from_db()
    return Studio(workspace, thread, Document.objects.get(pk=written.document.id), ana, ben, vera, robin)
