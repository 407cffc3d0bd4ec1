"""Fixtures of tests that drive turns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.turns import runner
from agents.turns.start import Started, start_next
from tests.support.cast import Studio
from tests.support.turns import Puppet, Stage, posts, staged


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


@pytest.fixture
def started(studio: Studio) -> Started:
    """A turn for Ana that this process holds, whose runner does not move."""
    posts(studio.ana, studio.thread, "raise the budget")
    found = start_next(studio.thread.id)
    assert found is not None
    return found
