"""The log's hashes, worked out here once more from what is stored, and a thread's head. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC

from agents.audit.rows import EventRow, Finding, MessageRow, ThreadRow

FIRST = "0" * 64
"""What the first event of a thread is chained to."""


@dataclass(slots=True)
class Chain:
    """How far a thread's log has been followed."""

    thread: ThreadRow
    seq: int = 0
    hash: str = FIRST

    def follow(self, event: EventRow) -> Iterator[Finding]:
        """Go on by one event: the next seq (INV12), chained to the one before, with the hash of what is stored."""
        if event.seq != self.seq + 1:
            yield self._finding("INV12", event.seq, f"event {self.seq + 1} is missing")
        elif event.prev_hash != self.hash:
            yield self._finding("chain", event.seq, "is not chained to the event before it")
        if event.hash != hash_of(self.thread.id, event):
            yield self._finding("chain", event.seq, "does not match its hash")
        self.seq, self.hash = event.seq, event.hash

    def end(self) -> Iterator[Finding]:
        """Compare where the log ended with the head that the thread's row keeps (INV12)."""
        head = (self.thread.head_seq, self.thread.head_hash)
        if head != (self.seq, self.hash):
            yield self._finding("INV12", None, f"its head is event {head[0]}, its log ends at {self.seq}, or differs")

    def _finding(self, rule: str, seq: int | None, because: str) -> Finding:
        return Finding(rule, self.thread.id, seq, because)


def hash_of(thread: str, event: EventRow) -> str:
    """Return the hash an event must carry: over its stored texts, each with its length, and the hash before it."""
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds")
    epochs = str(event.lease_epoch), str(event.grants_epoch)
    digest = hashlib.sha256(b"accord.event.1")
    for part in (
        event.prev_hash, thread, str(event.seq), event.type, event.actor, event.turn or "", *epochs, at, event.text,
    ):  # fmt: skip
        text = part.encode()
        digest.update(b"+" + len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()


def is_what_was_posted(message: MessageRow, recorded: str) -> bool:
    """Say whether a message's text is the one the log recorded a salted hash of; an erased one has lost its salt."""
    if not message.salt:
        return True
    salt = bytes.fromhex(message.salt)
    return hmac.compare_digest(hmac.new(salt, message.content.encode(), hashlib.sha256).hexdigest(), recorded)
