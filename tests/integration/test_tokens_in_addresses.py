"""A token that stands in an address has leaked, wherever it was sent, and whatever else (DESIGN 5; FAILURES L5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import OperationalError

from agents.clients import http
from agents.clients.secrets import secret_made
from agents.clients.tokens import bearer
from agents.errors import BadToken
from collab.asgi import application
from collab.db import close_connections, in_db
from tests.support.cast import Studio
from tests.support.clients import Connected, connected
from tests.support.mcp import ORIGIN

pytestmark = pytest.mark.django_db(transaction=True)

THREAD = UUID(int=1)
ADDRESSES = (
    "/sign-in/?next=/%3Ftoken%3D{}", "/nothing/{}/here", "/static/{}", "/healthz?{}", "/api/v1/me?access_token={}",
    f"/api/v1/stream/{THREAD}?x=%61&after={{}}", "/mcp?access_token={}", "/mcp/{}", f"/agui/{THREAD}/?token={{}}",
    "/oauth/authorize?state={}", "/.well-known/oauth-protected-resource/mcp?x={}", "/hooks/restaurant/?token={}",
)  # fmt: skip


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=application), base_url=ORIGIN) as opened:
        yield opened
    close_connections()


@pytest.fixture
async def desk(studio: Studio) -> Connected:
    return await in_db(connected, studio, studio.ben)


@pytest.mark.parametrize("address", ADDRESSES)
async def test_it_is_refused_and_revoked_though_the_header_is_good(
    browser: httpx.AsyncClient, studio: Studio, desk: Connected, address: str
) -> None:
    other = await in_db(connected, studio, studio.ana, name="Other")
    answer = await browser.get(address.format(desk.secret), headers=other.header)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith('Bearer error="invalid_request"')
    assert "so it was revoked" in answer.json()["because"]
    assert "so it was revoked" in await _fault(desk.secret)
    assert await _fault(other.secret) == ""


async def test_a_socket_with_one_is_not_opened(desk: Connected) -> None:
    scope: dict[str, Any] = {
        "type": "websocket", "path": f"/ws/threads/{THREAD}/", "query_string": f"token={desk.secret}".encode(),
        "headers": [(b"origin", ORIGIN.encode())],
    }  # fmt: skip
    socket = ApplicationCommunicator(application, scope)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(timeout=30))["type"] == "websocket.close"
    assert "so it was revoked" in await _fault(desk.secret)
    close_connections()


async def test_what_looks_like_one_and_is_none_is_refused_too(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/sign-in/", params={"next": secret_made()})).status_code == 401
    assert (await browser.get("/sign-in/", params={"next": secret_made()[:-1]})).status_code == 200


async def test_while_the_database_is_away_it_gets_no_further(
    browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**_: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(http, "tokens_leaked", away)
    answer = await browser.get("/sign-in/", params={"next": secret_made()})
    assert (answer.status_code, answer.json()["code"]) == (503, "away")


async def _fault(secret: str) -> str:
    """Return why a token is not good; empty where it is."""
    try:
        await in_db(bearer, secret)
    except BadToken as bad:
        return bad.because
    return ""
