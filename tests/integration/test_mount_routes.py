"""What is answered outside of Django's middleware, held against everyone who may come (FAILURES H4, H5; promise 10).

A mount without a row fails. No session of a browser gets anyone in, and what a client may not see is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings

from agents.clients import mounts
from collab.asgi import application
from collab.db import close_connections, in_db
from collab.services.workspaces import workspace_create
from tests.support import cast
from tests.support.clients import connected
from tests.support.deliveries import BODY, headers_of, source
from tests.support.mcp import ENVELOPE, MODERN, TAKES
from tests.support.rest_routes import METHOD, NIL, NO, SHOWN, TOKEN
from tests.support.sockets import session_of
from tests.support.world import changed, world

pytestmark = pytest.mark.django_db(transaction=True)

DONE = "done"
"""Something changed."""
BAD = "bad"
"""Answered that it is no request of this kind, and nothing changed."""

WHO = ("nobody", "signed in", "zoe", "blind", "vera", "ben", "ana", "desk")
"""Who comes: without anything; Ana in a browser that is signed in; a client of each person, of Ana's also one that was
let in nowhere; Desk, which acts for no one. Zoe's token is for a workspace of her own."""

TOUCHED_BY_ASKING = ("agents_accesstoken",)
"""A token's last use is noted, whatever it is used for."""

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
STATUSES = {200: SHOWN, 201: SHOWN, 202: SHOWN, 400: BAD, 401: TOKEN, 403: NO, 404: NIL, 405: METHOD, 406: BAD}


@dataclass(frozen=True, slots=True)
class Visit:
    """A request to what is mounted, and what comes of it for each of ``WHO``; ``THREAD`` stands for the studio's."""

    method: str
    path: str
    outcomes: tuple[str, ...]
    body: Any = None
    headers: Mapping[str, str] | None = None

    def __str__(self) -> str:
        said = self.body if isinstance(self.body, dict) else {}
        return f"{self.method} {self.path} {said.get('method', '')} {said.get('params', {}).get('name', '')}".strip()


def rpc(method: str, outcomes: tuple[str, ...], **params: Any) -> Visit:
    headers = {**JSON, **TAKES, "mcp-protocol-version": MODERN, "mcp-method": method}
    if "name" in params:
        headers["mcp-name"] = params["name"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ENVELOPE}}
    return Visit("POST", "/mcp", outcomes, body, headers)


def posts(path: str, *outcomes: str, body: Any = None, headers: Mapping[str, str] = JSON) -> Visit:
    return Visit("POST", path, outcomes, body, headers)


def gets(path: str, *outcomes: str) -> Visit:
    return Visit("GET", path, outcomes)


T = "THREAD"
RUN = {"threadId": T, "runId": "one", "messages": [{"id": "1", "role": "user", "content": "Hello."}]}
MESSAGE = {"thread": T, "text": "Hello.", "kind": "message"}
PROGRAM = {"redirect_uris": ["http://127.0.0.1:9/back"], "client_name": "Till", "token_endpoint_auth_method": "none"}
KNOWN = "/.well-known/oauth"
VISITS = (
    #                                 nobody  signed  zoe     blind   vera    ben     ana     desk
    gets(f"/api/v1/stream/{T}",       TOKEN,  TOKEN,  NIL,    NIL,    SHOWN,  SHOWN,  SHOWN,  SHOWN),
    posts(f"/api/v1/stream/{T}",      TOKEN,  TOKEN,  NIL,    NIL,    METHOD, METHOD, METHOD, METHOD),
    gets("/api/v1/stream/nothing",    TOKEN,  TOKEN,  NIL,    NIL,    NIL,    NIL,    NIL,    NIL),
    posts(f"/agui/{T}/",              TOKEN,  TOKEN,  NIL,    NIL,    NO,     DONE,   DONE,   DONE, body=RUN),
    gets(f"/agui/{T}/",               TOKEN,  TOKEN,  METHOD, METHOD, METHOD, METHOD, METHOD, METHOD),
    posts("/agui/nothing",            TOKEN,  TOKEN,  NIL,    NIL,    NIL,    NIL,    NIL,    NIL, body=RUN),
    rpc("tools/list",                (TOKEN,  TOKEN,  SHOWN,  SHOWN,  SHOWN,  SHOWN,  SHOWN,  SHOWN)),
    rpc("tools/call",                (TOKEN,  TOKEN,  NIL,    NIL,    SHOWN,  SHOWN,  SHOWN,  SHOWN),
        name="thread_read", arguments={"thread": T}),
    rpc("tools/call",                (TOKEN,  TOKEN,  NIL,    NIL,    NO,     DONE,   DONE,   DONE),
        name="message_post", arguments=MESSAGE),
    gets("/mcp",                      TOKEN,  TOKEN,  BAD,    BAD,    BAD,    BAD,    BAD,    BAD),
    posts("/mcp",                     TOKEN,  TOKEN,  BAD,    BAD,    BAD,    BAD,    BAD,    BAD, body={}),
    gets("/mcp/nothing",             *[NIL] * 8),
    gets(f"{KNOWN}-protected-resource/mcp",        *[SHOWN] * 8),
    posts(f"{KNOWN}-protected-resource/mcp",       *[METHOD] * 8),
    gets(f"{KNOWN}-authorization-server/oauth",    *[SHOWN] * 8),
    gets(f"{KNOWN}-nothing",                       *[NIL] * 8),
    posts("/oauth/register",          *[DONE] * 8, body=PROGRAM),
    gets("/oauth/register",           *[METHOD] * 8),
    gets("/oauth/authorize",          *[BAD] * 8),
    posts("/oauth/token",             *[TOKEN] * 8, body=b"grant_type=authorization_code&code=none", headers=FORM),
    posts("/oauth/revoke",            *[TOKEN] * 8, body=b"token=none", headers=FORM),
    gets("/oauth/nothing",            *[NIL] * 8),
    posts("/hooks/restaurant/",       *[BAD] * 8, body=BODY),
    gets("/hooks/restaurant/",        *[METHOD] * 8),
    posts("/hooks/nothing/",          *[NIL] * 8, body=BODY),
)  # fmt: skip
"""Nobody's rights matter where a signature or a program's own code does: what comes without either is refused."""


