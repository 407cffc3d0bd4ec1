"""Carrying out the acts of a scenario: each through the same commands, services and admission as outside of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import singledispatchmethod
from typing import Any
from uuid import UUID

from agents.models.actions import PendingAction
from agents.models.tools import WorkspaceTool
from agents.scenarios import acts
from agents.scenarios.cast import Cast, source_named
from agents.scenarios.driver import Driver, delivered
from agents.scenarios.outside import Outside
from agents.sources.hooks import Hooks
from agents.sources.schemes import SCHEMES
from agents.sources.services import secret_made
from collab import commands
from collab.db import in_db
from collab.errors import CollabError
from permissions.errors import PermissionsError
from permissions.models import User
from permissions.services import grant_take


@dataclass
class Performer:
    """Carries out acts and says, in a line each, what was done and what came back at once."""

    cast: Cast
    driver: Driver
    world: Outside
    _commands: int = 0
    _posted: dict[str, UUID] = field(default_factory=dict)

    @singledispatchmethod
    async def perform(self, act: Any) -> str:
        """Carry out an act and return the line that says so."""
        raise TypeError(f"nobody can do {act!r}")

    @perform.register
    async def _posts(self, act: acts.Posts) -> str:
        again = act.id is not None and act.id in self._posted
        said = f"{act.who} posts{' again, with the same id' if again else ''}: “{act.text}”"
        body = {"thread": str(self.cast.thread), "text": act.text}
        came = await self._command(act.who, "message_post", body, id=act.id)
        if act.id is not None and "message" in came:
            self._posted[act.id] = UUID(came["message"])
        return f"{said}{_refusal(came)}"

    @perform.register
    async def _means(self, act: acts.Means) -> str:
        body = {"message": str(self._posted[act.message]), "meant": act.meant}
        came = await self._command(act.who, "message_mean", body)
        return f"{act.who} says that it {_MEANS[act.meant]}{_refusal(came)}"

    @perform.register
    async def _delivers(self, act: acts.Delivers) -> str:
        answer = await self._sent(act)
        await delivered()
        old = f", signed {act.minutes_old} minutes ago" if act.minutes_old else ""
        forged = ", signed by another" if act.forged else ""
        return f"{act.source} delivers {act.id}{old}{forged}: {_answered(answer)}"

    @perform.register
    async def _approves(self, act: acts.Approves) -> str:
        came = await self._command(act.who, "action_approve", await in_db(self._action, act.action))
        return f"{act.who} approves {act.action}{_refusal(came)}"

    @perform.register
    async def _declines(self, act: acts.Declines) -> str:
        body = {**await in_db(self._action, act.action), "reason": act.reason}
        came = await self._command(act.who, "action_decline", body)
        return f"{act.who} declines {act.action}{_refusal(came)}"

    @perform.register
    async def _sets_timer(self, act: acts.SetsTimer) -> str:
        body = {
            "thread": str(self.cast.thread), "text": act.text, "at": act.at, "does": act.does, "subject": act.subject,
        }  # fmt: skip
        came = await self._command(act.who, "timer_set", body)
        return f"{act.who} sets a timer for {act.at}: “{act.text}”{_refusal(came)}"

    @perform.register
    async def _takes(self, act: acts.Takes) -> str:
        await in_db(self._grant_taken, act)
        return f"{act.who} takes {act.holder}'s grant to use {act.tool}"

    @perform.register
    async def _passes(self, act: acts.Passes) -> str:
        time = timedelta(minutes=act.minutes, seconds=act.seconds)
        self.driver.passes(time)
        minutes = f"{act.minutes} min" if act.minutes else ""
        return f"{' '.join(filter(None, [minutes, f'{act.seconds} s' if act.seconds else '']))} pass"

    @perform.register
    async def _world(self, act: acts.World) -> str:
        self.world.switch(act.switches)
        return f"The world: {', '.join(f'{name} {json.dumps(value)}' for name, value in act.switches.items())}"

    @perform.register
    async def _dies(self, act: acts.Dies) -> str:
        self.driver.dies = True
        return "The process that works the next turn will be killed between a send and its result"

    async def _command(self, who: str, name: str, body: dict[str, Any], *, id: str | None = None) -> dict[str, Any]:
        """Send a command as a person; what refuses it is returned, as ``because``."""
        self._commands += 1
        actor = self.cast.people[who]
        try:
            return await in_db(commands.run, actor, name, id or f"command-{self._commands}", body)
        except (CollabError, PermissionsError) as refused:
            return {"because": refused.because}

    async def _sent(self, act: acts.Delivers) -> tuple[int, dict[str, Any]]:
        """Send a delivery to a desk of its own, as to a process that has just begun."""
        source = await in_db(source_named, act.source)
        body = json.dumps(act.body).encode()
        headers = SCHEMES[source.scheme].sign(
            body, event_id=act.id, sent_at=self.driver.now - timedelta(minutes=act.minutes_old),
            secret=secret_made() if act.forged else source.secret,
        )  # fmt: skip
        return await _posted(f"/hooks/{source.name}/", body, headers)

    def _action(self, number: str) -> dict[str, Any]:
        action = PendingAction.objects.filter(thread_id=self.cast.thread, number=int(number[1:])).first()
        if action is None:
            raise acts.ScenarioError(f"There is no {number} at this point of the scenario.")
        return {"action": str(action.pk)}

    def _grant_taken(self, act: acts.Takes) -> None:
        enabled = WorkspaceTool.objects.get(workspace=self.cast.workspace, tool=act.tool)
        holder = User.objects.get(pk=self.cast.people[act.holder].id)
        if not grant_take(by=self.cast.people[act.who], holder=holder, codename="use_tool", obj=enabled):
            raise acts.ScenarioError(f"{act.holder} holds no grant to use {act.tool}.")


_MEANS = {"adds": "adds to what is done", "independent": "is about something else", "revises": "changes what is done"}


def _refusal(came: Mapping[str, Any]) -> str:
    return f". Refused: {came['because']}" if "because" in came else ""


def _answered(answer: tuple[int, dict[str, Any]]) -> str:
    status, told = answer
    if "because" in told:
        return f"{status}. {told['because']}"
    return f"{status}, {'a duplicate' if told['duplicate'] else 'stored'}"


async def _posted(path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    """Hand a request to the application that is mounted at ``/hooks/``, and return its status and what it says."""
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "headers": raw, "client": ("192.0.2.1", 40_000)}
    await Hooks()(scope, receive, send)
    return said[0]["status"], json.loads(said[1]["body"])
