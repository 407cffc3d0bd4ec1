"""``POST /agui/<thread>/``: a thread driven by an AG-UI front end (DESIGN 11).

A run posts the newest message of its input as the client, or answers questions, and is then shown the turn that comes
of it. What waits for people ends a run as an interrupt. State, context and tools of the input are not read: what the
agent may call is enabled in the workspace.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from uuid import UUID

from ag_ui.core import BaseEvent, RunAgentInput
from django.http import HttpResponse
from ninja.errors import HttpError
from pydantic import ValidationError

from agents.clients.agui.asking import Asked, asked
from agents.clients.agui.mapping import Run
from agents.clients.answers import Receive, Scope, Send
from agents.clients.http import authenticated
from agents.clients.rest.asking import require_left, spend
from agents.clients.rest.following import Following, Lost
from agents.clients.rest.problems import TooLarge, WrongType, answer_to, problem
from agents.clients.rest.quotas import COMMANDS
from collab.canonical import BadJson, parse_json
from collab.db import AWAY, in_db
from collab.errors import Busy, Invalid
from permissions.actors import Client
from permissions.errors import NotFound

LARGEST = 1_048_576
"""Bytes of an input, the most that is taken: front ends send the whole conversation."""

RUNS_A_CLIENT = 5
RUNS_A_PROCESS = 200

_ADDRESS = re.compile(r"/agui/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/?")


class AgUi:
    """The ASGI application of ``/agui/``."""

    def __init__(self) -> None:
        self._open: Counter[Client] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        with ExitStack() as stack:
            try:
                bearer = await in_db(authenticated, scope)
                spent = spend(bearer.actor, COMMANDS)
                require_left(spent)
                if scope["method"] != "POST":
                    await _say(send, problem(405, "method", "A run is sent with POST.", headers={"Allow": "POST"}))
                    return
                thread = _thread(scope)
                stack.enter_context(self._counted(bearer.actor))
                wanted = await _input(scope, receive)
                begun = await in_db(asked, bearer.actor, thread, wanted)
            except Exception as error:
                await _say(send, answer_to(error, f"{scope['method']} {scope['path']}"))
                return
            await send({"type": "http.response.start", "status": 200, "headers": _headers(spent.headers)})
            await _sent(begun, Following(bearer, thread, begun.position), receive, send)

    @contextmanager
    def _counted(self, actor: Client) -> Iterator[None]:
        """Count one run of a client for as long as this is open.

        Raises:
            Busy: the client, or everyone, has too many.
        """
        if self._open[actor] >= RUNS_A_CLIENT:
            raise Busy(f"A client may have {RUNS_A_CLIENT} runs at once.", retry_after=5)
        if self._open.total() >= RUNS_A_PROCESS:
            raise Busy("Too many runs are open here at once.", retry_after=5)
        self._open[actor] += 1
        try:
            yield
        finally:
            self._open -= Counter({actor: 1})


def _thread(scope: Scope) -> UUID:
    address = _ADDRESS.fullmatch(scope["path"])
    if address is None:
        raise NotFound
    return UUID(address[1])


async def _input(scope: Scope, receive: Receive) -> RunAgentInput:
    types = [value for name, value in scope["headers"] if name == b"content-type"]
    if [value.split(b";")[0].strip().lower() for value in types] != [b"application/json"]:
        raise WrongType
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST:
            raise TooLarge(f"An input may take {LARGEST:,} bytes.")
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            break
    try:
        return RunAgentInput.model_validate(parse_json(body, max_bytes=LARGEST))
    except BadJson as error:
        raise HttpError(400, error.because) from error  # answered as a body of REST that is no JSON
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Invalid(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}.") from error


async def _sent(begun: Asked, following: Following, receive: Receive, send: Send) -> None:
    """Send a run until it is over, or its front end has gone; the turn goes on without it."""
    gone = asyncio.ensure_future(_gone(receive, following))
    try:
        async for event in _events(begun, following):
            text = f"data: {event.model_dump_json(by_alias=True)}\n\n"
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
    finally:
        gone.cancel()
        with suppress(asyncio.CancelledError):
            await gone
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _events(begun: Asked, following: Following) -> AsyncIterator[BaseEvent]:
    run = begun.run
    for event in run.begun():
        yield event
    if begun.ends is not None:
        for event in run.finished(begun.ends):
            yield event
        return
    try:
        async for text in following.texts():
            for event in _told(run, text):
                yield event
            if run.over:
                return
        ended = run.failed("The run was shown as long as it may be; its turn goes on. Read on in the thread.", "limit")
    except Lost as lost:
        ended = run.failed(lost.because, lost.code)
    except AWAY:
        ended = run.failed("The database is away; the turn goes on when it is back.", "away")
    for event in ended:
        yield event


def _told(run: Run, text: str) -> list[BaseEvent]:
    """Return what one event of a thread's stream tells of a run."""
    fields: dict[str, str] = dict(
        line.split(": ", 1) for line in text.split("\n") if ": " in line and not line.startswith(":")
    )
    match fields.get("event"):
        case "event":
            return list(run.read(json.loads(fields["data"])))
        case "live":
            return list(run.live(json.loads(fields["data"])))
        case _:
            return list(run.nothing_follows())


async def _gone(receive: Receive, following: Following) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    following.end()


def _headers(more: dict[str, str]) -> list[tuple[bytes, bytes]]:
    headers = {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Accel-Buffering": "no",
        **more,
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _say(send: Send, answer: HttpResponse) -> None:
    headers: dict[str, Any] = {**answer.headers, "Content-Length": len(answer.content), "Cache-Control": "no-store"}
    encoded = [(name.encode(), str(value).encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": encoded})
    await send({"type": "http.response.body", "body": answer.content})


agui = AgUi()
"""Mounted by ``collab/asgi.py``, which knows it by the settings alone."""
