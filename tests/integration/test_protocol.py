"""The protocol as documented: every command has its row, and a real server speaks it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from collab.commands import HANDLERS
from collab.protocol import SERVER_FRAME, SUBPROTOCOL, Close
from tests.support.server import Server

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()

SIGN_IN = """
from django.test import Client
from collab.models.threads import Thread
from permissions.models import User
client = Client()
client.force_login(User.objects.get(username="{username}"))
print("signed in", client.cookies["sessionid"].value, Thread.objects.get(title="Launch dinner").id)
"""


def test_every_command_is_documented() -> None:
    rows = re.search(r"### Commands\n(.*?)\n## ", PAGE, re.DOTALL)
    assert rows is not None
    first_cells = [line.split("|")[1] for line in rows[1].splitlines() if line.startswith("| `")]
    documented = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert documented == set(HANDLERS)


async def test_a_real_server_speaks_the_protocol_and_denies_who_may_not(server: Server) -> None:
    session, thread = _signed_in(server, "ana")
    await _brings_what_was_missed_and_repeats_no_command(server, thread, session)
    await _closes_at_a_frame_too_long(server, thread, session)
    await _denies_another_origin(server, thread, session)
    stranger, _ = _signed_in(server, "zoe")
    await _closes_a_stranger(server, thread, stranger)


async def _brings_what_was_missed_and_repeats_no_command(server: Server, thread: str, session: str) -> None:
    async with _socket(server, thread, session) as socket:
        await socket.send(json.dumps({"type": "hello", "after_seq": 0}))
        frames = await _until(socket, "caught_up")
        assert [frame["type"] for frame in frames[:2]] == ["welcome", "event"]
        post = {"type": "command", "id": "c1", "name": "message_post", "args": {"text": "Hi.", "kind": "comment"}}
        await socket.send(json.dumps(post))
        seq = (await _until(socket, "result"))[-1]["data"]["seq"]
    async with _socket(server, thread, session) as socket:
        await socket.send(json.dumps({"type": "hello", "after_seq": seq - 1}))
        resumed = await _until(socket, "caught_up")
        assert [frame["seq"] for frame in resumed if frame["type"] == "event"] == [seq]
        await socket.send(json.dumps(post))
        assert (await _until(socket, "result"))[-1]["data"]["seq"] == seq


async def _closes_at_a_frame_too_long(server: Server, thread: str, session: str) -> None:
    async with _socket(server, thread, session) as socket:
        await socket.send("x" * 70_000)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == Close.TOO_LONG


async def _denies_another_origin(server: Server, thread: str, session: str) -> None:
    with pytest.raises(InvalidStatus) as denied:
        async with _socket(server, thread, session, origin="https://evil.example"):
            pass
    assert denied.value.response.status_code == 403


async def _closes_a_stranger(server: Server, thread: str, session: str) -> None:
    async with _socket(server, thread, session) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == Close.NOT_FOUND


def _signed_in(server: Server, username: str) -> tuple[str, str]:
    printed = server.manage("shell", "-c", SIGN_IN.format(username=username))
    line = next(line for line in printed.splitlines() if line.startswith("signed in "))
    _, _, session, thread = line.split()
    return session, thread


def _socket(server: Server, thread: str, session: str, *, origin: str = "http://127.0.0.1") -> connect:
    return connect(
        f"{server.ws_url}/ws/threads/{thread}/",
        subprotocols=[SUBPROTOCOL],
        origin=origin,
        additional_headers={"Cookie": f"sessionid={session}"},
    )


async def _until(socket: ClientConnection, type: str) -> list[dict[str, Any]]:
    """Return the frames up to the first of this type, each of which is of the protocol."""
    frames: list[dict[str, Any]] = []
    while not frames or frames[-1]["type"] != type:
        frames.append(json.loads(await socket.recv()))
        SERVER_FRAME.validate_python(frames[-1])
    return frames
