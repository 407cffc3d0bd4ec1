"""The fixtures every test may ask for: the cast, a database of its own for each worker, a server, a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Browser

from permissions.clock import move_clock
from tests.support import cast
from tests.support.audited import violations
from tests.support.browser import browsing, chromium_path
from tests.support.emptying import deleting
from tests.support.queries import Queries
from tests.support.queries import queries as counting
from tests.support.server import Server, environment_for, manage, serving

HEAVY_FOLDERS = {"browser", "faults"}
HEAVY_FIXTURES = {"chromium", "server", "server_environment"}
"""Tests that each keep the machine busy. Those of real browsers and killed processes wait by the wall clock, so a busy
machine can fail them: each is run again once, and the report names it."""

MISSING_BROWSER = "no Chromium on this machine (install the package chromium, or name one in ACCORD_CHROMIUM)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the heavy tests, and mark those of tests/browser and tests/faults."""
    items.sort(key=lambda item: not is_heavy(item))
    for item in items:
        folder = item.path.parent.name
        if folder in HEAVY_FOLDERS:
            item.add_marker(pytest.mark.flaky(reruns=1))
        if folder == "browser":
            item.add_marker(pytest.mark.browser)


def is_heavy(item: pytest.Item) -> bool:
    """Say whether a test starts a browser or processes of its own."""
    in_folder = item.path.parent.name in HEAVY_FOLDERS
    return in_folder or bool(HEAVY_FIXTURES & set(getattr(item, "fixturenames", ())))


@pytest.fixture(scope="session")
def fast_and_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hash passwords and empty tables fast, wait for no turn as a test ends, keep collected files in a folder apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"])
        patch.setattr(settings, "STATIC_ROOT", tmp_path_factory.mktemp("static"))
        patch.setattr(settings, "ACCORD_GRACE_SECONDS", 0.0)
        if connection.vendor == "postgresql":
            patch.setattr(type(connection.ops), "sql_flush", deleting)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, fast_and_apart: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Give each worker of each run a SQLite file of its own, so that two runs at once do not share one; have PostgreSQL
    not wait for its disk."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
    else:
        connection.settings_dict["OPTIONS"]["options"] += " -c synchronous_commit=off"


@pytest.fixture(autouse=True)
def audited(request: pytest.FixtureRequest) -> Iterator[None]:
    """Audit what a test leaves in its database, unless it is marked as one that ``corrupts`` it on purpose."""
    with_database = {"db", "transactional_db"} & set(request.fixturenames)
    if not with_database and request.node.get_closest_marker("django_db") is None:
        yield
        return
    request.getfixturevalue("db")  # so that the database is emptied only after the audit
    yield
    if request.node.get_closest_marker("corrupts") is None and not connection.needs_rollback:
        found = violations()
        assert not found, "\n".join(found)


@pytest.fixture
def queries() -> Callable[[], AbstractContextManager[Queries]]:
    """Count the statements of every connection and thread: ``with queries() as sent: …; sent.at_most(7)``."""
    return counting


@pytest.fixture
def clock() -> Iterator[Callable[[float], None]]:
    """Move the database's clock to that many seconds from the true time; it is put right afterwards."""
    yield move_clock
    move_clock(0)


@pytest.fixture
def ana(db: None) -> cast.Someone:
    return cast.someone("Ana")


@pytest.fixture
def ben(db: None) -> cast.Someone:
    return cast.someone("Ben")


@pytest.fixture
def vera(db: None) -> cast.Someone:
    return cast.someone("Vera")


@pytest.fixture
def zoe(db: None) -> cast.Someone:
    return cast.someone("Zoe")


@pytest.fixture
def robin(db: None) -> cast.Robin:
    return cast.agent("Robin")


@pytest.fixture
def desk(db: None) -> cast.Desk:
    return cast.client("Desk")


@pytest.fixture
def studio(ana: cast.Someone, ben: cast.Someone, vera: cast.Someone, robin: cast.Robin) -> cast.Studio:
    """Ana's workspace with Ben, Vera and Robin in it, their thread and their document; Zoe is no member."""
    return cast.studio(ana=ana, ben=ben, vera=vera, robin=robin)


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the data of a server once: migrated, with the demo in it. Tests serve copies of it."""
    folder = tmp_path_factory.mktemp("demo")
    manage(environment_for(folder), "migrate", "--verbosity", "0")
    manage(environment_for(folder), "demo")
    return folder


@pytest.fixture
def server_environment(demo_data: Path, tmp_path: Path) -> dict[str, str]:
    """Return the environment of servers that share one database with the demo in it, apart from the test's own."""
    return environment_for(shutil.copytree(demo_data, tmp_path / "data"))


@pytest.fixture
def server(server_environment: dict[str, str]) -> Iterator[Server]:
    """Serve the demo from a process of its own, on a free port."""
    with serving(server_environment) as running:
        yield running


@pytest.fixture
def chromium() -> Iterator[Browser]:
    """Open a real Chromium, or skip where there is none."""
    executable = chromium_path()
    if executable is None:
        pytest.skip(MISSING_BROWSER)
    with browsing(executable) as browser:
        yield browser
