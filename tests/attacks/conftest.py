"""Fixtures of attacks: a model that does its worst, and turns that are driven to their end in the test itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.turns import runner
from collab.db import close_connections
from tests.attacks.evil import EvilModel
from tests.attacks.outside import Outside, outside_of
from tests.support.cast import Studio
from tests.support.fake_world import packs_enabled, world_beside


@pytest.fixture(autouse=True)
def connections_closed() -> Iterator[None]:
    """Close what turns of the test have opened."""
    yield
    close_connections()


@pytest.fixture
def evil(monkeypatch: pytest.MonkeyPatch) -> EvilModel:
    """The model that every turn of the test is given."""
    found = EvilModel()
    monkeypatch.setattr(runner, "model_for", lambda name: found.model)
    return found


@pytest.fixture
def outside(tmp_path: Path, studio: Studio) -> Iterator[Outside]:
    """The restaurant and the shop, whose tools Robin, Ana and Ben may use; reservation R1 is Ben's."""
    packs_enabled(studio)
    with world_beside(tmp_path / "world.jsonl") as fake:
        yield outside_of(studio, fake, studio.ben)
