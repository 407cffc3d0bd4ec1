"""The sessions of ``/mcp`` in this process: whose each is, how many one token has, which are over.

A session belongs to the token that began it, and to what that token is rotated or renewed to; with any other it is as
if it were not there (FAILURES L6).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

MOST_OF_A_TOKEN = 16
"""Sessions of one token; one more ends the one that was used longest ago."""

IDLE_SECONDS = 30 * 60
"""After how many seconds without a request a session is over."""


@dataclass(slots=True)
class Session:
    """One session: since when nothing was asked in it, and how many requests of it are being answered."""

    used_at: float
    asking: int = 0


@dataclass(slots=True)
class Book:
    """The sessions that there are, by the family of tokens whose they are, those used longest ago first."""

    _of: dict[UUID, OrderedDict[str, Session]] = field(default_factory=dict)

    def begun(self, whose: UUID, id: str, now: float) -> list[str]:
        """Note a new session; return those of the same token that are too many with it."""
        found = self._of.setdefault(whose, OrderedDict())
        found[id] = Session(now)
        return list(found)[:-MOST_OF_A_TOKEN]

    @contextmanager
    def asked(self, whose: UUID, id: str, now: float) -> Iterator[bool]:
        """Note a request in a session for as long as it is answered; yield whether there is such a session."""
        found = self._of.get(whose, OrderedDict())
        session = found.get(id)
        if session is None:
            yield False
            return
        found.move_to_end(id)
        session.used_at = now
        session.asking += 1
        try:
            yield True
        finally:
            session.asking -= 1

    def ended(self, whose: UUID, id: str) -> None:
        """Forget a session."""
        found = self._of.get(whose)
        if found is not None:
            found.pop(id, None)
            if not found:
                del self._of[whose]

    def idle(self, now: float) -> list[tuple[UUID, str]]:
        """Return the sessions that were over for a minute at least."""
        return [
            (whose, id)
            for whose, sessions in self._of.items()
            for id, session in sessions.items()
            if not session.asking and now - session.used_at > IDLE_SECONDS + 60
        ]
