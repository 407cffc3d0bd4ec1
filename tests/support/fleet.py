"""Several web processes and runners on one PostgreSQL and one Redis, each a process of its own."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.support.server import Server, environment_for, manage, serving, working

SCRIPT = Path(__file__).resolve().parent.parent / "faults" / "processes.yaml"


@dataclass(slots=True)
class Fleet:
    """The processes of one Accord; those that are still there at the end are stopped in order."""

    environment: dict[str, str]
    stack: ExitStack
    runners: list[Server] = field(default_factory=list)

    def starts(self, *, runners: int, webs: int = 1) -> list[Server]:
        """Start so many processes at once, and return those that serve pages, which they only do."""
        with ThreadPoolExecutor() as pool:
            serve = [pool.submit(self._enter, serving(self.environment, "--web-only")) for _ in range(webs)]
            work = [pool.submit(self._enter, working(self.environment)) for _ in range(runners)]
        self.runners += [started.result() for started in work]
        return [started.result() for started in serve]

    def _enter(self, process: AbstractContextManager[Server]) -> Server:
        return self.stack.enter_context(process)

    def holder(self) -> Server:
        """Return the runner that holds the thread at this moment."""
        ((name,),) = self.ask("SELECT lease_holder FROM collab_thread")
        return next(runner for runner in self.runners if name.split(":")[1] == str(runner.process.pid))

    def ask(self, sql: str) -> list[Any]:
        """Read from the database."""
        with psycopg.connect(self.environment["DATABASE_URL"]) as database:
            return database.execute(sql).fetchall()

    def turns(self) -> list[Any]:
        """Return how each turn ended, and which attempt it was."""
        return self.ask("SELECT status, reason, attempt FROM agents_turn ORDER BY number")

    def replies(self) -> list[str]:
        """Return what the agent has posted."""
        return [
            text for (text,) in self.ask("SELECT content FROM collab_message WHERE turn_id IS NOT NULL ORDER BY seq")
        ]

    def audit(self) -> str:
        """Return what `manage.py audit` says; fail when it finds a violation."""
        return manage(self.environment, "audit")


@contextmanager
def template(folder: Path, database: str, redis_url: str) -> Iterator[dict[str, str]]:
    """Make a database with the demo in it, to be copied, and return the environment of processes on it."""
    name = f"accord_fleet_{os.getpid()}_{secrets.token_hex(3)}"
    with created(database, name) as url:
        environment = environment_for(
            folder, DATABASE_URL=url, REDIS_URL=redis_url, ACCORD_RUNNERS="1", ACCORD_MODEL=f"scripted:{SCRIPT}"
        )
        manage(environment, "migrate", "--verbosity", "0")
        manage(environment, "demo")
        yield environment


@contextmanager
def fleet(template: dict[str, str], **variables: str) -> Iterator[Fleet]:
    """Have processes on a copy of a template's database until this closes."""
    url = template["DATABASE_URL"]
    name = url.rpartition("/")[2]
    with created(url, f"{name}_copy", template=name) as copy, ExitStack() as stack:
        yield Fleet({**template, **variables, "DATABASE_URL": copy}, stack)


@contextmanager
def created(server: str, name: str, *, template: str = "template1") -> Iterator[str]:
    """Create a database beside another until this closes, and return its address."""
    base = server.rpartition("/")[0]
    with psycopg.connect(f"{base}/postgres", autocommit=True) as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            yield f"{base}/{name}"
        finally:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


class OwnRedis:
    """A Redis of a test's own, which it may wipe and restart."""

    def __init__(self, executable: str, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._command = [
            executable,
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(folder),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        with redis.Redis(port=self.port, retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 200)) as client:
            client.ping()

    def wipe(self) -> None:
        """Forget everything."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
