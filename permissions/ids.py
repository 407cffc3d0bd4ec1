"""Primary keys: UUIDv7, made by us, never reused (DESIGN 4). Pure."""

from __future__ import annotations

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """Return a new id; later ids sort after earlier ones of the same process."""
    return uuid7()
