"""A workspace whose agent acts on the world: the fake restaurant beside it, with its tools and its webhooks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from agents.world.ledger import Ledger
from agents.world.server import World
from tests.support.site import Site, Studio

TOOLS = ("reserve_table", "cancel_table", "find_reservation", "text_group")

MADE = """
from agents.models.sources import Source
from agents.sources.services import source_create
from agents.tools.enabling import workspace_tool_enable
from permissions.actors import Person
from permissions.models import User
from permissions.services import grant_give
people = {{name: User.objects.get(username=name) for name in ("ana", "ben")}}
actor = Person(people["ana"].pk)
for name in {tools}:
    row = workspace_tool_enable(actor=actor, workspace="{workspace}", tool=name)
    for holder in (people["ben"], User.objects.get(kind="agent", display_name="Robin")):
        grant_give(by=actor, holder=holder, codename="use_tool", obj=row)
Source.objects.filter(name="restaurant").update(name="elsewhere")
source_create(actor=actor, workspace="{workspace}", name="restaurant", label="restaurant", handler="restaurant")
"""
"""Makes the studio's people and agent able to use the tools, and its restaurant send. A name is one sender's on a
server, so another workspace's of this name goes by another."""

ANSWERS = """
from datetime import timedelta
from agents.models.actions import PendingAction
from permissions.clock import AccordNow
PendingAction.objects.filter(state="open").update(expires_at=AccordNow() + timedelta(seconds={seconds}))
"""


@contextmanager
def world_at(ledger: Path) -> Iterator[World]:
    """Serve the fake world until this closes."""
    kept = Ledger(ledger)
    world = World(kept, 0)
    thread = threading.Thread(target=world.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield world
    finally:
        world.shutdown()
        world.server_close()
        thread.join()
        kept.close()


@dataclass(slots=True)
class Outside:
    """What stands outside of a site: the world its tools ask, and the sender whose webhooks it takes."""

    site: Site
    world: World
    studio: Studio
    folder: Path

    def thread(self, title: str) -> Studio:
        """Make another thread in the workspace."""
        studio = self.studio
        return Studio(studio.workspace, self.site.thread(studio.workspace, title), studio.document)

    def delivers(self, **body: Any) -> None:
        """Have the restaurant send something, signed."""
        file = self.folder / "body.json"
        file.write_text(json.dumps(body))
        self.site.server.manage("deliver", "restaurant", str(file), "--url", self.site.url)

    def offers(self, reservation: str, text: str, party: int = 4) -> None:
        """Have the restaurant offer another table for a reservation."""
        self.delivers(
            type="table.offered", day="2027-06-04", time="20:30", party=party, reservation=reservation, text=text
        )

    def switch(self, **switches: Any) -> None:
        """Turn switches of the world."""
        assert httpx.post(f"{self.world.url}/switches", json=switches).status_code == 200

    def deeds(self, deed: str) -> list[dict[str, Any]]:
        """Return what the world did of one kind, in order."""
        return [dict(entry.args) for entry in self.world.ledger.so_far() if entry.deed == deed]

    def last_reservation(self) -> str:
        """Return the number of the newest reservation."""
        made = [entry.answer["reservation"] for entry in self.world.ledger.so_far() if entry.deed == "reserve"]
        return str(made[-1])

    def actions_stand(self, seconds: float) -> None:
        """Let open actions stand for so many seconds from now."""
        self.site.server.manage("shell", "-c", ANSWERS.format(seconds=seconds))


def outside_of(site: Site, world: World, folder: Path) -> Outside:
    """Make a studio whose people and agent may use the restaurant's tools, and register the restaurant."""
    studio = site.studio()
    site.server.manage("shell", "-c", MADE.format(workspace=studio.workspace, tools=TOOLS))
    return Outside(site, world, studio, folder)
