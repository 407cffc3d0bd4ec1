"""The gate that a reply leaves through while the model writes it (DESIGN 9: only checked text is streamed; DESIGN 10).

Pure. What was let out is what is posted, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.replies.check import additions, mend, read, require, rule
from agents.replies.judging import is_free
from agents.replies.known import Known
from agents.replies.mending import Ruling, Setting
from agents.replies.pieces import Pieces
from agents.replies.record import CallRecord, Record
from agents.replies.spans import Tiler, spans_of

BETWEEN = "\n\n"
"""What stands between the texts of two responses of one turn."""


class CheckedStream:
    """Holds each span of a turn's text until it is known to be true (REPLIES, Streaming).

    A span that speaks of no action leaves when it is whole. From the first that does, everything waits until its model
    response ends and, if that makes calls, until their outcomes are known.

    Args:
        setting: what the replies are checked with.
        earlier: the thread's calls before this turn.
        calls: those the turn made before this stream began.
        shown: what the turn said before.
    """

    def __init__(
        self, setting: Setting, earlier: Sequence[CallRecord] = (), calls: Sequence[CallRecord] = (), shown: str = ""
    ) -> None:
        self._setting, self._earlier, self._calls = setting, tuple(earlier), tuple(calls)
        self._shown = shown
        self.rulings: list[Ruling] = []
        self.drop()

    @property
    def holds(self) -> bool:
        """True when something of this response waits for what its calls come to: the record is needed."""
        known = self._known()
        return self._holds or not all(is_free(span, known) for span in spans_of(self._written[self._out :]))

    def remember(self, *, earlier: Sequence[CallRecord] = (), calls: Sequence[CallRecord] = ()) -> None:
        """Take note of the thread's calls before this turn, and of those the turn made before this stream began."""
        self._earlier, self._calls = (*self._earlier, *earlier), (*self._calls, *calls)

    def feed(self, delta: str) -> list[str]:
        """Take the next characters of a response and return the text that may be shown by now."""
        self._written += delta
        pieces = self._pieces.feed(delta)
        return self._let_out(pieces) if pieces else []

    def drop(self) -> None:
        """Forget what was held back of this response: it is asked for again."""
        self._pieces, self._tiler = Pieces(), Tiler()
        self._written, self._out, self._holds = "", 0, False

    def respond(self, calls: Sequence[CallRecord] = ()) -> list[str]:
        """End a response with the calls it made, whose outcomes are known, and return the rest of its text, checked."""
        self._calls = (*self._calls, *calls)
        known = self._known()
        mended = mend(read(self._written, known, self._setting), known, self._setting)
        self.rulings += mended.rulings
        ruled = rule(mended.reading.text, self._setting)
        self.rulings += ruled.rulings
        rest = ruled.text[self._out :]
        self._shown += (BETWEEN if self._shown and ruled.text else "") + ruled.text
        self.drop()
        return [rest] if rest else []

    def break_off(self, calls: Sequence[CallRecord] = ()) -> list[str]:
        """End a response that did not come to its end, and return what was whole of the rest of its text, checked."""
        self._written = self._written.removesuffix(self._pieces.finish())
        return self.respond(calls)

    def close(self) -> list[str]:
        """End the turn and return what is still to show: the rest of the last response, and what was left out."""
        rest = self.respond()
        known = self._known()
        added = additions(read(self._shown, known, self._setting), known, self._setting)
        self.rulings += added.rulings
        required = require(self._shown + added.text, self._setting)
        self.rulings += required.rulings
        more = added.text + required.text
        self._shown += more
        return [*rest, more] if more else rest

    @property
    def text(self) -> str:
        """What the responses that ended said, as it was shown."""
        return self._shown

    def _let_out(self, pieces: Sequence[str]) -> list[str]:
        known, rules = self._known(), self._setting.rules
        found: list[str] = []
        for piece in pieces:
            for span in self._tiler.tile(piece):
                self._holds = self._holds or not (is_free(span, known) and rules.allows(span.text))
                if not self._holds:
                    found.append(span.text)
                    self._out += len(span.text)
        return found

    def _known(self) -> Known:
        return Known(Record(self._calls, self._earlier), self._setting.words)
