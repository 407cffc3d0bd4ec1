"""``manage.py serve`` and ``manage.py runner`` in processes of their own, for tests that need real ones."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MANAGE = ("manage.py",)
START_SECONDS = 60.0
STOP_SECONDS = 20.0
ANNOUNCEMENTS = ("Accord listens on ", "Accord works turns", "The world listens on ")
"""What a process prints once it is ready; a server's address follows."""


@dataclass(slots=True)
class Server:
    """A running server or runner: where it listens, its process, its environment, and what it printed so far."""

    url: str
    process: subprocess.Popen[str]
    environment: dict[str, str]
    lines: list[str]

    @property
    def ws_url(self) -> str:
        return self.url.replace("http", "ws", 1)

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def manage(self, *arguments: str) -> str:
        """Run another management command on this server's database and return what it printed."""
        return manage(self.environment, *arguments)


def manage(environment: Mapping[str, str], *arguments: str, tree: Path = ROOT) -> str:
    """Run a management command of a source tree in a process of its own and return what it printed; fail when it
    does."""
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=tree, env=dict(environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"manage.py {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


def environment_for(folder: Path, **variables: str) -> dict[str, str]:
    """Return an environment whose data lives in ``folder``: a SQLite database and secret of its own.

    ``variables`` are added last, so a test may name a PostgreSQL database or a Redis.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    return {**inherited, "ACCORD_DATA": str(folder), "PYTHONUNBUFFERED": "1", **variables}


@contextmanager
def serving(
    environment: dict[str, str], *options: str, port: int = 0, tree: Path = ROOT, entry: Sequence[str] = MANAGE
) -> Iterator[Server]:
    """Serve on loopback (on a free port unless one is named) until this closes; the database must be migrated.

    Args:
        entry: what Python runs in the place of ``manage.py``.
    """
    with _started(environment, *entry, "serve", "--port", str(port), *options, tree=tree) as server:
        yield server


@contextmanager
def working(
    environment: dict[str, str], *options: str, tree: Path = ROOT, entry: Sequence[str] = MANAGE
) -> Iterator[Server]:
    """Have a runner work turns until this closes; the database must be migrated."""
    with _started(environment, *entry, "runner", *options, tree=tree) as runner:
        yield runner


@contextmanager
def the_world(environment: dict[str, str], *options: str, port: int = 0) -> Iterator[Server]:
    """Run the fake restaurant and shop, on a free port unless one is named, until this closes."""
    with _started(environment, *MANAGE, "world", "--port", str(port), *options, tree=ROOT) as running:
        yield running


@contextmanager
def _started(environment: dict[str, str], *arguments: str, tree: Path) -> Iterator[Server]:
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lines: list[str] = []
        addresses: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(process, lines, addresses), daemon=True)
        reader.start()
        try:
            yield Server(_first(addresses, lines), process, environment, lines)
        finally:
            _stop(process)
            reader.join()


def _first(addresses: queue.Queue[str | None], lines: list[str]) -> str:
    try:
        address = addresses.get(timeout=START_SECONDS)
    except queue.Empty:
        address = None
    assert address is not None, f"the process did not start:\n{''.join(lines)}"
    return address


def _read(process: subprocess.Popen[str], lines: list[str], addresses: queue.Queue[str | None]) -> None:
    for line in process.stdout or ():
        lines.append(line)
        for announcement in ANNOUNCEMENTS:
            if line.startswith(announcement):
                addresses.put(line.removeprefix(announcement).strip())
    addresses.put(None)  # it ended, so nobody waits longer for an address


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
