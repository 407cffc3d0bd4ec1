"""``manage.py serve`` in a process of its own: what it says, what it refuses, how it ends; and the health pages."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

from tests.support.server import ROOT, environment_for, manage, serving
from tests.support.visitor import visiting


def test_the_server_answers_at_the_address_it_prints(server):
    status, alive = read(f"{server.url}/healthz")
    assert (status, alive) == (200, {"alive": True})
    status, ready = read(f"{server.url}/readyz")
    assert (status, ready) == (200, {"ready": True, "missing": {}})


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


def test_a_server_whose_migrations_are_missing_is_alive_but_not_ready(tmp_path):
    environment = environment_for(tmp_path)
    manage(environment, "migrate", "permissions", "--verbosity", "0")
    with serving(environment) as running:
        assert read(f"{running.url}/healthz")[0] == 200
        status, ready = read(f"{running.url}/readyz")
    assert status == 503
    assert "not applied" in ready["missing"]["migrations"]


def test_a_server_whose_channel_layer_is_down_is_not_ready(server_environment):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        dead = f"redis://127.0.0.1:{nobody.getsockname()[1]}/0"
    with serving({**server_environment, "REDIS_URL": dead}) as running:
        status, ready = read(f"{running.url}/readyz")
    assert status == 503
    assert list(ready["missing"]) == ["channel_layer"]


def read(url: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)
