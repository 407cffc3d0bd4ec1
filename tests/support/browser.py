"""A real Chromium for tests that drive the pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The first is Debian's Chromium without a window: pages cost a third of the processor time."""

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> str | None:
    """Return the Chromium of this machine: ACCORD_CHROMIUM, else the first one on the path, else None."""
    named = os.environ.get("ACCORD_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def browsing(executable: str) -> Iterator[Browser]:
    """Open a headless browser that talks to nothing but the pages it is given, until this closes."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()
