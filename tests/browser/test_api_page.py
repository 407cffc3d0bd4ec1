"""The page of the API's document: it works under our content security policy and asks nobody else."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from tests.support.server import Server


def test_it_is_drawn_from_this_server_alone(server: Server, chromium: Browser) -> None:
    page = chromium.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{server.url}/api/v1/docs/")
    expect(page.get_by_text("/api/v1/commands/message_post")).to_be_visible(timeout=30_000)
    expect(page.locator(".opblock").first).to_be_visible()
    here = urlsplit(server.url).netloc
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {here}
    assert [line for line in said if "Content Security Policy" in line or "Error" in line] == []
