"""Peers as processes on free ports of 127.0.0.1, ended when their block ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.peers.venvs import NotMeasured, python_of
from tests.benchmarks.places import POSTGRESQL, postgres_database
from tests.support.server import ROOT

HERE = Path(__file__).parent
START_SECONDS = 90.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Peer:
    """A running process, and the port it answers on."""

    process: subprocess.Popen[bytes]
    port: int


@contextmanager
def artifactr(database: str) -> Iterator[Peer]:
    """Run artifactr-ai with grantr on a database of its own."""
    python = python_of("artifactr")
    with ExitStack() as stack:
        if database == POSTGRESQL:
            url = stack.enter_context(postgres_database()).replace("postgres://", "postgresql+asyncpg://", 1)
        else:
            url = f"sqlite+aiosqlite:///{stack.enter_context(TemporaryDirectory())}/peer.sqlite3"
        port = free_port()
        command = [str(python), str(HERE / "artifactr_server.py"), url, str(port)]
        yield stack.enter_context(running(command, port))


@contextmanager
def chainlit() -> Iterator[Peer]:
    """Run the Chainlit chat, in a folder that it may write its configuration to."""
    python = python_of("chainlit")
    with TemporaryDirectory() as folder:
        app = shutil.copy(HERE / "chainlit_app.py", folder)
        port = free_port()
        command = [
            str(python.parent / "chainlit"),
            "run",
            "--headless",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            app,
        ]
        with running(command, port, cwd=folder) as peer:
            yield peer


@contextmanager
def module(name: str, *arguments: object) -> Iterator[Peer]:
    """Run a module of this folder with our own Python; it is given its port first."""
    port = free_port()
    command = [sys.executable, "-m", f"tests.benchmarks.peers.{name}", str(port), *map(str, arguments)]
    with running(command, port, cwd=str(ROOT)) as peer:
        yield peer


@contextmanager
def running(command: Sequence[str], port: int, *, cwd: str | None = None) -> Iterator[Peer]:
    """Run a command until the block ends, from when its port answers.

    Raises:
        NotMeasured: it ended, or did not answer in time.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    with subprocess.Popen(
        command, cwd=cwd, env=inherited, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _await_port(process, port)
            yield Peer(process, port)
        finally:
            process.terminate()
            try:
                process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise NotMeasured("its server did not start")
