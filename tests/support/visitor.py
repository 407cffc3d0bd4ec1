"""A person at a running server: signing in, reading pages, opening a thread's socket as their browser would."""

from __future__ import annotations

import re
from typing import Any, Self
from uuid import UUID

import httpx
import websockets

from tests.support.server import Server

DEMO_PASSWORD = "accord-demo"
THREAD_LINK = re.compile(r"/t/([0-9a-f-]{36})/")


class Visitor:
    """One browser's cookies at one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.http = httpx.Client(base_url=server.url, follow_redirects=True, timeout=30)

    def sign_in(self, username: str, password: str = DEMO_PASSWORD) -> Self:
        """Sign in through the form, and fail when the server does not let this person in."""
        self.http.get("/sign-in/").raise_for_status()
        form = {"username": username, "password": password, "csrfmiddlewaretoken": self.http.cookies["csrftoken"]}
        self.http.post("/sign-in/", data=form, headers={"Origin": self.server.url}).raise_for_status()
        assert "sessionid" in self.http.cookies, f"{username} was not signed in"
        return self

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
