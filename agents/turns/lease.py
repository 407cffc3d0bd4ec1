"""Who runs a thread: a claim with an epoch, renewed while the turn works, checked by its every write (DESIGN 6)."""

from __future__ import annotations

import os
import secrets
import socket
from datetime import timedelta
from uuid import UUID

from django.conf import settings

from agents.errors import LeaseLost
from agents.models.turns import Turn
from collab.log import Locked
from collab.models.threads import Thread
from permissions.clock import AccordNow

HOLDER = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
"""This process, as a lease names it; never the same twice."""


def ttl() -> timedelta:
    """Return how long a lease stands without being renewed."""
    return timedelta(seconds=settings.ACCORD_LEASE_SECONDS)


def is_live(locked: Locked) -> bool:
    """Say whether some process holds the thread at this moment, by the database's clock."""
    until = locked.row.lease_until
    return until is not None and until > locked.now


def claim(locked: Locked) -> None:
    """Take a thread that nobody holds: the next epoch, for this process."""
    locked.change(lease_holder=HOLDER, lease_epoch=locked.row.lease_epoch + 1, lease_until=locked.now + ttl())


def release(locked: Locked) -> None:
    """Give the thread back, in the transaction that ends or leaves its turn."""
    locked.change(lease_holder="", lease_until=None, stop_turn_id=None)


def fence(locked: Locked, turn: Turn) -> None:
    """Refuse a write of a turn that has ended, or whose lease another process has taken since.

    Raises:
        LeaseLost: the thread is not held by this process in the turn's epoch.
    """
    if locked.row.lease_epoch != turn.lease_epoch or locked.row.lease_holder != HOLDER:
        raise LeaseLost()


def renew(thread_id: UUID, epoch: int) -> UUID | None:
    """Keep a lease for one more TTL, and return the turn that someone asked to stop, if any.

    Raises:
        LeaseLost: the thread was given back, or claimed by another process.
    """
    kept = Thread.objects.filter(pk=thread_id, lease_epoch=epoch, lease_holder=HOLDER).update(
        lease_until=AccordNow() + ttl()
    )
    if not kept:
        raise LeaseLost()
    return Thread.objects.values_list("stop_turn_id", flat=True).get(pk=thread_id)
