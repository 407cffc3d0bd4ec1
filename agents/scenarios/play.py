"""Playing one scenario from its beginning to its end, in a process that belongs to it alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from django.conf import settings
from django.db import connections

from agents.scenarios import telling
from agents.scenarios.acts import Dies, Named, Scenario
from agents.scenarios.carrying_out import Performer
from agents.scenarios.cast import cast_made
from agents.scenarios.driver import Driver
from agents.scenarios.outside import Outside, world_outside
from agents.scenarios.spare import Spare
from collab.db import close_connections, in_db

BEGINS = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)
"""Where the clock of every scenario stands at first: a Monday evening."""


def played(named: Named, folder: Path) -> dict[str, Any]:
    """Play a scenario on the database of a folder, and return what it came to, as JSON data.

    Args:
        folder: it holds ``accord.sqlite3``, migrated and empty; the scenario's script and the world's ledger join it.
    """
    connections.databases["default"]["NAME"] = str(folder / "accord.sqlite3")
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump(named.script, allow_unicode=True))
    dies = any(isinstance(act, Dies) for act in named.scenario.acts)
    with world_outside(folder / "world.jsonl") as world:
        settings.ACCORD_WORLD_URL = world.url
        spare = Spare() if dies else None
        with keys_per_turn() if named.scenario.patched == "keys_per_turn" else nullcontext():
            told = asyncio.run(_played(named.scenario, script, world, spare))
        close_connections()
        return {"name": named.name, "shows": named.scenario.shows, "patched": named.scenario.patched, **told}


@contextmanager
def keys_per_turn() -> Iterator[None]:
    """Take out the rule that a call is one operation for its whole lineage, in this process: a turn that starts over
    sends each call anew, with a key of its own. It shows what the rule is for, and nothing but a scenario does it."""
    with patch("agents.turns.runner.reusable", lambda turn: []):
        yield


async def _played(scenario: Scenario, script: Path, world: Outside, spare: Spare | None) -> dict[str, Any]:
    driver = Driver(world, spare, BEGINS)
    cast = await in_db(cast_made, scenario.agent, script)
    performer = Performer(cast, driver, world)
    acts: list[dict[str, Any]] = [{"at": _clock(driver), "act": "Ana opens the thread", "events": []}]
    acts[0]["events"] = await in_db(telling.events_after, cast, 0)
    seen = max(event["seq"] for event in acts[0]["events"])
    for act in scenario.acts:
        line = await performer.perform(act)
        at = _clock(driver)
        await driver.settles()
        events = await in_db(telling.events_after, cast, seen)
        seen = max([seen, *(event["seq"] for event in events)])
        acts.append({"at": at, "act": line, "events": events})
    driver.ends()
    return {"acts": acts, "world": world.deeds(), "history": await in_db(telling.histories, cast)}


def _clock(driver: Driver) -> str:
    return f"{driver.now:%H:%M:%S}"
