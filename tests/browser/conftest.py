"""One server and one browser for each file here; a workspace and windows of its own for each test."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import browsing, chromium_path
from tests.support.outside import Outside, outside_of, world_at
from tests.support.server import environment_for, serving
from tests.support.site import Site, Studio, opened
from tests.support.stage import PATIENCE, Stage

SCRIPT = Path(__file__).parent / "script.yaml"

expect.set_options(timeout=PATIENCE * 1000)
logging.getLogger("httpx").setLevel(logging.WARNING)


@pytest.fixture(scope="module")
def site(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve the demo's people and an agent that plays script.yaml."""
    data = shutil.copytree(demo_data, tmp_path_factory.mktemp("site") / "data")
    with serving(environment_for(data, ACCORD_MODEL=f"scripted:{SCRIPT}")) as server, opened(server) as site:
        yield site
        assert "Traceback" not in server.output, server.output


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Open a real Chromium for a file's tests, or skip them where there is none."""
    executable = chromium_path()
    if executable is None:
        pytest.skip("no Chromium on this machine (install the package chromium, or name one in ACCORD_CHROMIUM)")
    with browsing(executable) as browser:
        yield browser


@pytest.fixture(scope="module")
def outside(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """Serve the same beside a fake restaurant, whose tools are enabled in a workspace and whose webhooks come in."""
    folder = tmp_path_factory.mktemp("outside")
    data = shutil.copytree(demo_data, folder / "data")
    with world_at(folder / "world.jsonl") as world:
        environment = environment_for(data, ACCORD_MODEL=f"scripted:{SCRIPT}", ACCORD_WORLD_URL=world.url)
        with serving(environment) as server, opened(server) as site:
            yield outside_of(site, world, folder)
            assert "Traceback" not in server.output, server.output


@pytest.fixture
def scene(chromium: Browser, outside: Outside) -> Iterator[Stage]:
    """Open windows beside the restaurant, that are closed after the test, in which nothing may break."""
    scene = Stage(chromium, outside.site)
    try:
        yield scene
    finally:
        scene.close()


@pytest.fixture
def stage(chromium: Browser, site: Site) -> Iterator[Stage]:
    """Open windows that are closed after the test, in which nothing may break."""
    stage = Stage(chromium, site)
    try:
        yield stage
    finally:
        stage.close()


@pytest.fixture
def studio(site: Site) -> Studio:
    """Make Ana's workspace through the pages, at the server."""
    return site.studio()
