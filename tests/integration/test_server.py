"""``manage.py serve`` in a process of its own: what it says, what it refuses, how it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import suppress

import httpx
import pytest

from tests.support.server import ROOT
from tests.support.visitor import visiting


def test_the_server_answers_at_the_address_it_prints(server):
    assert httpx.get(f"{server.url}/healthz", timeout=20).json() == {"alive": True}
    assert httpx.get(f"{server.url}/readyz", timeout=20).json() == {"ready": True, "missing": {}}


async def test_asked_to_end_the_server_sends_browsers_away_with_a_code_that_brings_them_back(server):
    with visiting(server, "ana") as ana:
        opening = ana.socket(ana.thread())
    async with opening as socket_:
        server.process.terminate()
        await socket_.wait_closed()
    assert socket_.close_code == 1012
    assert server.process.wait(timeout=15) == 0
    assert "Traceback" not in server.output


async def test_a_frame_over_64_kib_closes_the_socket_as_too_big(server):
    with visiting(server, "ana") as ana:
        opening = ana.socket(ana.thread())
    async with opening as socket_:
        await socket_.send("x" * 65_537)
        await socket_.wait_closed()
    assert socket_.close_code == 1009


def test_an_answer_to_head_has_no_body_however_long_the_page(server):
    with visiting(server, "admin") as admin:
        address = "/admin/permissions/user/"
        page = admin.http.get(address)
        assert len(page.content) > 65_536, "it is sent in parts"
        cookie = b"Cookie: " + page.request.headers["Cookie"].encode()
    said = _said(server, _asked("HEAD", address, cookie) + _asked("GET", "/healthz", b"Connection: close"))
    head, _, after = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert after.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("root", [b"//evil.example", b"/elsewhere", b"\xff"])
def test_no_client_says_where_the_application_lies(server, root):
    header = b"Connection: close\r\nDaphne-Root-Path: " + root
    said = _said(server, _asked("GET", "/inbox/", header))
    assert b"302 Found" in said
    assert b"Location: /sign-in/?next=/inbox/\r\n" in said
    assert b" 404 " in _said(server, _asked("GET", "/elsewhere/healthz", header))


def test_a_socket_whose_protocol_has_no_readable_name_is_told_the_one_that_is_spoken(server):
    shaking = (
        f"Origin: {server.url}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
    )
    said = _said(server, _asked("GET", "/ws/inbox/", shaking.encode() + b"\xff"))
    assert said.startswith(b"HTTP/1.1 101 ")
    assert said.endswith(b"\x88\x02" + (4400).to_bytes(2, "big")), "a frame that closes"


def _asked(method: str, address: str, header: bytes) -> bytes:
    return f"{method} {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode() + header + b"\r\n\r\n"


def _said(server, sent: bytes) -> bytes:
    """Return all that the server says on one connection, which it closes."""
    url, said = httpx.URL(server.url), b""
    with socket.create_connection((url.host, url.port), timeout=20) as connection, suppress(ConnectionResetError):
        connection.sendall(sent)
        while part := connection.recv(65_536):
            said += part
    return said


def test_an_address_that_is_taken_is_said_and_ends_the_process(server_environment):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "manage.py", "serve", "--port", port]
        ended = subprocess.run(command, cwd=ROOT, env=server_environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"Couldn't listen on 127.0.0.1:{port}" in ended.stderr
    assert "Accord listens" not in ended.stdout
