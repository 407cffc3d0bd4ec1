"""The fake restaurant and shop, served beside a test, and their tools enabled in the studio."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings

from agents.tools.enabling import workspace_tool_enable
from agents.world.ledger import Ledger
from agents.world.server import World
from permissions.services import grant_give
from tests.support.cast import Studio

PACKS = ("reserve_table", "cancel_table", "find_reservation", "text_group", "get_order", "refund_card")


@dataclass(slots=True)
class Fake:
    """A world that listens: what it did, and its switches."""

    world: World
    http: httpx.Client

    @property
    def deeds(self) -> list[str]:
        """What was done, in order."""
        return [entry.deed for entry in self.world.ledger.so_far()]

    def switch(self, **switches: Any) -> None:
        """Turn switches."""
        assert self.http.post("/switches", json=switches).status_code == 200

    def asks(self, method: str, path: str, key: str = "", **body: Any) -> httpx.Response:
        """Ask for something, as a tool would."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.request(method, path, json=body or None, headers=headers)

    def closes(self) -> None:
        """Listen no more: whoever asks cannot reach it."""
        self.world.shutdown()
        self.world.server_close()


@contextmanager
def world_beside(ledger: Path) -> Iterator[Fake]:
    """Serve a world from this process, which the tools ask, until the block ends."""
    kept = Ledger(ledger)
    world = World(kept, 0)
    thread = threading.Thread(target=world.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    with httpx.Client(base_url=world.url, timeout=10) as http, pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "ACCORD_WORLD_URL", world.url)
        try:
            yield Fake(world, http)
        finally:
            world.shutdown()
            world.server_close()
            thread.join()
            kept.close()


def packs_enabled(studio: Studio, tools: Sequence[str] = PACKS) -> None:
    """Enable tools of the restaurant and the shop in the studio, for Robin and Ben."""
    for name in tools:
        enabled = workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=name)
        for holder in (studio.robin.user, studio.ben.user):
            grant_give(by=studio.ana.actor, holder=holder, codename="use_tool", obj=enabled)
