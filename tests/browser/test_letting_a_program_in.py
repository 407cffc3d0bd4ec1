"""A person lets a program in: signs in on the way, reads what it is, allows it, and is back at the program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.support.server import Server
from tests.support.visitor import DEMO_PASSWORD

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_a_browser_follows_the_whole_way_to_the_program_and_back(chromium: Browser, server: Server) -> None:
    with a_program_listens() as (back, heard):
        with chromium.new_context() as context:
            page = context.new_page()
            page.goto(_asking(server, back))
            _sign_in(page)
            expect(page.get_by_role("heading", name="Let “Inspector” in?")).to_be_visible()
            assert Axe().run(page).violations_count == 0
            page.get_by_label("Studio launch").check()
            page.get_by_label("Its role in those you manage").select_option("editor")
            page.get_by_role("button", name="Let it in").click()
            expect(page.get_by_text("Back at the program.")).to_be_visible()
        told = parse_qs(urlsplit(heard[-1]).query)
        assert told["state"] == ["s1"]
        assert told["code"]


def test_who_does_not_let_it_in_is_back_at_the_program_too(chromium: Browser, server: Server) -> None:
    with a_program_listens() as (back, heard):
        with chromium.new_context() as context:
            page = context.new_page()
            page.goto(_asking(server, back))
            _sign_in(page)
            page.get_by_role("button", name="Refuse").click()
            expect(page.get_by_text("Back at the program.")).to_be_visible()
        assert parse_qs(urlsplit(heard[-1]).query)["error"] == ["access_denied"]


@contextmanager
def a_program_listens() -> Iterator[tuple[str, list[str]]]:
    """Answer on this machine where people are sent back to; yield that address and what was asked there."""
    heard: list[str] = []

    class Back(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/back"):
                heard.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<p>Back at the program.</p>")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Back) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}/back", heard
        finally:
            listening.shutdown()
            thread.join()


def _asking(server: Server, back: str) -> str:
    told = {"client_name": "Inspector", "redirect_uris": [back]}
    client = httpx.post(f"{server.url}/oauth/register", json=told, timeout=60).raise_for_status().json()["client_id"]
    asked = {
        "client_id": client, "response_type": "code", "redirect_uri": back, "state": "s1", "code_challenge": CHALLENGE,
        "code_challenge_method": "S256", "resource": f"{server.url}/mcp",
    }  # fmt: skip
    return f"{server.url}/oauth/authorize?{httpx.QueryParams(asked)}"


def _sign_in(page: Page) -> None:
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in").click()
