"""The table of what commands come to by right, held over every surface that carries them out (DESIGN 5; FAILURES L).

People send over sockets; over REST and MCP their clients do, each holding the most that a client can. A client comes to
what its person does, but for what is a person's alone: managing, what they wrote or asked themselves, and deciding.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.clients.mcp.tools import tools
from collab.db import close_connections, in_db
from collab.services.workspaces import member_role_set, workspace_create
from permissions.roles import Role
from tests.integration.test_routes import COMMANDS, DONE, NIL, NO, PROPOSED, READERS, Sent, args_of
from tests.support.cast import Someone, Studio
from tests.support.clients import Connected, connected
from tests.support.mcp import speaking
from tests.support.rest import Caller
from tests.support.scene import Scene, scene
from tests.support.sockets import Sockets
from tests.support.tools import book_boat, registered, reserve_table

pytestmark = pytest.mark.django_db(transaction=True)

ORDER = (
    "message_post", "message_post comment", "message_cancel", "thread_create", "thread_rename",
    "document_create markdown", "document_restore", "document_restore_version", "document_save", "document_archive",
    "proposal_reject", "turn_stop", "turn_ask_again", "question_answer", "action_decline",
)  # fmt: skip
"""The rows of the table that one person can go through one after another, as none is in another's way."""

OF_THE_PERSON = frozenset(
    {"message_cancel", "thread_rename", "proposal_reject", "turn_stop", "turn_ask_again", "action_decline"}
)
"""What Ana does about things of hers, and her client does not: it is another author, manages nothing, decides no
action, and is of the chain of what Robin suggested for her."""

NO_TOOL = "no tool"
REFUSALS = {"not_found": NIL, "forbidden": NO, "own_proposal": NO}

Does = Callable[[Sent, dict[str, Any]], Awaitable[str]]


@pytest.fixture
def played(studio: Studio) -> Iterator[Scene]:
    with registered(reserve_table, book_boat):
        yield scene(studio)


@pytest.mark.parametrize("who", READERS)
@pytest.mark.parametrize("surface", ["rest", "mcp", "socket"])
async def test_every_surface_carries_out_what_the_table_says(
    played: Scene, zoe: Someone, surface: str, who: str
) -> None:
    someone = await in_db(_someone, played.studio, zoe, who)
    rows = {str(sent): sent for sent in COMMANDS}
    async with SURFACES[surface](played, someone, who) as does:
        found = {name: await does(rows[name], args_of(rows[name], played.ids)) for name in ORDER}
    assert found == {name: _expected(surface, rows[name], who) for name in ORDER}


def _expected(surface: str, sent: Sent, who: str) -> str:
    if surface == "mcp" and sent.name not in tools():
        return NO_TOOL
    if surface != "socket" and who == "ana" and sent.name in OF_THE_PERSON:
        return NO
    return sent.outcomes[READERS.index(who)]


def _someone(studio: Studio, zoe: Someone, who: str) -> Someone:
    """Return who sends; Ben as what the table calls him."""
    if who in {"commenter", "contributor"}:
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role(who))
        return studio.ben
    return zoe if who == "zoe" else {"vera": studio.vera, "ben": studio.ben, "ana": studio.ana}[who]


def _client(studio: Studio, someone: Someone, who: str) -> Connected:
    if who == "zoe":
        return connected(studio, someone, role=None, within=[workspace_create(actor=someone.actor, name="Hers")])
    return connected(studio, someone)


@asynccontextmanager
async def _rest(played: Scene, someone: Someone, who: str) -> AsyncIterator[Does]:
    caller = Caller(await in_db(_client, played.studio, someone, who))

    async def does(sent: Sent, args: dict[str, Any]) -> str:
        answer = await in_db(lambda: caller.command(sent.name, **args))
        said = answer.json()
        status = {NIL: 404, NO: 403}
        if answer.status_code == 200:
            return _done(said)
        assert answer.status_code == status[REFUSALS[said["code"]]], said
        return REFUSALS[said["code"]]

    yield does
    close_connections()


@asynccontextmanager
async def _mcp(played: Scene, someone: Someone, who: str) -> AsyncIterator[Does]:
    client = await in_db(_client, played.studio, someone, who)
    async with speaking(client.secret) as speaker:
        named = {tool["name"] for tool in (await speaker.result("tools/list"))["tools"]}

        async def does(sent: Sent, args: dict[str, Any]) -> str:
            if sent.name not in named:
                return NO_TOOL
            answer = await speaker.result("tools/call", {"name": sent.name, "arguments": args})
            said = answer["structuredContent"]
            return REFUSALS[said["code"]] if answer.get("isError") else _done(said)

        yield does


@asynccontextmanager
async def _socket(played: Scene, someone: Someone, who: str) -> AsyncIterator[Does]:
    async with Sockets() as sockets:
        socket = await sockets.connect(someone, played.studio.thread.id)
        if who == "zoe":  # a socket to what is not there closes before anything can be sent
            code = await socket.closed()

            async def closed(sent: Sent, args: dict[str, Any]) -> str:
                return {4403: NIL}[code]

            yield closed
            return
        await socket.hello()

        async def does(sent: Sent, args: dict[str, Any]) -> str:
            own = {name: value for name, value in args.items() if name != "thread"}  # a socket is of a thread
            frame = await socket.command(sent.name, **own)
            return _done(frame["data"]) if frame["type"] == "result" else REFUSALS[frame["code"]]

        yield does


SURFACES = {"rest": _rest, "mcp": _mcp, "socket": _socket}


def _done(said: dict[str, Any]) -> str:
    proposed = "summary" in said and said["document"] is None
    return PROPOSED if proposed else DONE
