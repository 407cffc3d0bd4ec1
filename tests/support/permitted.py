"""A workspace with a thread and a document and nobody in it, for tests of rights: no service of collab is used."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from django.contrib.auth.models import Group

from collab.models.documents import Document
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.actors import System
from permissions.decisions import AccountKind
from permissions.models import Guarded, User
from permissions.roles import Role
from permissions.services import account_create_service, grant_give, group_join, role_set


@dataclass(frozen=True, slots=True)
class Place:
    """Where rights are held, and shorthands that give them as the system would."""

    workspace: Workspace
    thread: Thread
    document: Document

    def role(self, holder: User | Group, role: Role | None) -> None:
        role_set(by=System(), holder=holder, role=role, scope=self.workspace)

    def give(self, holder: User | Group, *codenames: str, on: Guarded | None = None, **more) -> None:
        for codename in codenames:
            grant_give(by=System(), holder=holder, codename=codename, obj=on or self.workspace, **more)


def place(name: str = "Studio launch") -> Place:
    """Create a workspace with a thread and a document, without any grant."""
    workspace = Workspace.objects.create(name=name)
    thread = Thread.objects.create(workspace=workspace, title="Launch dinner")
    document = Document.objects.create(workspace=workspace, title="Launch plan", kind="markdown", data={})
    return Place(workspace, thread, document)


def account(name: str, kind: AccountKind = AccountKind.PERSON, **more) -> User:
    """Create an account without any grant."""
    if kind is AccountKind.PERSON:
        return User.objects.create_user(f"{name.lower()}-{uuid4().hex[:8]}", display_name=name, **more)
    return account_create_service(kind=kind, name=name)


def team(name: str, *members: User) -> Group:
    """Create a group with members, without any grant."""
    group = Group.objects.create(name=name)
    for member in members:
        group_join(by=System(), account=member, group=group)
    return group
