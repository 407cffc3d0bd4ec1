"""``/mcp`` as a program speaks to it that was written by hand: JSON-RPC over HTTP, in this process or another."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from agents.clients.mcp.asgi import Mcp
from collab.db import close_connections

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
ORIGIN = "http://127.0.0.1"
NAMED = {"tools/call": "name", "resources/read": "uri"}
ME = {"name": "by hand", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": ME,
}
TAKES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Speaker:
    """A program with a token, or with none."""

    def __init__(self, http: httpx.AsyncClient, secret: str | None) -> None:
        self.http = http
        self.secret = secret

    def with_token(self, secret: str | None) -> Speaker:
        """Return the same program with another token."""
        return Speaker(self.http, secret)

    async def ask(self, method: str, params: Mapping[str, Any] | None = None, **how: Any) -> httpx.Response:
        """Send a request of the newest protocol, which needs no session."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": ENVELOPE}}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if method in NAMED:
            headers["Mcp-Name"] = str((params or {}).get(NAMED[method], ""))
        return await self.post(body, headers=headers, **how)

    async def result(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return what a request is answered; fail where it is an error."""
        answer = await self.ask(method, params)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def fault(self, method: str, params: Mapping[str, Any] | None = None) -> tuple[str, str]:
        """Return the code and the sentence with which a request is refused."""
        error = (await self.ask(method, params)).json()["error"]
        return error["data"]["code"], error["message"]

    async def call(self, tool: str, **args: Any) -> Any:
        """Call a tool and return what it says; fail where it is refused."""
        found = await self._called(tool, args)
        assert not found.get("isError"), found
        assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
        return found["structuredContent"]

    async def refused(self, tool: str, **args: Any) -> tuple[str, str]:
        """Call a tool that refuses; return its code and sentence."""
        found = await self._called(tool, args)
        assert found["isError"], found
        said = found["structuredContent"]
        assert found["content"][0]["text"] == said["because"]
        return said["code"], said["because"]

    async def begin(self) -> str:
        """Begin a session of the protocol that has them, and return its id."""
        params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": ME}
        answer = await self.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert answer.status_code == 200, answer.text
        session = answer.headers["mcp-session-id"]
        await self.in_session(session, "notifications/initialized", id=None)
        return session

    async def in_session(
        self, session: str, method: str, params: Mapping[str, Any] | None = None, id: int | None = 2
    ) -> httpx.Response:
        """Send a message in a session."""
        body = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": HANDSHAKE}
        return await self.post(body if id is None else {**body, "id": id}, headers=headers)

    async def post(
        self, body: Any, *, headers: Mapping[str, str] | None = None, path: str = "/mcp", **how: Any
    ) -> httpx.Response:
        """Send anything."""
        sent = {**TAKES, **self.authorization, **(headers or {})}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.http.post(path, content=content, headers=sent, **how)

    @property
    def authorization(self) -> dict[str, str]:
        return {} if self.secret is None else {"Authorization": f"Bearer {self.secret}"}

    async def _called(self, tool: str, args: Mapping[str, Any]) -> Any:
        given = {name: str(value) if hasattr(value, "hex") else value for name, value in args.items()}
        return await self.result("tools/call", {"name": tool, "arguments": given})


def answer_in(stream: str) -> Any:
    """Return the message that a stream of one answer carries."""
    (data,) = (line.removeprefix("data:") for line in stream.splitlines() if line.startswith("data: {"))
    return json.loads(data)


@asynccontextmanager
async def speaking(secret: str | None = None, app: Any = None) -> AsyncIterator[Speaker]:
    """Speak to ``/mcp`` in this process until this closes."""
    mcp = Mcp()
    way = httpx.ASGITransport(app=app or mcp, client=("192.0.2.7", 40_000))
    async with httpx.AsyncClient(transport=way, base_url=ORIGIN) as http:
        yield Speaker(http, secret)
    await mcp.end()
    close_connections()
