"""Tokens for clients of the demo's people, issued on the database of a server that runs in a process of its own."""

from __future__ import annotations

import re

from tests.support.server import Server

_ISSUED = """
from agents.clients.services import client_enable, client_register, token_issue
from agents.models.tools import WorkspaceTool
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.models import User
from permissions.roles import Role
from permissions.services import grant_give
place = Workspace.objects.get()
owner = Person(User.objects.get(username="ana").pk)
for username in ("ana", "ben"):
    person = Person(User.objects.get(username=username).pk)
    client = client_register(actor=person, name=f"Desk of {username}", person=person.id)
    client_enable(actor=owner, workspace=place.id, client=client.pk, role=Role.EDITOR)
    for tool in WorkspaceTool.objects.all():
        grant_give(by=owner, holder=client.account, codename="use_tool", obj=tool)
    _, secret = token_issue(actor=person, client=client.pk, name="Tests", workspaces=[place.id], person=person.id)
    print(f"{username}={secret}")
"""


def issued(server: Server) -> dict[str, str]:
    """Register a client of Ana and one of Ben, both editors that may use every tool, and return the secret of each by
    the person's name."""
    return dict(re.findall(r"^(ana|ben)=(\S+)", server.manage("shell", "-c", _ISSUED), re.MULTILINE))
