"""Where programs have people sent back to (OAuth 2.1, redirect URIs)."""

from __future__ import annotations

import pytest

from agents.clients.oauth.addresses import back_to, fault_of, form_source, is_offered, place_of


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/back", "https://a.example:8443/back?x=1", "http://localhost/back", "http://127.0.0.1:1/",
        "http://[::1]:9/back", "cursor://mcp/back", "com.example.app:/back",
    ],
)  # fmt: skip
def test_an_address_that_only_the_program_hears_is_taken(address: str) -> None:
    assert fault_of(address) == ""


@pytest.mark.parametrize(
    "address",
    [
        "", "/back", "a.example", "http://a.example/", "http://127.0.0.1.evil.example/", "http://localhost@evil.example/",
        "https:///back", "https://a.example/#x", "https://u:p@a.example/", "javascript:alert(1)", "JavaScript:alert(1)",
        "data:text/html,x", "file:///etc/passwd", "vbscript:x", "https://a.example/\r\nSet-Cookie: x", "https://ä.example/",
        "https://[::1/", "x" * 2_000, "1abc:x", "ws://localhost/",
        "https://a.example;script-src/", "https://a.example:;x/", "https://a.example:99999/",
    ],
    ids=range(23),
)  # fmt: skip
def test_any_other_is_refused_in_a_sentence(address: str) -> None:
    assert fault_of(address).endswith(".")


def test_what_the_program_is_told_is_added_to_what_its_address_says() -> None:
    assert back_to("https://a.example/b?x=1&y=", code="a b&c", state=None) == "https://a.example/b?x=1&y=&code=a+b%26c"
    assert back_to("cursor://mcp/back", code="c", state="s") == "cursor://mcp/back?code=c&state=s"


def test_people_read_where_they_are_sent_back_to() -> None:
    assert place_of("https://a.example/back?x=evil.example") == "a.example"
    assert place_of("http://127.0.0.1:9/back") == "a program on this machine"
    assert place_of("cursor://mcp/back") == "the program that opens cursor:// addresses on this machine"


def test_a_form_may_lead_to_its_program_and_nowhere_else() -> None:
    assert form_source("https://a.example:8443/back?x=1") == "https://a.example:8443"
    assert form_source("http://127.0.0.1:9/back") == "http://127.0.0.1:9"
    assert form_source("cursor://mcp/back") == "cursor:"


@pytest.mark.parametrize(
    ("origin", "offered"),
    [
        ("https://accord.example", True), ("http://accord.example", False), ("http://localhost:8000", True),
        ("http://127.0.0.1:1", True), ("http://[::1]:1", True), ("http://127.0.0.1.evil.example", False),
    ],
)  # fmt: skip
def test_programs_are_given_tokens_where_nobody_reads_along(origin: str, offered: bool) -> None:
    assert is_offered(origin) is offered
