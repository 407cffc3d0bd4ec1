"""Fixtures of attacks: a model that does its worst, and turns that are driven to their end in the test itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.turns import runner
from collab.db import close_connections
from tests.attacks.evil import EvilModel


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
