"""Programs that register themselves, and people who let them in, in this process."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from django.test import Client

from agents.clients.mcp.asgi import Mcp
from agents.clients.oauth.asgi import OAuth
from collab.db import close_connections, in_db
from tests.support.cast import Someone
from tests.support.mcp import ORIGIN

BACK = "http://127.0.0.1:33418/back"
RESOURCE = f"{ORIGIN}/mcp"


@dataclass
class Program:
    """A program that registered itself, as it goes from asking to a token."""

    http: httpx.AsyncClient
    client_id: str = ""
    back: str = BACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    async def registers(self, **metadata: Any) -> httpx.Response:
        """Register; what is given stands in the place of what is usual."""
        told = {"client_name": "Inspector", "redirect_uris": [self.back], **metadata}
        answer = await self.http.post("/oauth/register", json=told)
        if answer.status_code == 201:
            self.client_id = answer.json()["client_id"]
        return answer

    async def asks(self, **params: str | None) -> httpx.Response:
        """Ask for a token; the answer leads to the consent page."""
        asked = {
            "client_id": self.client_id, "response_type": "code", "redirect_uri": self.back, "state": "s1",
            "code_challenge": self.challenge, "code_challenge_method": "S256", "resource": RESOURCE, **params,
        }  # fmt: skip
        sent = {name: value for name, value in asked.items() if value is not None}
        return await self.http.get("/oauth/authorize", params=sent)

    async def page(self, **params: str | None) -> str:
        """Ask, and return the path of the consent page."""
        answer = await self.asks(**params)
        assert answer.status_code == 302, answer.text
        found = urlsplit(answer.headers["Location"])
        assert f"{found.scheme}://{found.netloc}" == ORIGIN
        return f"{found.path}?{found.query}"

    async def exchanges(self, code: str, **params: str) -> httpx.Response:
        """Exchange a code for a token."""
        told = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self.back, "client_id": self.client_id,
            "code_verifier": self.verifier, **params,
        }  # fmt: skip
        return await self.http.post("/oauth/token", data=told)

    async def renews(self, refresh_token: str) -> httpx.Response:
        """Renew a token."""
        told = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": self.client_id}
        return await self.http.post("/oauth/token", data=told)

    async def let_in_by(self, someone: Someone, *workspaces: Any, role: str = "") -> dict[str, Any]:
        """Go the whole way and return what the program is given."""
        code = told_in(await decides(someone, await self.page(), *workspaces, role=role))["code"]
        answer = await self.exchanges(code)
        assert answer.status_code == 200, answer.text
        given: dict[str, Any] = answer.json()
        return given

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")


@asynccontextmanager
async def program(**metadata: Any) -> AsyncIterator[Program]:
    """Register a program with applications of its own until this closes: what others asked counts for nothing."""
    mcp, oauth = Mcp(), OAuth()

    async def both(scope: Any, receive: Any, send: Any) -> None:
        await (mcp if scope["path"].startswith("/mcp") else oauth)(scope, receive, send)

    way = httpx.ASGITransport(app=both, client=("192.0.2.8", 40_000))
    async with httpx.AsyncClient(transport=way, base_url=ORIGIN) as http:
        made = Program(http)
        assert (await made.registers(**metadata)).status_code == 201
        yield made
    await mcp.end()
    close_connections()


def browser_of(someone: Someone | None) -> Client:
    """Return the browser of someone, signed in, or of nobody."""
    browser = Client()
    if someone is not None:
        browser.force_login(someone.user)
    return browser


async def visits(someone: Someone | None, page: str) -> Any:
    """Open a page as someone."""
    return await in_db(lambda: browser_of(someone).get(page))


async def decides(someone: Someone, page: str, *workspaces: Any, act: str = "allow", role: str = "") -> Any:
    """Send the form of the consent page as someone."""
    form = {"act": act, "workspaces": [str(one.id) for one in workspaces], "role": role}
    return await in_db(lambda: browser_of(someone).post(page, form))


def told_in(answer: Any) -> dict[str, str]:
    """Return what the program is told by the address that someone goes back to."""
    assert answer.status_code == 302, answer.content
    return {name: values[0] for name, values in parse_qs(urlsplit(answer["Location"]).query).items()}
