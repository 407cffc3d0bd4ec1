"""Who has a thread open, over all processes (DESIGN 4, Presence)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from collab.models.threads import Presence, Thread
from collab.web.actors import Book
from permissions.actors import Person
from permissions.clock import AccordNow

RENEW_SECONDS = 20.0
KEPT = timedelta(seconds=45)
"""How long someone is here after a process last said so."""


def presence_renew(here: Mapping[UUID, Collection[UUID]]) -> None:
    """Say of each thread which people this process has sockets of."""
    until = AccordNow() + KEPT
    # In one order, so that two processes that renew the same rows never wait for each other.
    pairs = sorted((thread, user) for thread, users in here.items() for user in users)
    rows = [Presence(thread_id=thread, user_id=user, until=until) for thread, user in pairs]
    Presence.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["thread", "user"], update_fields=["until"], batch_size=100
    )


def presence_end(thread_id: UUID, user_id: UUID) -> None:
    """Say that the last socket this process had of someone is closed."""
    Presence.objects.filter(thread_id=thread_id, user_id=user_id).delete()


def people_here(thread_id: UUID) -> list[dict[str, Any]]:
    """Return who is here, by name."""
    users = list(Presence.objects.filter(thread_id=thread_id, until__gt=AccordNow()).values_list("user_id", flat=True))
    workspace = Thread.objects.values_list("workspace_id", flat=True).get(pk=thread_id)
    book = Book(workspace, [Person(user) for user in users])
    people = [{"id": str(user), "name": book.name(user), "hue": book.hue(user)} for user in users]
    return sorted(people, key=lambda person: (person["name"].casefold(), person["id"]))