@dataclass(frozen=True, slots=True)
class Callers:
    """The studio, and the headers by which everyone comes."""

    studio: cast.Studio
    headers: Mapping[str, Mapping[str, str]]


@pytest.fixture
async def callers(studio: cast.Studio, zoe: cast.Someone) -> Any:
    yield await in_db(_callers, studio, zoe)
    if mounts.mcp.app is not None:
        await mounts.mcp.app.end()
    close_connections()


def _callers(studio: cast.Studio, zoe: cast.Someone) -> Callers:
    source(studio)
    own = workspace_create(actor=zoe.actor, name="Hers")
    clients = {
        "zoe": connected(studio, zoe, name="Zoe's", role=None, within=[own]),
        "blind": connected(studio, studio.ana, name="Blind", role=None),
        **{who: connected(studio, getattr(studio, who), name=f"{who}'s") for who in ("vera", "ben", "ana")},
        "desk": connected(studio, None),
    }
    cookie = {"cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(studio.ana.user)}"}
    return Callers(studio, {"nobody": {}, "signed in": cookie, **{who: one.header for who, one in clients.items()}})


def test_everything_that_is_mounted_has_its_rows() -> None:
    for below in settings.ACCORD_MOUNTS:
        methods = {visit.method for visit in VISITS if visit.path.startswith(below)}
        assert methods == {"GET", "POST"}, below


async def test_each_mount_does_for_everyone_what_the_table_says(callers: Callers) -> None:
    found = {str(visit): {who: await _observed(callers, who, visit) for who in WHO} for visit in VISITS}
    assert found == {str(visit): dict(zip(WHO, visit.outcomes, strict=True)) for visit in VISITS}


async def test_what_one_may_not_see_is_byte_for_byte_what_is_not_there(callers: Callers) -> None:
    for visit in VISITS:
        for who in ("zoe", "blind") if NIL in visit.outcomes else ():
            here, nowhere = [
                await _answered(callers.headers[who], visit, str(id)) for id in (callers.studio.thread.id, uuid4())
            ]
            assert here == nowhere, (str(visit), who)


async def test_a_source_is_let_in_by_its_signature_whoever_sends_it(callers: Callers) -> None:
    for number, who in enumerate(WHO):
        signed = {**headers_of(BODY, id=f"msg_{number}"), **JSON}
        visit = posts("/hooks/restaurant/", DONE, body=BODY, headers=signed)
        assert await _observed(callers, who, visit) == DONE


async def _observed(callers: Callers, who: str, visit: Visit) -> str:
    before = await in_db(world, TOUCHED_BY_ASKING)
    status, body = await _answered(callers.headers[who], visit, str(callers.studio.thread.id))
    differs = changed(before, await in_db(world, TOUCHED_BY_ASKING))
    said = STATUSES[status] if visit.path != "/mcp" or status != 200 else _called(body)
    assert not differs or said == SHOWN, (said, differs)
    return DONE if differs else said


def _called(body: bytes) -> str:
    """Say what a tool says of itself: what it refuses it answers as its error."""
    result = json.loads(body)["result"]
    refused = {"not_found": NIL, "forbidden": NO}
    return refused[result["structuredContent"]["code"]] if result.get("isError") else SHOWN


async def _answered(who: Mapping[str, str], visit: Visit, thread: str) -> tuple[int, bytes]:
    """Send a request about a thread; return its status and what it says. What streams is left once it has begun."""
    content = visit.body if isinstance(visit.body, bytes) else json.dumps(visit.body).encode() if visit.body else b""
    headers = {"host": "127.0.0.1", **(visit.headers or {}), **who}
    scope = {
        "type": "http", "method": visit.method, "path": visit.path.replace(T, thread), "query_string": b"",
        "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 4000), "root_path": "",
        "http_version": "1.1", "headers": [(name.lower().encode(), told.encode()) for name, told in headers.items()],
    }  # fmt: skip
    sent = {"type": "http.request", "body": content.replace(T.encode(), thread.encode()), "more_body": False}
    communicator = ApplicationCommunicator(application, scope)
    await communicator.send_input(sent)
    start = await communicator.receive_output(timeout=30)
    told = {name.lower(): value for name, value in start["headers"]}
    streams = told.get(b"content-type", b"").startswith(b"text/event-stream")
    body = b"" if streams else await _body(communicator)
    await communicator.send_input({"type": "http.disconnect"})
    await communicator.wait(timeout=30)
    return start["status"], body


async def _body(communicator: ApplicationCommunicator) -> bytes:
    body = b""
    while True:
        message = await communicator.receive_output(timeout=30)
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body
