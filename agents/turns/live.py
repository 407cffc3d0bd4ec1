"""A running turn's text on its way to the viewers: through the gate, coalesced, kept whole for who joins (DESIGN 9)."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from agents.errors import LimitReached
from agents.replies.stream import ReplyStream
from collab import doorbell
from collab.text import speakable
from collab.web.markdown import blocks

EVERY = 0.05
"""Seconds between two live frames of a turn; the first goes at once."""

_running: dict[UUID, LiveText] = {}


class LiveText:
    """The text of one running turn: what was let out, and how much of it the viewers have been sent."""

    def __init__(self, thread_id: UUID, turn_id: UUID, text: str, *, most_bytes: int) -> None:
        self.text = text
        self._thread_id, self._turn_id = thread_id, turn_id
        self._most_bytes = most_bytes
        self._gate = ReplyStream()
        self._sent, self._html = "", list[str]()
        self._timer: asyncio.TimerHandle | None = None
        self._step_start = len(text)
        _running[thread_id] = self

    def begin_step(self) -> None:
        """A new model response begins: what it says is set apart from what was said before."""
        self._gate = ReplyStream()
        self._step_start = len(self.text)

    async def feed(self, delta: str) -> None:
        """Take text from the model; what the gate lets out goes to the viewers.

        Raises:
            LimitReached: it is more than a reply may hold; what fits was let out.
        """
        self._let_out(self._gate.feed(delta))

    async def drop_step(self) -> None:
        """Forget what this response said: it is asked for again."""
        self.text = self.text[: self._step_start]
        self.begin_step()
        self._soon()

    def end_step(self) -> None:
        """The response is complete: let out the rest."""
        self._let_out(self._gate.finish())

    def close(self) -> None:
        """The turn is over: what was let out and not sent goes now."""
        if self._timer is not None:
            self._timer.cancel()
            self._send()
        if _running.get(self._thread_id) is self:
            del _running[self._thread_id]

    def snapshot(self) -> dict[str, Any]:
        """Return a live frame that holds the whole text."""
        return {"turn": str(self._turn_id), "offset": 0, "text": self.text, "block": 0, "html": blocks(self.text)}

    def _let_out(self, text: str) -> None:
        text = speakable(text)
        if text and len(self.text) == self._step_start and self.text:
            text = f"\n\n{text}"
        room = self._most_bytes - len(self.text.encode())
        fits = text.encode()[: max(0, room)].decode(errors="ignore")
        if fits:
            self.text += fits
            self._soon()
        if fits != text:
            raise LimitReached(f"The reply reached its limit of {self._most_bytes:,} bytes.")

    def _soon(self) -> None:
        if self._timer is None:
            self._send()
            self._timer = asyncio.get_running_loop().call_later(EVERY, self._due)

    def _due(self) -> None:
        self._timer = None
        if self.text != self._sent:
            self._soon()

    def _send(self) -> None:
        offset = _common(self._sent, self.text)
        html = blocks(self.text)
        block = next((n for n, (old, new) in enumerate(zip(self._html, html, strict=False)) if old != new), None)
        block = min(len(self._html), len(html)) if block is None else block
        frame = {
            "turn": str(self._turn_id), "offset": offset, "text": self.text[offset:], "block": block,
            "html": html[block:],
        }  # fmt: skip
        self._sent, self._html = self.text, html
        doorbell.live(self._thread_id, frame)


def snapshot(thread_id: UUID) -> dict[str, Any] | None:
    """Return the live frame with all text of the turn that this process runs in a thread, or None."""
    found = _running.get(thread_id)
    return found.snapshot() if found else None


def _common(sent: str, text: str) -> int:
    """How much of what was sent still stands: all of it, unless a step was dropped."""
    return len(sent) if text.startswith(sent) else len(text) if sent.startswith(text) else 0
