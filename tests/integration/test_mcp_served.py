"""``/mcp`` as it is served, over a real socket, with the official client and with one written by hand (DESIGN 11)."""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.support.mcp import Speaker, answer_in
from tests.support.server import ROOT, Server
from tests.support.visitor import Visitor, visiting

ISSUED = """
from agents.clients.services import client_enable, client_register, token_issue
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.models import User
from permissions.roles import Role
ana, place = Person(User.objects.get(username="ana").pk), Workspace.objects.get()
client = client_register(actor=ana, name="Desk", person=ana.id)
client_enable(actor=ana, workspace=place.id, client=client.pk, role=Role.EDITOR)
token, secret = token_issue(actor=ana, client=client.pk, name="Tests", workspaces=[place.id], person=ana.id)
print(f"secret={secret} token={token.pk}")
"""
REVOKED = """
from agents.clients.services import token_revoke
from permissions.actors import System
token_revoke(actor=System(), token="{token}")
"""
MODES = ("legacy", "auto")
"""The official client with sessions, and with the newest protocol."""


@pytest.fixture
def issued(server: Server) -> tuple[str, str]:
    """The secret of Desk, a client of Ana, and its token's id."""
    told = re.search(r"secret=(\S+) token=(\S+)", server.manage("shell", "-c", ISSUED))
    assert told is not None
    return told[1], told[2]


