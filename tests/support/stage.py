"""The windows of a browser that people look at Accord through, and what they see and do in a thread."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, WebSocketRoute, expect

from tests.support.site import Site

PATIENCE = 30.0
"""Seconds that anything a test waits for may take; far more than it does."""

SOCKET = re.compile(r"/ws/threads/")
FORM_SECRET = re.compile(r'(name="csrfmiddlewaretoken" value=)"[^"]*"')


TRY = """([path, name, args]) => new Promise((done) => {
  const socket = new WebSocket(`ws://${location.host}/ws${path}`, "accord.v1");
  const answer = (because) => { socket.close(); done(because); };
  const send = (said) => socket.send(JSON.stringify(said));
  socket.onopen = () => send({ type: "hello", after_seq: 0 });
  socket.onmessage = (message) => {
    const frame = JSON.parse(message.data);
    if (frame.type === "caught_up") send({ type: "command", id: crypto.randomUUID(), name, args });
    if (frame.type === "result") answer("");
    if (frame.type === "refused") answer(frame.because);
  };
})"""
"""Sends a command on a socket of its own, whatever the page offers, and returns why it was refused, or nothing."""


def until(true: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"it did not come to pass: {what}"
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Tab:
    """A thread's page in one window."""

    page: Page

    @property
    def log(self) -> Locator:
        return self.page.locator("#entries")

    @property
    def strip(self) -> Locator:
        return self.page.locator("#strip")

    @property
    def pane(self) -> Locator:
        return self.page.locator("#pane")

    @property
    def box(self) -> Locator:
        return self.page.locator("#say")

    @property
    def line(self) -> Locator:
        """The line that says when the page is not live."""
        return self.page.locator("#connection")

    @property
    def running(self) -> Locator:
        """What a running turn has said so far."""
        return self.page.locator("article.turn[aria-busy='true'] .turn__body > .prose")

    @property
    def replies(self) -> Locator:
        return self.page.locator("article.turn .reply")

    def rail(self, whom: str) -> Locator:
        """The exchanges in which the agent works for someone, by name."""
        return self.log.locator("section.exchange").filter(has=self.page.locator(".turn__head .for", has_text=whom))

    def message(self, text: str) -> Locator:
        """The messages of the log that say this."""
        return self.log.locator("article.msg").filter(has_text=text)

    def waiting(self, text: str) -> Locator:
        """The messages of the strip that say this."""
        return self.strip.locator("li.wait").filter(has_text=text)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def writes(self, text: str) -> None:
        """Write a message and send it, without waiting for it to be posted."""
        self.box.fill(text)
        self.box.press("Control+Enter")

    def says(self, text: str) -> None:
        """Post a message."""
        self.writes(text)
        expect(self.box).to_have_value("")

    def lets_robin_only_suggest(self) -> None:
        """Set, as an owner, that the agent suggests changes instead of making them."""
        self.button("Thread settings").click()
        self.page.get_by_role("radio", name="Suggest changes").check()
        self.button("Save").click()
        expect(self.page.locator("[data-thread-mode]")).to_contain_text("Robin suggests changes")

    def tries(self, thread: str, command: str, **args: str) -> str:
        """Send a command that the page may not offer, and return the reason it was refused for, "" when it was not."""
        because: str = self.page.evaluate(TRY, [f"/threads/{thread}/", command, args])
        return because

    def comes_to_rest(self) -> None:
        """Wait until nothing runs and nothing waits."""
        expect(self.strip).to_be_hidden()
        expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def drawn(self) -> list[str]:
        """Return the log, the strip and the document as the page holds them, a tag a line, without what no two loads
        share."""
        html = "\n".join(part.inner_html() for part in (self.log, self.strip, self.pane))
        return FORM_SECRET.sub(r"\1", html).replace("><", ">\n<").splitlines()

    def focused(self) -> str:
        """Return what holds the focus: its id, else its tag; "body" when nothing does."""
        found: str = self.page.evaluate("document.activeElement.id || document.activeElement.localName")
        return found


class Stage:
    """Opens windows of people and watches them all: nothing may break in one, and none may call anyone but the site."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self.site = site
        self.trouble: list[str] = []
        self._browser = browser
        self._windows: list[BrowserContext] = []

    def window(self, who: str | None, path: str, *, wire: Wire | None = None, **options: Any) -> Page:
        """Open a page in a window of its own, as a person by user name, or as nobody; its socket goes through a wire,
        when one is given."""
        context = self._browser.new_context(base_url=self.site.url, **options)
        self._windows.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        if who is not None:
            cookies = self.site.visitor(who).http.cookies
            context.add_cookies(
                [{"name": name, "value": value, "url": self.site.url} for name, value in cookies.items()]
            )
        page = context.new_page()
        self._watch(page, who or "nobody")
        if wire is not None:
            page.route_web_socket(SOCKET, wire.carry)
        page.goto(path)
        return page

    def tab(self, who: str, path: str, **options: Any) -> Tab:
        """Open a thread, as :meth:`window` does."""
        return Tab(self.window(who, path, **options))

    def close(self) -> None:
        """Close every window; fail if there was trouble in one."""
        for context in self._windows:
            context.close()
        assert not self.trouble

    def _watch(self, page: Page, who: str) -> None:
        page.on("pageerror", lambda error: self.trouble.append(f"{who}: {error}"))
        page.on("console", lambda said: self._judge(who, said.text))
        page.on("request", lambda request: self._judge_request(who, request))

    def _judge(self, who: str, said: str) -> None:
        if "Content Security Policy" in said:
            self.trouble.append(f"{who}: {said}")

    def _judge_request(self, who: str, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in {"data", "blob"} and asked.netloc != urlsplit(self.site.url).netloc:
            self.trouble.append(f"{who} asked {request.url}")


class Wire:
    """A thread's socket as it passes through the test, which may cut it, or lose an answer and cut it then."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self._loses = ""
        self._joined: list[tuple[WebSocketRoute, WebSocketRoute]] = []

    @property
    def connections(self) -> int:
        """How often the page has connected."""
        return len(self._joined)

    def carry(self, browser: WebSocketRoute) -> None:
        """Connect a socket of the page to the server."""
        server = browser.connect_to_server()
        self._joined.append((browser, server))
        server.on_message(lambda frame: self._pass(browser, frame))

    def cut(self) -> None:
        """Break the connection that stands, as a network does."""
        browser, server = self._joined[-1]
        server.close()
        browser.close(code=1012, reason="cut")

    def loses(self, mark: str) -> None:
        """Lose the next frame of the server that holds this text, and cut the connection."""
        self._loses = mark

    def _pass(self, browser: WebSocketRoute, frame: str | bytes) -> None:
        text = frame if isinstance(frame, str) else frame.decode()
        if self._loses and self._loses in text:
            self._loses = ""
            self.lost.append(text)
            self.cut()
        else:
            browser.send(frame)
