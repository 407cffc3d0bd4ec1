"""What a socket was sent and has not acknowledged: the bound on what a slow reader may cost (DESIGN 9). Pure."""

from __future__ import annotations

from collections import deque

PACE_BYTES = 256 * 1024
"""Above this a socket gets no live text, and a socket that catches up waits for its client."""

CLOSE_BYTES = 1024 * 1024
CLOSE_FRAMES = 2_000
"""Above these a socket is closed and told to resume."""


class Unread:
    """The frames a socket was sent and its client has not acknowledged, oldest first."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, int | None, int]] = deque()
        self._sent = 0
        self.bytes = 0

    def sent(self, size: int, seq: int | None = None) -> None:
        """Count a frame of so many bytes; ``seq`` is the event's, where it is one."""
        self._sent += 1
        self._frames.append((self._sent, seq, size))
        self.bytes += size

    def acked(self, seq: int, frames: int = 0) -> None:
        """Forget what a client has read: up to the event with this seq, and its first ``frames`` frames."""
        upto = frames
        for number, event, _ in self._frames:
            if event is not None and event > seq:
                break
            if event is not None:
                upto = max(upto, number)
        while self._frames and self._frames[0][0] <= upto:
            self.bytes -= self._frames.popleft()[2]

    @property
    def paces(self) -> bool:
        """Whether the client has so much before it that anything that can wait should."""
        return self.bytes > PACE_BYTES or len(self._frames) > CLOSE_FRAMES // 2

    @property
    def closes(self) -> bool:
        """Whether the client has so much before it that it must connect again."""
        return self.bytes > CLOSE_BYTES or len(self._frames) > CLOSE_FRAMES