@asynccontextmanager
async def official(server: Server, secret: str, mode: str, **how: Any) -> AsyncIterator[Client]:
    """Connect the official client."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=60) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode, **how) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_reads_posts_proposes_and_is_refused_in_our_words(
    server: Server, issued: tuple[str, str], mode: str
) -> None:
    async with official(server, issued[0], mode) as desk:
        assert {"message_post", "document_save"} < {tool.name for tool in (await desk.list_tools()).tools}
        (place,) = (await _call(desk, "workspace_list"))["workspaces"]
        thread = (await _call(desk, "thread_list", workspace=place["id"]))["threads"][0]["id"]
        await _call(desk, "message_post", thread=thread, text="Hello.", kind="comment")
        said = [item for item in (await _call(desk, "thread_read", thread=thread))["items"] if "text" in item]
        assert said[-1]["author"]["for"]["name"] == "Ana"
        document = (await _call(desk, "document_list", workspace=place["id"]))["documents"][0]
        shown = await _call(desk, "document_read", document=document["id"])
        proposed = await _call(
            desk, "document_save", document=document["id"], text="- [ ] New\n", base_version=shown["version"],
            thread=thread, propose=True,
        )  # fmt: skip
        refused = await desk.call_tool("proposal_accept", {"proposal": proposed["proposal"]})
        assert refused.is_error
        assert refused.structured_content["code"] == "own_proposal"


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed as of 2026-07-28")
@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_hears_of_changed_documents_and_of_no_others(
    server: Server, issued: tuple[str, str], mode: str
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Any) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None and mode == "legacy":  # of the newest protocol, the stream itself says it
            heard.put_nowait(str(uri))

    async with official(server, issued[0], mode, message_handler=hear) as desk:
        watched, other = [resource.uri for resource in (await desk.list_resources()).resources]
        async with _watching(desk, mode, watched, heard):
            for uri in (other, watched):
                id = uri.rsplit("/", 1)[-1]
                version = (await _call(desk, "document_read", document=id))["version"]
                await _call(desk, "document_save", document=id, text="- [ ] New\n", base_version=version)
            assert await asyncio.wait_for(heard.get(), 20) == watched
            await asyncio.sleep(0.5)
            assert heard.empty()


async def test_a_program_written_by_hand_speaks_both_protocols(server: Server, issued: tuple[str, str]) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        desk = Speaker(http, issued[0])
        assert (await desk.call("workspace_list"))["workspaces"]
        session = await desk.begin()
        listed = answer_in((await desk.in_session(session, "tools/list")).text)
        assert len(listed["result"]["tools"]) == len((await desk.result("tools/list"))["tools"])
        assert (await desk.with_token(None).ask("tools/list")).status_code == 401
        ended = await http.delete("/mcp", headers={**desk.authorization, "Mcp-Session-Id": session})
        assert ended.status_code == 200
        assert (await desk.in_session(session, "tools/list")).status_code == 404


async def test_a_stream_ends_when_its_token_is_revoked(server: Server, issued: tuple[str, str]) -> None:
    secret, token = issued
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        desk = Speaker(http, secret)
        session = await desk.begin()
        headers = {**desk.authorization, "Accept": "text/event-stream", "Mcp-Session-Id": session}
        async with http.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            await asyncio.to_thread(server.manage, "shell", "-c", REVOKED.format(token=token))
            async with asyncio.timeout(20):
                assert [line async for line in stream.aiter_lines() if line.startswith("data: {")] == []
    assert "Traceback" not in server.output


async def test_the_official_client_is_let_in_by_a_person_without_pasting_a_token(server: Server) -> None:
    kept = Kept()
    with visiting(server, "ana") as ana:
        let_in = Ana(ana)
        provider = OAuthClientProvider(
            server_url=f"{server.url}/mcp",
            client_metadata=OAuthClientMetadata(
                client_name="Inspector", redirect_uris=[AnyUrl("http://127.0.0.1:33418/back")]
            ),
            storage=kept,
            redirect_handler=let_in.goes,
            callback_handler=let_in.comes_back,
        )
        async with (
            httpx2.AsyncClient(auth=provider, timeout=60) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as inspector,
        ):
            (place,) = (await _call(inspector, "workspace_list"))["workspaces"]
            assert place["name"] == "Studio launch"
    assert kept.tokens is not None
    assert kept.tokens.access_token.startswith("accord_")
    assert kept.client is not None
    assert kept.client.client_secret is None


async def test_the_first_call_of_the_documentation_is_three_lines_and_works(
    server: Server, issued: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(ROOT) / "docs" / "mcp.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(block.splitlines()) == 3
    program: dict[str, Any] = {
        "httpx2": httpx2, "Client": Client, "streamable_http_client": streamable_http_client,
        "url": server.url, "token": issued[0],
    }  # fmt: skip
    exec("async def first_call():\n" + textwrap.indent(block, "    "), program)
    await program["first_call"]()
    assert "Studio launch" in capsys.readouterr().out


class Kept(TokenStorage):
    """What the official client keeps, in memory."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Ana:
    """Ana's browser, in which she lets a program in with everything it asks for."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.back = ""

    async def goes(self, address: str) -> None:
        """Follow the program to the consent page and allow it there."""
        self.back = await asyncio.to_thread(self._allow, address)

    async def comes_back(self) -> AuthorizationCodeResult:
        """Come back to the program with what the server said."""
        told = {name: values[0] for name, values in parse_qs(urlsplit(self.back).query).items()}
        return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

    def _allow(self, address: str) -> str:
        http = self.visitor.http
        page = http.get(address, follow_redirects=True)
        assert "Let “Inspector” in?" in page.text
        form = {
            "csrfmiddlewaretoken": re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[0],
            "workspaces": re.findall(r'name="workspaces" value="([^"]+)"', page.text),
            "role": "editor",
            "act": "allow",
        }
        answer = http.post(str(page.url), data=form, headers={"Referer": str(page.url)}, follow_redirects=False)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["Location"])


@asynccontextmanager
async def _watching(desk: Client, mode: str, uri: str, heard: asyncio.Queue[str]) -> AsyncIterator[None]:
    if mode == "legacy":
        await desk.subscribe_resource(uri)
        yield
        await desk.unsubscribe_resource(uri)
        return
    async with desk.listen(resource_subscriptions=[uri]) as events:
        passing = asyncio.ensure_future(_pass_on(events, heard))
        yield
        passing.cancel()


async def _pass_on(events: AsyncIterator[Any], heard: asyncio.Queue[str]) -> None:
    async for event in events:
        heard.put_nowait(str(event.uri))


async def _call(client: Client, tool: str, **args: Any) -> Any:
    found = await client.call_tool(tool, args)
    assert not found.is_error, found.content
    return found.structured_content
