"""What a client waits for: a call over MCP beside the same over REST, and a thread's newest messages however many it
has, over real sockets to one server (DESIGN 11)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx2
from django.test import Client as Browser
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.benchmarks import history, people
from tests.benchmarks.results import Result, p50, ratio_at_most
from tests.benchmarks.run import Run
from tests.support.cast import Studio
from tests.support.clients import Connected, connected
from tests.support.queries import queries

FEW, MANY = 50, 5_000
"""Messages of the two threads; two of each exchange of the past that is written."""

UNCOUNTED = 10
Calls = Mapping[str, Callable[[], Awaitable[Any]]]
Times = Mapping[str, list[float]]


def measure(run: Run) -> list[Result]:
    """Fill two threads, then ask by turns as one client: over REST, and in one open session over MCP."""
    made, many = people.studio(), run.size(MANY, 500)
    short, long = (people.another_thread(made, title) for title in ("Short", "Long"))
    for thread, messages in ((short, FEW), (long, many)):
        history.fill(made, thread, messages * history.EVENTS // 2)
    client = connected(made, made.ana)
    few, more = (_statements(client, thread.id) for thread in (short, long))
    with run.accord() as server:
        took = asyncio.run(_asked(run, server.url, client, made, short.id, long.id))
    rest, newest = "the same over REST", f"the last 50 messages over REST, of {many:,}"
    beside = f"the same of {FEW}"
    return [
        Result("a call over MCP that reads a document, p50", p50(took["mcp reads"]), "ms", p50(took["rest reads"]),
               rest, ratio_at_most(3)),
        Result("a call over MCP that posts a comment, p50", p50(took["mcp posts"]), "ms", p50(took["rest posts"]),
               rest, ratio_at_most(3)),
        Result(f"{newest}: statements", more, "", few, beside, ratio_at_most(1)),
        Result(f"{newest}, p50", p50(took["long"]), "ms", p50(took["short"]), beside, ratio_at_most(1.3)),
    ]  # fmt: skip


def _statements(client: Connected, thread: UUID) -> int:
    """Count the statements of a page of messages; the client has asked before, so its token's use is noted."""
    browser, path = Browser(SERVER_NAME="localhost"), f"/api/v1/threads/{thread}/messages"
    browser.get(path, headers=client.header)
    with queries() as sent:
        answer = browser.get(path, headers=client.header)
    assert len(answer.json()["items"]) == FEW
    return len(sent)


async def _asked(run: Run, url: str, client: Connected, made: Studio, short: UUID, long: UUID) -> Times:
    thread, document = str(made.thread.id), str(made.document.id)
    async with _session(url, client) as (rest, mcp):
        reads: Calls = {
            "rest reads": lambda: _read(rest, f"/documents/{document}"),
            "mcp reads": lambda: _call(mcp, "document_read", document=document),
            "short": lambda: _read(rest, f"/threads/{short}/messages"),
            "long": lambda: _read(rest, f"/threads/{long}/messages"),
        }
        comment = {"thread": thread, "text": "Dinner for twelve, please.", "kind": "comment"}
        posts: Calls = {
            "rest posts": lambda: _post(rest, comment),
            "mcp posts": lambda: _call(mcp, "message_post", **comment),
        }
        # As often as a client may within a minute, and no more.
        return {**await _timed(reads, run.size(120, 10)), **await _timed(posts, run.size(36, 10))}


async def _timed(calls: Calls, rounds: int) -> dict[str, list[float]]:
    """Ask each once a round, and return how long each took, in ms, without the first rounds."""
    took: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(UNCOUNTED + rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            await call()
            if number >= UNCOUNTED:
                took[name].append((time.perf_counter() - start) * 1e3)
    return took


@asynccontextmanager
async def _session(url: str, client: Connected) -> AsyncIterator[tuple[httpx2.AsyncClient, Client]]:
    """Connect as a client does: to the API, and with the official client of MCP in a session that stays open."""
    async with (
        httpx2.AsyncClient(base_url=f"{url}/api/v1", headers=client.header, timeout=60) as rest,
        httpx2.AsyncClient(headers=client.header, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode="legacy") as mcp,
    ):
        yield rest, mcp


async def _read(rest: httpx2.AsyncClient, path: str) -> Any:
    return (await rest.get(path)).raise_for_status().json()


async def _post(rest: httpx2.AsyncClient, args: dict[str, str]) -> Any:
    return (await rest.post("/commands/message_post", json=args)).raise_for_status().json()


async def _call(mcp: Client, tool: str, **args: str) -> Any:
    answer = await mcp.call_tool(tool, args)
    assert not answer.is_error, answer
    return answer.structured_content
