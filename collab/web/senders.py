"""Where a request comes from: what is counted of those who are not known yet (docs/running.md)."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest


def sender_of(scope: dict[str, Any]) -> str:
    """Return the address that a request to an ASGI application comes from."""
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return _sender(str(scope["client"][0]) if scope.get("client") else "", ",".join(sent))


def sender_of_request(request: HttpRequest) -> str:
    """Return the address that a request to a view comes from."""
    return _sender(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def network(address: str) -> str:
    """Return whose rate an address counts to: its own, or of IPv6 its network's, as one host there has many."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return found.exploded[:19]


def _sender(peer: str, forwarded: str) -> str:
    """Behind a proxy everyone connects from its address; it adds theirs as the last, whatever stood there before."""
    added = forwarded.rpartition(",")[2].strip() if settings.SECURE_PROXY_SSL_HEADER else ""
    return added or peer
