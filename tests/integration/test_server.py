"""``manage.py serve`` in a process of its own: what it says, what it refuses, how it ends."""

from __future__ import annotations

import socket
import subprocess
import sys

import httpx

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


def test_an_address_that_is_taken_is_said_and_ends_the_process(server_environment):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "manage.py", "serve", "--port", port]
        ended = subprocess.run(command, cwd=ROOT, env=server_environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"Couldn't listen on 127.0.0.1:{port}" in ended.stderr
    assert "Accord listens" not in ended.stdout
