"""Where programs have people sent back to: which addresses may be registered, what is added to one, and over which of
ours programs are let in at all (OAuth 2.1, RFC 8414). Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

LONGEST = 1_000
"""Characters of an address."""

ON_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,40}")
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_REFUSED = frozenset({
    "about", "blob", "chrome", "content", "data", "feed", "file", "filesystem", "ftp", "intent", "jar", "javascript",
    "mailto", "resource", "sms", "tel", "vbscript", "view-source", "ws", "wss",
})  # fmt: skip
"""Schemes that no program answers, or that would run, show or send what is in the address."""


def fault_of(address: str) -> str:
    """Say why a program may not have people sent back to an address; empty where it may (OAuth 2.1, redirect URIs)."""
    if len(address) > LONGEST or not address.isascii() or not address.isprintable():
        return "A redirect address is plain text of at most 1,000 characters."
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return "A redirect address that nobody can read."
    if parts.fragment or "#" in address:
        return "A redirect address has no fragment."
    if parts.username is not None or parts.password is not None:
        return "A redirect address names nobody who signs in."
    match parts.scheme:
        case "https" if _HOST.fullmatch(host):
            return ""
        case "http" if host in ON_THIS_MACHINE:
            return ""
        case "http" | "https":
            return "A redirect address is of https, or of http on the machine itself."
        case scheme if _SCHEME.fullmatch(scheme) and scheme not in _REFUSED:
            return ""
    return "A redirect address of this kind is not taken."


def is_offered(origin: str) -> bool:
    """Say whether programs are given tokens at an origin of ours: what is sent there must not be read on the way."""
    parts = urlsplit(origin)
    return parts.scheme == "https" or parts.hostname in ON_THIS_MACHINE


def back_to(address: str, **told: str | None) -> str:
    """Return an address with what its program is told added to its query; None is not told."""
    parts = urlsplit(address)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *((k, v) for k, v in told.items() if v is not None)]
    return urlunsplit(parts._replace(query=urlencode(query)))


def place_of(address: str) -> str:
    """Return what people read of where they are sent back to: a host, or the program that answers to a scheme."""
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"}:
        return f"the program that opens {parts.scheme}:// addresses on this machine"
    return "a program on this machine" if parts.hostname in ON_THIS_MACHINE else (parts.hostname or "")


def form_source(address: str) -> str:
    """Return what a page's policy lets a form lead to, so that a browser follows the way back (CSP, form-action)."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"
