"""Pictures of the running pages: ``python -m tests.support.screenshots FOLDER``, which `make screenshots` calls.

Plays the tour's first minutes as Ana and Ben, and takes each page at 1280 and 390 px, light and dark.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from tests.support.browser import browsing, chromium_path
from tests.support.server import environment_for, manage, serving

PASSWORD = "accord-demo"
SIZES = {"1280": {"width": 1280, "height": 860}, "390": {"width": 390, "height": 844}}


def main(folder: Path) -> None:
    """Take every picture into a folder."""
    executable = chromium_path()
    if executable is None:
        sys.exit("no Chromium on this machine (install the package chromium)")
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as data:
        environment = environment_for(Path(data))
        manage(environment, "migrate", "--verbosity", "0")
        manage(environment, "demo")
        with serving(environment) as server, browsing(executable) as browser:
            _tour(browser, server.url, folder)


def _tour(browser: Browser, url: str, folder: Path) -> None:
    ana = _signed_in(browser, url, "ana", "1280", "light")
    ben = _signed_in(browser, url, "ben", "390", "dark")
    for page in (ana, ben):
        page.get_by_role("link", name="Launch dinner").first.click()
        page.locator("#say").wait_for()
    _send(ana, "hello")
    ana.get_by_text("completed").or_(ana.locator(".turn time")).first.wait_for()
    _send(ana, "add book the venue to the plan")
    ana.locator(".turn[aria-busy=true] .prose").wait_for()
    _send(ben, "and rename it")
    ana.get_by_text("is next").wait_for()
    ana.get_by_text("or needs a date or a name").wait_for()
    ana.screenshot(path=folder / "thread.png")
    ben.screenshot(path=folder / "thread-phone-dark.png")
    ben.locator(".quest").wait_for()
    ana.screenshot(path=folder / "question.png")
    thread = ana.url
    for name, size, scheme in (("ben", "1280", "dark"), ("vera", "390", "light")):
        page = _signed_in(browser, url, name, size, scheme)
        page.goto(thread)
        page.locator(".log .msg").first.wait_for()
        page.screenshot(path=folder / f"thread-{name}-{size}-{scheme}.png")
    _others(ana, url, folder)


def _others(page: Page, url: str, folder: Path) -> None:
    thread = page.url
    page.goto(f"{thread}timeline/")
    page.screenshot(path=folder / "timeline.png")
    page.goto(url)
    page.screenshot(path=folder / "workspace.png")
    page.goto(f"{page.url}people/")
    page.screenshot(path=folder / "people.png")


def _signed_in(browser: Browser, url: str, name: str, size: str, scheme: str) -> Page:
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{url}/sign-in/")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url("**/w/**")
    return page


def _send(page: Page, text: str) -> None:
    page.fill("#say", text)
    page.press("#say", "Control+Enter")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
