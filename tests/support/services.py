"""Which services answer on this machine, and the environment that points Accord at them."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

LOCAL_DATABASE = "postgres://postgres@127.0.0.1:5432/accord"
LOCAL_REDIS = "redis://127.0.0.1:6379/0"


def database_url(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the PostgreSQL database that tests may use: the one named in DATABASE_URL, else a local one that lets
    ``postgres`` in without a password; None when neither answers."""
    return _answering(environment.get("DATABASE_URL"), LOCAL_DATABASE, scheme="postgres", port=5432)


def redis_url(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the Redis that tests may use: the one named in REDIS_URL, else a local one; None when none answers."""
    return _answering(environment.get("REDIS_URL"), LOCAL_REDIS, scheme="redis", port=6379)


def _answering(named: str | None, local: str, *, scheme: str, port: int) -> str | None:
    url = named or local
    parts = urlsplit(url)
    if not parts.scheme.startswith(scheme):
        return None
    return url if _accepts(parts.hostname or "127.0.0.1", parts.port or port) else None


def _accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=2):
            return True
    except OSError:
        return False
