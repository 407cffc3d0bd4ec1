"""``/mcp``: the SDK's streamable HTTP, behind our tokens (DESIGN 11; STACK, mcp).

No ASGI server is relied on to say when it starts: the session manager runs in a task of its own from the first request.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from uuid import UUID

import structlog
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from agents.clients.answers import Answering, Receive, Scope, Send, say, say_away
from agents.clients.http import authenticated
from agents.clients.mcp.server import BEARER, Answers
from agents.clients.mcp.sessions import IDLE_SECONDS, Book
from agents.clients.mcp.watching import LOOKS_SECONDS, Watcher
from agents.clients.oauth.addresses import is_offered
from agents.clients.origins import MCP_PATH, NotServed, mcp_of, metadata_of, origin_of
from agents.clients.rest.asking import require_left
from agents.clients.rest.quotas import Policy, Quotas
from agents.clients.tokens import Bearer
from agents.errors import Unauthenticated
from collab.db import AWAY, in_db
from collab.errors import Busy

log = structlog.get_logger(__name__)

LARGEST = 2_097_152
"""Bytes of a request: a document of the largest size, with every character of it escaped."""

REQUESTS = Policy("requests", 600)
"""How much of ``/mcp`` a client may use within a minute."""

MOST_SESSIONS = 5_000


class Running:
    """What answers ``/mcp`` on one event loop, from the first request until the process ends."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.watcher = Watcher()
        self.answers = Answers(self.watcher)
        self.book = Book()
        self.manager = StreamableHTTPSessionManager(
            app=self.answers.server(),
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=LARGEST,
            max_sessions=MOST_SESSIONS,
        )
        self._begun, self._over = asyncio.Event(), asyncio.Event()
        self._task = self.loop.create_task(self._run())

    async def begun(self) -> None:
        """Wait until requests can be answered."""
        await self._begun.wait()

    async def end(self) -> None:
        """End every session and stream."""
        self._over.set()
        await asyncio.wait([self._task], timeout=LOOKS_SECONDS)

    def forget(self, whose: UUID, session: str) -> None:
        """Keep nothing of a session that is over."""
        self.book.ended(whose, session)
        self.answers.forget(session)

    async def _run(self) -> None:
        async with self.manager.run():
            self._begun.set()
            beside = [asyncio.ensure_future(work) for work in (self.watcher.run(), self._forget_idle())]
            await self._over.wait()
            for task in beside:
                task.cancel()

    async def _forget_idle(self) -> None:
        while True:
            await asyncio.sleep(60)
            for whose, session in self.book.idle(time.monotonic()):
                self.forget(whose, session)


class Mcp:
    """The ASGI application of ``/mcp``."""

    def __init__(self) -> None:
        self._running: Running | None = None
        self._quotas = Quotas()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = Answering(send)
        try:
            await self._answered(scope, receive, answer)
        except NotServed as error:
            await say(send, error.status, error.code, error.because)
        except Unauthenticated as error:
            await say(send, 401, error.code, error.because, {"WWW-Authenticate": _challenge(scope, error)})
        except Busy as busy:
            await say(send, 429, busy.code, busy.because, {"Retry-After": str(int(busy.retry_after) + 1)})
        except AWAY:
            if answer.status is None:
                await say_away(send)

    async def end(self) -> None:
        """End what is open, as the process ends."""
        if self._running is not None:
            await self._running.end()
            self._running = None

    async def _answered(self, scope: Scope, receive: Receive, answer: Answering) -> None:
        if scope["path"].rstrip("/") != MCP_PATH:
            await say(answer, 404, "not_found", "There is nothing here; MCP is at /mcp.")
            return
        bearer = await in_db(authenticated, scope, audience=mcp_of(origin_of(scope)))
        require_left(self._quotas.spend(bearer.actor, REQUESTS, time.monotonic()))
        known = {**scope, "user": _user(bearer.family), BEARER: bearer}
        await self._served(await self._run(), bearer, known, receive, answer)

    async def _served(
        self, running: Running, bearer: Bearer, scope: Scope, receive: Receive, answer: Answering
    ) -> None:
        session, whose = _session_in(scope), bearer.family
        try:
            with running.watcher.held(bearer.token_id), running.book.asked(whose, session, time.monotonic()) as theirs:
                if theirs:
                    running.answers.goes_on(session, bearer)
                await running.manager.handle_request(scope, receive, answer)
        except asyncio.CancelledError:
            # The token was revoked while this was answered, or the process ends: a stream is closed in order.
            if answer.status is not None and not answer.over:
                await answer({"type": "http.response.body", "body": b""})
            raise
        if scope["method"] == "DELETE" and answer.status in {200, 204}:
            running.forget(whose, session)
        began = "" if session else answer.headers.get(MCP_SESSION_ID_HEADER, "")
        if began:
            for one in running.book.begun(whose, began, time.monotonic()):
                await _end_session(running, whose, scope, one)

    async def _run(self) -> Running:
        running = self._running
        if running is None or running.loop is not asyncio.get_running_loop():
            running = self._running = Running()
        await running.begun()
        return running


async def _end_session(running: Running, whose: UUID, scope: Scope, session: str) -> None:
    """End one of a token's sessions, as the client itself would."""
    kept = [pair for pair in scope["headers"] if pair[0] in {b"host", b"mcp-protocol-version", b"accept"}]
    header = (MCP_SESSION_ID_HEADER.encode(), session.encode())
    ending = {**scope, "method": "DELETE", "headers": [*kept, header]}

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: object) -> None:
        pass

    with suppress(Exception):
        await running.manager.handle_request(ending, receive, send)
    running.forget(whose, session)


def _user(family: UUID) -> AuthenticatedUser:
    """Whom the SDK binds sessions to; it asks it nothing else."""
    return AuthenticatedUser(AccessToken(token="", client_id=str(family), scopes=[]))


def _session_in(scope: Scope) -> str:
    name = MCP_SESSION_ID_HEADER.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _challenge(scope: Scope, error: Unauthenticated) -> str:
    origin = origin_of(scope)
    return error.challenge(metadata_of(origin) if is_offered(origin) else "")


mcp = Mcp()
"""Mounted by ``agents/clients/mounts.py``."""
