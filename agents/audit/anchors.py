"""Anchors: the heads of all threads in a file that can be kept elsewhere, so that a log cut short or written anew after
that shows (DESIGN 4, Event). One JSON object a line: ``{"thread": id, "seq": n, "hash": hex}``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any
from uuid import UUID

from agents.audit.rows import Finding, ThreadRow

Head = Callable[[str, int], str | None]
"""Returns the hash that a thread's log has at a seq; None where it has no such event."""


class BadAnchor(ValueError):
    """The file is not one that the audit wrote."""


@dataclass(slots=True)
class Heads:
    """The heads that are being kept; unless something is found, they replace the earlier ones."""

    file: IO[str]
    trusted: bool = True

    def distrusting(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Pass findings on; a violation among them leaves the earlier heads in their place, as the evidence."""
        for finding in findings:
            self.trusted = self.trusted and finding.is_note
            yield finding

    def add(self, thread: ThreadRow) -> None:
        """Keep a thread's head."""
        self.file.write(json.dumps({"thread": thread.id, "seq": thread.head_seq, "hash": thread.head_hash}) + "\n")


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


@contextmanager
def replacing(path: Path) -> Iterator[Heads]:
    """Write new anchors beside a file, and put them in its place at once when the block has ended well; if it fails, or
    the heads are not to be trusted, the file stays as it was."""
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        new = Path(file.name)
        try:
            heads = Heads(file)
            yield heads
            file.flush()
            os.fsync(file.fileno())
            if heads.trusted:
                new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def _read(line: str, number: int) -> tuple[str, int, str]:
    try:
        found: Any = json.loads(line)
        thread, seq, kept = UUID(found["thread"]), found["seq"], found["hash"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadAnchor(f"line {number} is no anchor") from error
    if not (isinstance(seq, int) and isinstance(kept, str)):
        raise BadAnchor(f"line {number} is no anchor")
    return str(thread), seq, kept
