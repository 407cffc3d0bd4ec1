"""Changing rows behind the services' backs, as whoever reaches the database could."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection

from agents.audit import reading
from agents.audit.chain import FIRST, hash_of
from agents.audit.rows import ThreadRow
from collab.canonical import canonical
from collab.models.threads import Event, Message, Thread
from tests.support.cast import Studio
from tests.support.worked import Worker

GUARDED = ("collab_event", "permissions_grantchange")
"""The tables that PostgreSQL keeps from being rewritten."""


class Tampered:
    """A thread that was worked in, and ways to falsify what is kept of it.

    Events are named by their type and how many of that type came before. Whoever falsifies one can also work the
    hashes out anew, so that is done for them: what then gives it away is the rule and not the chain.
    """

    def __init__(self, studio: Studio, last: Worker) -> None:
        self.studio, self.last = studio, last
        self.robin_for_ben = studio.robin.acting_for(studio.ben, studio.thread)

    @property
    def thread(self) -> ThreadRow:
        return next(reading.threads())

    def event(self, type: str, place: int = 0) -> Event:
        """Return one event."""
        return Event.objects.filter(thread=self.studio.thread, type=type).order_by("seq")[place]

    def message(self, text: str) -> Any:
        """Return the message with this text, as a query to change it with."""
        return Message.objects.filter(thread=self.studio.thread, content=text)

    def turn_of(self, type: str, place: int = 0) -> UUID | None:
        """Return the turn of an event."""
        return self.event(type, place).turn_id

    def rewrites(self, type: str, place: int = 0, /, **values: Any) -> None:
        """Change columns of an event."""
        self._unguarded()
        Event.objects.filter(pk=self.event(type, place).pk).update(**values)
        self._sealed()

    def retells(self, type: str, place: int = 0, /, **values: Any) -> None:
        """Change parts of an event's data."""
        told = json.loads(self.event(type, place).data)
        self.rewrites(type, place, data=canonical({**told, **values}))

    def spoils(self, type: str, place: int = 0, /, **values: Any) -> None:
        """Change columns of an event and leave the hashes as they are."""
        self._unguarded()
        Event.objects.filter(pk=self.event(type, place).pk).update(**values)

    def removes(self, rows: Any) -> None:
        """Delete rows."""
        self._unguarded()
        rows.delete()

    def _unguarded(self) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                for table in GUARDED:
                    cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")

    def _sealed(self) -> None:
        thread, last = self.thread, FIRST
        for event in [event for stretch in reading.stretches(thread) for event in stretch]:
            sealed = hash_of(thread.id, replace(event, prev_hash=last))
            Event.objects.filter(thread_id=thread.id, seq=event.seq).update(prev_hash=last, hash=sealed)
            last = sealed
        Thread.objects.filter(pk=thread.id).update(head_hash=last)
