"""Anchors: the heads of all threads in a file that can be kept elsewhere, so that a log cut short or written anew after
that shows (DESIGN 4, Event). One JSON object a line: ``{"thread": id, "seq": n, "hash": hex}``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from agents.audit.rows import Finding, ThreadRow

Head = Callable[[str, int], str | None]
"""Returns the hash that a thread's log has at a seq; None where it has no such event."""


class BadAnchor(ValueError):
    """The file is not one that the audit wrote."""


def missing(path: Path, head: Head) -> Iterator[Finding]:
    """Compare every head that was kept with the log: its event must be there still, with the same hash.

    Raises:
        BadAnchor: a line of the file is not an anchor.
    """
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            thread, seq, kept = _read(line, number)
            found = head(thread, seq) if seq else kept
            if found != kept:
                because = "the anchored event is gone" if found is None else "the anchored event is another one"
                yield Finding("anchor", thread, seq, because)


class Anchors:
    """A file of anchors that is being written; it takes the place of the old one at once, or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new = NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False)

    def add(self, thread: ThreadRow) -> None:
        """Keep a thread's head."""
        line = {"thread": thread.id, "seq": thread.head_seq, "hash": thread.head_hash}
        self._new.write(json.dumps(line) + "\n")

    def keep(self) -> None:
        """Put the new file, which is on the disk by then, in the place of the old one."""
        self._new.flush()
        os.fsync(self._new.fileno())
        self._new.close()
        Path(self._new.name).replace(self._path)

    def drop(self) -> None:
        """Leave the old file as it is."""
        self._new.close()
        Path(self._new.name).unlink(missing_ok=True)


def _read(line: str, number: int) -> tuple[str, int, str]:
    try:
        found: Any = json.loads(line)
        thread, seq, kept = found["thread"], found["seq"], found["hash"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadAnchor(f"line {number} is no anchor") from error
    if not (isinstance(thread, str) and isinstance(seq, int) and isinstance(kept, str)):
        raise BadAnchor(f"line {number} is no anchor")
    return thread, seq, kept
