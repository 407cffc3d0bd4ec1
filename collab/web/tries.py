"""How often someone may try to sign in: ten failed tries per user name and network in ten minutes (FAILURES Z)."""

from __future__ import annotations

from hashlib import sha256
from unicodedata import normalize

from django.core.cache import cache

from collab.web.senders import network

MOST = 10
SECONDS = 600


def left(username: str, address: str) -> int:
    """Return how many more tries there are for this user name from this address."""
    return max(0, MOST - int(cache.get(_key(username, address), 0)))


def failed(username: str, address: str) -> int:
    """Count a failed try and return how many are left."""
    key = _key(username, address)
    cache.add(key, 0, SECONDS)
    try:
        return max(0, MOST - int(cache.incr(key)))
    except ValueError:
        # It ran out between the two lines above.
        cache.set(key, 1, SECONDS)
        return MOST - 1


def succeeded(username: str, address: str) -> None:
    """Forget the failed tries."""
    cache.delete(_key(username, address))


def _key(username: str, address: str) -> str:
    """A name counts as itself in every form in which it signs someone in: forms make letters plain before they look."""
    plain = normalize("NFKC", username).strip().casefold()
    return "tries." + sha256(f"{plain}\n{network(address)}".encode(errors="replace")).hexdigest()
