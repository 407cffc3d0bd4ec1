"""A database with the demo in it, made once for every test whose processes work on a copy of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fleet import Fleet, fleet, template
from tests.support.services import database_url, redis_url


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of web processes and runners on a database to be copied."""
    database, redis = database_url(), redis_url()
    if database is None or redis is None:
        pytest.skip("web processes and runners need a PostgreSQL and a Redis")
    with template(tmp_path_factory.mktemp("fleet"), database, redis) as environment:
        yield environment


@pytest.fixture
def processes(demo: dict[str, str]) -> Iterator[Fleet]:
    """No process yet; leases of 6 seconds."""
    with fleet(demo) as found:
        yield found
