"""artifactr-ai with grantr, as its documentation puts them together, on one port of 127.0.0.1.

Run by a Python of its own (:mod:`tests.benchmarks.peers.venvs`): ``artifactr_server.py DATABASE_URL PORT``. It has one
workspace with one thread and one document, two people who edit, and a model without delay. It also counts the
statements it sends, BEGIN and COMMIT apart.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import uvicorn
from artifactr import ArtifactWorkspace, MarkdownArtifact, Runner, Session, UserActor, Workspaces
from artifactr.agent.results import InMemoryCommandResults
from artifactr.core import CreateThread, SystemActor, acting_for
from artifactr.fastapi import artifactr_router
from artifactr.sql import SqlStorage, create_sqlite_engine, migrate
from artifactr.workspace import ACTIONS
from fastapi import FastAPI
from grantr import Grants, Resource, ServicePrincipal, User
from grantr.core import Agent as NoOne
from grantr.sql import SqlStorage as GrantStorage
from grantr.sql import migrate as migrate_grants
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from starlette.requests import HTTPConnection

TENANT, WORKSPACE, THREAD, DOCUMENT = "acme", "main", "bench", "plan"
PEOPLE = ("ana", "ben")
CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
REPLY = "It is done and the plan stands."
BUDGETS = cycle([("900", "950"), ("950", "900")])
APPLICATION = ServicePrincipal(id="application")


class Plan(MarkdownArtifact):
    """The document that the agent edits."""


async def respond(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    """Answer at once; a prompt that says "edit" is answered by one edit first."""
    prompts = [part for message in messages for part in message.parts if isinstance(part, UserPromptPart)]
    edited = any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)
    if prompts and "edit" in str(prompts[-1].content) and not edited:
        old, new = next(BUDGETS)
        arguments = f'{{"artifact_id": "{DOCUMENT}", "old": "{old}", "new": "{new}"}}'
        yield {0: DeltaToolCall(name="edit_text", json_args=arguments, tool_call_id=f"edit-{len(messages)}-{new}")}
        return
    yield REPLY


def subject(tenant: str, workspace: str | None, actor: Any) -> Any:
    """Return whom grantr checks: the person, also for an agent's turn; the runner is the application."""
    if isinstance(actor, SystemActor):
        return APPLICATION
    person = acting_for(actor)
    return User(id=person.id) if isinstance(person, UserActor) else NoOne()


async def actor_of(connection: HTTPConnection) -> tuple[str, UserActor]:
    """Believe the header: signing in is not measured."""
    name = connection.headers["x-user"]
    return TENANT, UserActor(id=name, name=name.title())


def engine_for(url: str) -> AsyncEngine:
    """Make the engine that its documentation names for this database."""
    return create_sqlite_engine(url) if url.startswith("sqlite") else create_async_engine(url)


async def prepare(engine: AsyncEngine, grants: Grants, workspaces: Workspaces) -> None:
    """Create the tables, the people and what they share."""
    await migrate(engine)
    await migrate_grants(engine)
    await grants.bootstrap()
    await grants.provision_tenant(TENANT, owner=PEOPLE[0], admins=[])
    owner = User(id=PEOPLE[0])
    await grants.add_member(TENANT, User(id=PEOPLE[1]), by=owner)
    room = Resource(kind="workspace", workspace=WORKSPACE)
    for person in PEOPLE:
        await grants.grant(TENANT, "editor", on=room, to=User(id=person), by=owner)
    workspace = await workspaces.open(TENANT, WORKSPACE, actor=UserActor(id=PEOPLE[0], name="Ana"))
    await workspace.commit(CreateThread(thread_id=THREAD, title="Launch dinner"))
    await workspace.create(Plan(text="# Launch plan\n\nBudget: 900.\n"), artifact_id=DOCUMENT)


def application(url: str) -> FastAPI:
    """Put the application together."""
    engine = engine_for(url)
    grants = Grants(GrantStorage(engine), catalogs=[ACTIONS], application=APPLICATION)
    hooks = grants.hooks(subject)
    workspaces = Workspaces(SqlStorage(engine), types=[Plan], authorize=hooks.authorize, hidden=hooks.hidden)
    agent: Agent[Any, Any] = Agent(
        FunctionModel(stream_function=respond), deps_type=Session[None], capabilities=[ArtifactWorkspace(types=[Plan])]
    )
    runner = Runner(agent, app=None, results=InMemoryCommandResults())
    sent = {"statements": 0}

    def count(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent["statements"] += not statement.upper().startswith(CONTROL)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await prepare(engine, grants, workspaces)
        event.listen(engine.sync_engine, "before_cursor_execute", count)
        yield
        await runner.aclose()
        await engine.dispose()

    app = FastAPI(lifespan=lifespan)
    app.include_router(artifactr_router(workspaces, runner, resolve_actor=actor_of), prefix="/v1")
    app.get("/statements")(lambda: sent)
    return app


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
