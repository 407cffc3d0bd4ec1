"""The world of a scenario: a process of its own, asked and switched over HTTP as anybody would."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agents.world.ledger import Ledger
from agents.world.server import World, serve


class Outside:
    """The world, as a scenario switches it and reads what it did.

    Attributes:
        holds: whether it was switched to keep its answers.
    """

    def __init__(self, url: str) -> None:
        self.url, self.holds = url, False
        self._http = HTTPConnection(urlsplit(url).netloc, timeout=30)

    def switch(self, switches: Mapping[str, Any]) -> None:
        """Turn switches of the world."""
        self.holds = bool(self._asked("POST", "/switches", json.dumps(switches))["hold"])

    def held(self) -> int:
        """Return how many answers it keeps at this moment."""
        return int(self._asked("GET", "/switches")["held"])

    def deeds(self) -> list[dict[str, Any]]:
        """Return what it did, in order."""
        entries: list[dict[str, Any]] = self._asked("GET", "/ledger")["entries"]
        return entries

    def close(self) -> None:
        """Close the connection to it."""
        self._http.close()

    def _asked(self, method: str, path: str, body: str | None = None) -> Any:
        self._http.request(method, path, body)
        response = self._http.getresponse()
        told = json.loads(response.read())
        if response.status != HTTPStatus.OK:
            raise RuntimeError(f"the world says {response.status} to {method} {path}: {told}")
        return told


@contextmanager
def world_outside(ledger: Path) -> Iterator[Outside]:
    """Start the world in a process of its own, on a free port of this machine, and end it with the block.

    It is begun before this process has threads or connections to a database, none of which it could share.
    """
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_served, args=(ledger, there), daemon=True)
    process.start()
    try:
        with closing(Outside(here.recv())) as outside:
            yield outside
    finally:
        process.terminate()
        process.join()


def _served(ledger: Path, told: Connection) -> None:
    with closing(Ledger(ledger)) as kept, World(kept, 0) as world:
        serve(world, lambda line: told.send(world.url))
