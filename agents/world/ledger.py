"""The world's own record of what it did, a line of JSON for each deed, on disk before anybody is told of it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.world.places import Answer, No, Places


class BadLedger(ValueError):
    """A line of the file is no deed of this world; the text names it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One deed: the key it was asked for with, what it was, what it came to, and when (UTC, ISO 8601)."""

    key: str
    deed: str
    args: Mapping[str, Any]
    answer: Answer
    committed_at: str


class Ledger:
    """The deeds in the order they were done. What one key asks for is done once.

    Args:
        path: the file; made when it is not there. One process writes it.

    Raises:
        BadLedger: the file holds something else.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.places = Places()
        self.entries: list[Entry] = []
        self._by_key: dict[str, Entry] = {}
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = _whole_lines(path)
        for number, line in enumerate(whole.splitlines(), start=1):
            self._take_in(_entry(line, number))
        self._file = path.open("r+b")
        self._file.truncate(len(whole))  # a deed cut short by a crash
        self._file.seek(0, os.SEEK_END)

    def do(self, key: str, deed: str, args: Mapping[str, Any]) -> Answer:
        """Do something once for its key and return what it came to, which is the same however often it is asked for.

        Raises:
            No: it cannot be done, or the key asked for something else before (409).
        """
        with self._lock:
            if before := self._by_key.get(key):
                if (before.deed, before.args) != (deed, args):
                    raise No(409, "This key asked for something else before.")
                return before.answer
            answer = self.places.answer(deed, args)
            entry = Entry(key, deed, dict(args), answer, datetime.now(UTC).isoformat())
            self._file.write(json.dumps(asdict(entry)).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._take_in(entry)
            return answer

    def of_key(self, key: str) -> Entry | None:
        """Return what was done for a key, None when nothing was."""
        with self._lock:
            return self._by_key.get(key)

    def so_far(self) -> list[Entry]:
        """Return every deed in order."""
        with self._lock:
            return list(self.entries)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _take_in(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._by_key[entry.key] = entry
        self.places.happened(entry.deed, entry.answer)


def _whole_lines(path: Path) -> bytes:
    """Return the file's lines but for a last one that a crash cut short: nobody was told of that deed."""
    path.touch()
    held = path.read_bytes()
    return held[: held.rfind(b"\n") + 1]


def _entry(line: bytes, number: int) -> Entry:
    try:
        entry = Entry(**json.loads(line))
        Places().happened(entry.deed, entry.answer)
    except (ValueError, TypeError, KeyError) as error:
        raise BadLedger(f"line {number} of the ledger is no deed of this world") from error
    return entry
