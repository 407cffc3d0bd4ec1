"""A PostgreSQL of a test's own, which it may kill as a machine that loses its power would, and start again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

INSTALLED = Path("/usr/lib/postgresql")
"""Where Debian keeps the programs of a cluster, which are not on the path."""

START_SECONDS = 60.0


class OwnPostgres:
    """One cluster on a port of its own; nothing else uses it."""

    def __init__(self, programs: Path, folder: Path, account: str | None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._programs, self._folder = programs, folder
        self._as: dict[str, Any] = {"user": account, "group": account, "extra_groups": []} if account else {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of a database in it; replace the name to reach another."""
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        """Make the cluster's files."""
        subprocess.run(
            [self._programs / "initdb", "-D", self._folder / "data", "-U", "postgres", "-A", "trust", "--no-sync"],
            check=True, capture_output=True, cwd=self._folder, **self._as,
        )  # fmt: skip

    def start(self) -> None:
        """Start it, and wait until it answers; what a killed one left in memory may have to go first."""
        over = time.monotonic() + START_SECONDS
        while True:
            if self._process is None or self._process.poll() is not None:
                self._process = self._started()
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=5):
                return
            assert time.monotonic() < over, (self._folder / "log").read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """End the postmaster and all that it started, at once."""
        if self._process is None:
            return
        pid = self._process.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children")
        children = [int(child) for child in listed.read_text().split()] if listed.exists() else []
        self._process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def copy(self, name: str, template: str) -> str:
        """Make a database out of another, and return its address."""
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
            # A copied sequence takes the numbers that its template logged ahead for logged: they would come twice.
            admin.execute("CHECKPOINT")
        return f"{self.url.rpartition('/')[0]}/{name}"

    def _started(self) -> subprocess.Popen[bytes]:
        command = [self._programs / "postgres", "-D", self._folder / "data", "-p", str(self.port), "-k", self._folder]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*command, "-c", "listen_addresses=127.0.0.1"],
                cwd=self._folder, stdout=log, stderr=subprocess.STDOUT, **self._as,
            )  # fmt: skip


def missing() -> str:
    """Return what is missing for such a cluster, in one line; empty when nothing is."""
    if _programs() is None:
        return "there is no initdb to make a PostgreSQL of its own with"
    return "PostgreSQL does not run as root, and there is no account postgres" if _account() == "" else ""


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """Have a PostgreSQL of one's own until this closes; ask :func:`missing` first."""
    programs, account = _programs(), _account()
    assert programs is not None, missing()
    folder = Path(tempfile.mkdtemp(prefix="accord-postgres-"))
    if account:
        shutil.chown(folder, account, account)
    own = OwnPostgres(programs, folder, account)
    try:
        own.make()
        own.start()
        yield own
    finally:
        own.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    installed = [path.parent for path in INSTALLED.glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    found = sorted(installed, key=lambda path: float(path.parent.name))
    return found[-1] if found else Path(on_path).parent if on_path else None


def _account() -> str | None:
    """The account that it runs as: this one's (None), postgres' where this is root's; empty where there is none."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return ""
