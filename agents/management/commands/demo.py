"""``manage.py demo``: people, an agent and a workspace to try Accord with."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand
from django.db import transaction

from agents.models.sources import Source
from agents.services import agent_create
from agents.sources.services import source_create
from agents.tools.enabling import enableable, workspace_tool_enable
from collab import selectors
from collab.services.documents import document_create
from collab.services.threads import thread_create
from collab.services.workspaces import agent_enable, member_add, workspace_create
from permissions.actors import Person, System
from permissions.models import User
from permissions.roles import Role
from permissions.services import grant_give

PASSWORD = "accord-demo"
PEOPLE = {"ana": "Ana", "ben": "Ben", "vera": "Vera", "zoe": "Zoe"}
WHAT_THEY_ARE = {
    "ana": "owns the workspace",
    "ben": "edits",
    "vera": "only views",
    "zoe": "is no member",
    "admin": "administers the site",
}
WORKSPACE, THREAD, AGENT = "Studio launch", "Launch dinner", "Robin"
INSTRUCTIONS = "You help a small team plan the launch of its studio. Be brief."
DOCUMENTS = {
    "Launch plan": (
        "markdown",
        "# Launch plan\n\n"
        "We open the studio with a dinner for friends and press.\n\n"
        "## Dinner\n\nFriday, 19:30, a table for 12.\n\n"
        "## Budget\n\n900 for food, 300 for drinks.\n",
    ),
    "Guest list": ("checklist", "- [x] Mara\n- [x] Jon\n- [ ] Ida\n- [ ] The press table\n"),
}


PACKS = {"agents.tools.calls.tools", "agents.tools.restaurant.tools", "agents.tools.shop.tools"}
SOURCES = {
    "restaurant": ("Restaurant", "whsec_ZGVtbyBvZiB0aGUgcmVzdGF1cmFudCwgbm8gc2VjcmV0"),
    "cinema": ("Cinema", "whsec_ZGVtbyBvZiB0aGUgY2luZW1hLCBhbmQgbm8gc2VjcmV0IQ=="),
}
"""What delivers to the demo, and what it signs with: printed here, so never for anything real."""


class Command(BaseCommand):
    """Load the demo; what is there already stays as it is."""

    help = "Load people, an agent, a workspace, a thread, documents, tools and sources to try Accord with."

    @transaction.atomic
    def handle(self, *_: Any, **options: Any) -> None:
        """Make what is missing, through the same services people use, and print the sign-ins."""
        logging.getLogger("agents.tools.enabling").setLevel(logging.WARNING)
        people = {username: _person(username, name) for username, name in PEOPLE.items()}
        if not User.objects.filter(username="admin").exists():
            User.objects.create_superuser("admin", password=PASSWORD, display_name="Admin")
        ana = Person(people["ana"].pk)
        known = {workspace.name: workspace.id for workspace in selectors.workspaces_of(ana)}
        _fill(ana, known.get(WORKSPACE) or workspace_create(actor=ana, name=WORKSPACE).id)
        self._print_sign_ins()

    def _print_sign_ins(self) -> None:
        self.stdout.write(f"Sign in with the password {PASSWORD} as:")
        for username, what in WHAT_THEY_ARE.items():
            self.stdout.write(f"  {username:6} {what}")
        self.stdout.write("Sources, and what they sign with (for trying them; never use these for anything real):")
        for name, (_, secret) in SOURCES.items():
            self.stdout.write(f"  {name:10} {secret}")


def _person(username: str, name: str) -> User:
    found = User.objects.filter(username=username).first()
    return found or User.objects.create_user(username, password=PASSWORD, display_name=name)


def _fill(ana: Person, workspace: UUID) -> None:
    members = {member.name for member in selectors.people_of(workspace)}
    for username, role in (("ben", Role.EDITOR), ("vera", Role.VIEWER)):
        if PEOPLE[username] not in members:
            member_add(actor=ana, workspace=workspace, username=username, role=role)
    robin = _agent(ana, workspace)
    threads = {line.thread.title: line.thread.id for line in selectors.threads_of(ana, workspace)}
    thread = threads.get(THREAD) or thread_create(actor=ana, workspace=workspace, title=THREAD, agent_id=robin).id
    titles = {line.document.title for line in selectors.documents_of(ana, workspace)}
    for title, (kind, text) in DOCUMENTS.items():
        if title not in titles:
            document_create(actor=ana, workspace=workspace, title=title, kind=kind, text=text, thread=thread)
    _tools(ana, workspace, [User.objects.get(username="ben"), User.objects.get(pk=robin)])
    _sources(ana, workspace, thread)


def _tools(ana: Person, workspace: UUID, holders: list[User]) -> None:
    """Enable the restaurant's and the shop's tools, and undoing; whoever owns the workspace needs no grant."""
    for tool in enableable():
        if tool.fn.__module__ in PACKS:
            enabled = workspace_tool_enable(actor=ana, workspace=workspace, tool=tool.name)
            for holder in holders:
                grant_give(by=ana, holder=holder, codename="use_tool", obj=enabled)


def _sources(ana: Person, workspace: UUID, thread: UUID) -> None:
    for name, (label, secret) in SOURCES.items():
        if not Source.objects.filter(name=name).exists():
            source_create(
                actor=ana, workspace=workspace, name=name, label=label, handler=name, secret=secret,
                default_thread_id=thread,
            )  # fmt: skip


def _agent(ana: Person, workspace: UUID) -> UUID:
    enabled = {agent.name: agent.id for agent in selectors.agents_of(workspace)}
    if AGENT in enabled:
        return enabled[AGENT]
    robin = agent_create(actor=System(), name=AGENT, instructions=INSTRUCTIONS).account
    agent_enable(actor=ana, workspace=workspace, agent_account=robin.id, role=Role.EDITOR)
    return robin.id
