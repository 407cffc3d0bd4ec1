"""Where a request says it goes: the beginning of every address that a program is told (RFC 9728, RFC 8414)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from pydantic import AnyHttpUrl, ValidationError

from collab.errors import CollabError

MCP_PATH = "/mcp"


class NotServed(CollabError):
    """This server does not answer for that host."""

    code = "not_served"
    status = 421


class NotOurPage(NotServed):
    """This server does not answer pages of that origin."""

    status = 403


def origin_of(scope: dict[str, Any]) -> str:
    """Return the origin a request to an ASGI application was sent to, like ``https://accord.example``.

    Raises:
        NotServed: the host is none of ours (a page that had its name point here, for one); or, as
            :class:`NotOurPage`, a page of another origin sent it.
    """
    domain, _ = split_domain_port(host := _header(scope, b"host").lower())
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise NotServed
    origin = f"{'https' if _is_secure(scope) else 'http'}://{host}"
    if not _is_address(origin):
        raise NotServed
    if _header(scope, b"origin") not in ("", origin):
        raise NotOurPage
    return origin


def mcp_of(origin: str) -> str:
    """Return the address of ``/mcp``: what tokens that programs are given are good for."""
    return f"{origin}{MCP_PATH}"


def issuer_of(origin: str) -> str:
    """Return the address of who gives programs their tokens."""
    return f"{origin}/oauth"


def metadata_of(origin: str) -> str:
    """Return where a program reads how people let it in."""
    return f"{origin}/.well-known/oauth-protected-resource{MCP_PATH}"


def _is_address(origin: str) -> bool:
    """Whether addresses can begin so: Django lets any number pass for a port, and any labels for a name."""
    try:
        AnyHttpUrl(origin)
    except ValidationError:
        return False
    return True


def _header(scope: dict[str, Any], name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _is_secure(scope: dict[str, Any]) -> bool:
    """As Django's own, of what its middleware does not see."""
    if settings.HTTPS or scope.get("scheme") == "https":
        return True
    behind = settings.SECURE_PROXY_SSL_HEADER
    return bool(behind) and _header(scope, b"x-forwarded-proto").split(",")[0].strip() == "https"
