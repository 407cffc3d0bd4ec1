"""Fixtures of tests that drive turns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.turns import runner
from tests.support.turns import Puppet, Stage, staged


@pytest.fixture
def puppet(monkeypatch: pytest.MonkeyPatch) -> Puppet:
    """The model that every turn of the test is given."""
    found = Puppet()
    monkeypatch.setattr(runner, "model_for", lambda name: found.model)
    return found


@pytest.fixture
def stage(puppet: Puppet) -> Iterator[Stage]:
    """A runner beside the test."""
    with staged() as running:
        yield running
