"""A running turn's text on its way to the viewers: through the gate, coalesced, kept whole for who joins (DESIGN 9)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from agents.errors import LimitReached
from agents.replies.composing import TemplateStream
from agents.replies.record import CallRecord
from agents.replies.stream import BETWEEN, CheckedStream
from collab import doorbell
from collab.text import speakable
from collab.web.markdown import blocks

Gate = CheckedStream | TemplateStream

EVERY = 0.05
"""Seconds between two live frames of a turn; the first goes at once."""

MOST_HELD = 65_536
"""Bytes that a model may have written beyond its limit before it is cut off: they may be held back."""

_running: dict[UUID, LiveText] = {}


class LiveText:
    """The text of one running turn: what was let out, and how much of it the viewers have been sent.

    Args:
        gate: what the text leaves through; it knows what the turn said before.
    """

    def __init__(self, thread_id: UUID, turn_id: UUID, text: str, *, gate: Gate, most_bytes: int) -> None:
        self.text = text
        self.gate = gate
        self._thread_id, self._turn_id = thread_id, turn_id
        self._most_bytes, self._written = most_bytes, len(text.encode())
        self._sent, self._html = "", list[str]()
        self._timer: asyncio.TimerHandle | None = None
        self._step_start = len(text)
        _running[thread_id] = self

    def begin_step(self) -> None:
        """A new model response begins: what it says is set apart from what was said before."""
        self._step_start = len(self.text)
        self._written = len(self.text.encode())

    @property
    def step_text(self) -> str:
        """What people were shown of this response."""
        return self.text[self._step_start :].removeprefix(BETWEEN)

    async def feed(self, delta: str) -> None:
        """Take text from the model; what the gate lets out goes to the viewers.

        Raises:
            LimitReached: it is more than a reply may hold; what fits was let out.
        """
        self._written += len(delta.encode(errors="replace"))
        self._let_out("".join(self.gate.feed(delta)))
        if self._written > self._most_bytes + MOST_HELD:
            raise self._too_long()

    async def drop_step(self) -> None:
        """Forget what this response said: it is asked for again."""
        self.text = self.text[: self._step_start]
        self._written = len(self.text.encode())
        self.gate.drop()
        self._soon()

    def end_call(self, calls: Sequence[CallRecord]) -> None:
        """A call ended: what can be said of it at once goes to the viewers.

        Raises:
            LimitReached: as for :meth:`feed`.
        """
        match self.gate:
            case TemplateStream():
                self._let_out("".join(self.gate.respond(calls)))
            case CheckedStream():
                self.gate.remember(calls=calls)

    def end_step(self, calls: Sequence[CallRecord], *, is_last: bool) -> None:
        """The response is complete, and so are its calls: let out the rest, held to what they came to.

        Args:
            is_last: the turn ends or pauses with it, so what it did and nobody told of is told now.

        Raises:
            LimitReached: as for :meth:`feed`.
        """
        rest = self.gate.respond(calls)
        self._let_out("".join([*rest, *(self.gate.close() if is_last else [])]))

    def break_off(self, calls: Sequence[CallRecord]) -> None:
        """The turn breaks off: let out what was whole of the response, held to what its calls came to."""
        with suppress(LimitReached):
            self._let_out("".join(self.gate.break_off(calls)))

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
            text = BETWEEN + text.removeprefix(BETWEEN)
        room = self._most_bytes - len(self.text.encode())
        fits = text.encode()[: max(0, room)].decode(errors="ignore")
        if fits:
            self.text += fits
            self._soon()
        if fits != text:
            raise self._too_long()

    def _too_long(self) -> LimitReached:
        return LimitReached(f"The reply reached its limit of {self._most_bytes:,} bytes.")

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
