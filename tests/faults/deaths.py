"""Where a process dies that works a turn, and what Ana asked it for; each case in a process of its own.

``repeat_KIND`` is ``book_KIND`` asked for again, after its answer was lost and Ana let it be done again; ``undo_KIND``
has the next turn undo what ``book_KIND`` did.

How far the call of a case is as it dies: ``not_stored``: not even its row is; ``stored``, and not sent; ``acted``:
sent, and the world did it; ``answered``: its result arrived; ``settled``: that is stored. One that undoes another is
besides ``claimed``: the world is not asked; and ``taken_back``: it is, and the call that is undone says nothing of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any, NoReturn
from uuid import UUID

import httpx
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connections

from agents.actions.services import action_approve
from agents.models.actions import PendingAction
from agents.models.turns import Call
from agents.providers.choose import model_for
from agents.sources import acting
from agents.tools import gate, settling, undoing
from agents.tools.enabling import workspace_tool_enable
from agents.tools.registry import TOOLS
from agents.tools.services import call_repeat
from agents.turns import lease
from agents.turns.runner import Runner
from collab.models.workspaces import Workspace
from collab.services.messages import message_post
from collab.services.threads import thread_create
from permissions.actors import Person
from permissions.models import User
from permissions.services import grant_give
from tests.faults.tables import HALL, tables


def tables_registered() -> None:
    """Have this process know the tools of ``tables.py``, and take what the world does not have as not sent: whoever
    sent it is dead."""
    TOOLS.update({tool.name: tool for tool in tables()})
    settling.MAY_ARRIVE = timedelta(0)


def deliveries_left() -> None:
    """Have this process act on no delivery that it stores."""
    acting.delivered = lambda ids: time.sleep(3600)


def work_to_death(cases: Sequence[str]) -> None:
    """Work each case, ``TOOL:POINT``, in a fork of this process, which holds no connection and no thread; print the
    thread that it left behind, and how it ended."""
    _warmed()
    for case in cases:
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            _die_of(case, writes)
        os.close(writes)
        with os.fdopen(reads) as told:
            thread = told.read()
        status = os.waitpid(child, 0)[1]
        _slow(0)
        line = {"case": case, "thread": thread, "ended": os.waitstatus_to_exitcode(status)}
        sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.flush()


def _warmed() -> None:
    """Do once what each fork would do again: the imports that the first turn of a process makes."""
    import_module("agents.turns.jobs")
    get_channel_layer()
    model_for(None)
    asyncio.run(HALL.asked("GET", "/reservations", query={"day": "2027-06-01"}))


def _die_of(case: str, writes: int) -> NoReturn:
    """Ask for the tool of a case, and work the turn that calls it up to the point of the case."""
    asked, point = case.split(":")
    lease.HOLDER = f"dies:{os.getpid()}:{case}"  # made at the import, which every fork shares
    try:
        thread = _asked_for(asked)
        os.write(writes, str(thread).encode())
        _prepared(asked, thread)
        connections.close_all()
        _armed(point)
        asyncio.run(Runner(thread).work())
    except BaseException:
        traceback.print_exc()
    os._exit(1)  # it lives, so it did not come to its point


def _ana() -> Person:
    return Person(User.objects.get(username="ana").pk)


def _asked_for(asked: str) -> UUID:
    ana, workspace = _ana(), Workspace.objects.get()
    robin = User.objects.get(kind="agent", display_name="Robin")
    tool = re.sub("^(repeat|undo)", "book", asked)
    for name in (tool, "undo_call"):
        enabled = workspace_tool_enable(actor=ana, workspace=workspace.id, tool=name)
        grant_give(by=ana, holder=robin, codename="use_tool", obj=enabled)
    thread = thread_create(actor=ana, workspace=workspace.id, title=asked, agent_id=robin.id)
    message_post(actor=ana, thread=thread.id, content=tool, client_id="asked")
    return thread.id


def _prepared(asked: str, thread: UUID) -> None:
    """Do what comes before the turn that dies."""
    ana, (verb, kind) = _ana(), asked.split("_", 1)
    if verb == "book":
        return
    _switch(lose_replies=int(verb == "repeat"))
    asyncio.run(Runner(thread).work())
    match verb:
        case "order":
            action_approve(actor=ana, action=PendingAction.objects.get(thread=thread).id)
        case "repeat":
            call_repeat(actor=ana, call=Call.objects.get(turn__thread=thread).id)
            message_post(actor=ana, thread=thread, content=f"book_{kind}", client_id="asked again")
        case "undo":
            message_post(actor=ana, thread=thread, content=asked, client_id="asked again")


def _armed(point: str) -> None:
    """Have this process die at a point of the next call."""
    match point:
        case "not_stored":
            gate._store_sent = _die
        case "stored":
            gate._sent = _die
        case "acted":
            _slow(20_000)
            gate._sent = _watching(gate._sent)
        case "answered":
            gate._store_outcome = _die
        case "claimed":
            undoing.undone = _die
        case "taken_back":
            undoing.undo_recorded = _die
        case "settled":
            gate._store_outcome = _dying_after(gate._store_outcome)


def _die(*_: Any, **__: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nothing outlives this")


def _dying_after(stored: Any) -> Any:
    def then_dies(*args: Any) -> None:
        stored(*args)
        _die()

    return then_dies


def _watching(sent: Any) -> Any:
    async def watched(tool: Any, ctx: Any, args: Any) -> Any:
        watch = asyncio.create_task(_dies_once_it_is_done(ctx.key))
        try:
            return await sent(tool, ctx, args)
        finally:
            watch.cancel()

    return watched


async def _dies_once_it_is_done(key: str) -> None:
    async with httpx.AsyncClient(base_url=settings.ACCORD_WORLD_URL) as world:
        while True:
            entries = (await world.get("/ledger")).json()["entries"]
            if any(entry["args"].get("name") == key for entry in entries):
                _die()
            await asyncio.sleep(0.02)


def _slow(milliseconds: int) -> None:
    """Have the world take its time to answer what it has done."""
    _switch(slow_ms=milliseconds)


def _switch(**switches: int) -> None:
    httpx.post(f"{settings.ACCORD_WORLD_URL}/switches", json=switches).raise_for_status()
