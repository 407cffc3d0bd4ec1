"""Who is in a scenario and what they share: made through the services, as people would make it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from agents.models.agents import Agent
from agents.models.sources import Source
from agents.scenarios.acts import Agent as AgentSettings
from agents.services import agent_create
from agents.sources.services import source_create
from agents.tools.enabling import workspace_tool_enable
from collab.services.threads import thread_create
from collab.services.workspaces import agent_enable, member_add, workspace_create
from permissions.actors import Person, System
from permissions.models import User
from permissions.roles import Role
from permissions.services import grant_give

TOOLS = ("reserve_table", "cancel_table", "find_reservation", "text_group", "undo_call")
ROLES = {"Ben": Role.EDITOR, "Vera": Role.VIEWER}
SOURCES = ("restaurant", "cinema")


@dataclass(frozen=True, slots=True)
class Cast:
    """The people by name, their thread, and its workspace. Ana owns it, Ben edits, Vera views, Zoe is no member."""

    people: Mapping[str, Person]
    workspace: UUID
    thread: UUID


def cast_made(settings: AgentSettings, script: Path) -> Cast:
    """Make the cast in an empty database.

    Args:
        script: what the agent's model plays.
    """
    people = {name: _person(name) for name in ("Ana", "Ben", "Vera", "Zoe")}
    ana = people["Ana"]
    workspace = workspace_create(actor=ana, name="Studio launch").id
    for name, role in ROLES.items():
        member_add(actor=ana, workspace=workspace, username=name.lower(), role=role)
    robin = _robin(ana, workspace, settings, script)
    thread = thread_create(actor=ana, workspace=workspace, title="Launch dinner", agent_id=robin.pk).id
    for tool in TOOLS:
        enabled = workspace_tool_enable(actor=ana, workspace=workspace, tool=tool)
        for holder in (robin, User.objects.get(pk=people["Ben"].id)):
            grant_give(by=ana, holder=holder, codename="use_tool", obj=enabled)
    for name in SOURCES:
        source_create(actor=ana, workspace=workspace, name=name, label=name, handler=name, default_thread_id=thread)
    return Cast(people, workspace, thread)


def source_named(name: str) -> Source:
    """Return a source of the cast."""
    return Source.objects.get(name=name)


def _person(name: str) -> Person:
    return Person(User.objects.create_user(name.lower(), display_name=name).pk)


def _robin(ana: Person, workspace: UUID, settings: AgentSettings, script: Path) -> User:
    made = agent_create(actor=System(), name="Robin", model=f"scripted:{script}")
    Agent.objects.filter(pk=made.pk).update(in_flight=settings.in_flight, classify=settings.classify)
    agent_enable(actor=ana, workspace=workspace, agent_account=made.account.pk, role=Role.EDITOR)
    return made.account
