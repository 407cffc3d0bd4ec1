"""A person at a running server: signing in, reading pages, opening a thread's socket as their browser would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import websockets

from tests.support.server import Server

DEMO_PASSWORD = "accord-demo"
THREAD_LINK = re.compile(r"/t/([0-9a-f-]{36})/")


@contextmanager
def visiting(server: Server, username: str, password: str = DEMO_PASSWORD) -> Iterator[Visitor]:
    """Sign in at a server through its form, as one browser, until this closes."""
    with httpx.Client(base_url=server.url, follow_redirects=True, timeout=30) as http:
        http.get("/sign-in/").raise_for_status()
        form = {"username": username, "password": password, "csrfmiddlewaretoken": http.cookies["csrftoken"]}
        http.post("/sign-in/", data=form, headers={"Origin": server.url}).raise_for_status()
        assert "sessionid" in http.cookies, f"{username} was not signed in"
        yield Visitor(server, http)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Someone signed in at a server: ``http`` carries their cookies."""

    server: Server
    http: httpx.Client

    def thread(self) -> UUID:
        """Return the first thread the person's home page links to."""
        page = self.http.get("/").raise_for_status().text
        found = THREAD_LINK.search(page)
        assert found, "the home page links to no thread"
        return UUID(found.group(1))

    def socket(self, thread: UUID, **options: Any) -> websockets.connect:
        """Return a connection to a thread's socket, to be entered with ``async with``."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        return websockets.connect(
            f"{self.server.ws_url}/ws/threads/{thread}/",
            subprotocols=[websockets.Subprotocol("accord.v1")],
            origin=websockets.Origin(self.server.url),
            additional_headers={"Cookie": cookies},
            **options,
        )
