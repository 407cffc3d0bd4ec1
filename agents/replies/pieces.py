"""The pieces a reply is checked in, cut while the model writes it (DESIGN 9 and 10).

Whole sentences, list items and lines of code. Where one ends does not depend on how the text arrives, and together they
are what was fed.
"""

from __future__ import annotations

import re
from itertools import chain

LONGEST_SENTENCE = 2_000
"""After how many characters a sentence leaves at its next space."""

LONGEST_WORD = 2 * LONGEST_SENTENCE
"""After how many characters held-back text leaves wherever it stands."""

_CLOSERS = "\"'”’»›)]}*_`~」』）"
_OPENERS = "\"'“‘«‹([{*_`~「『（"
_WIDE = "。！？"
_MOST_CLOSERS = 8
_WIDE_END = rf"[{_WIDE}][{_WIDE}{re.escape(_CLOSERS)}]{{0,{_MOST_CLOSERS}}}+(?=.)"
_PLACE = re.compile(rf"\s|{_WIDE_END}", re.DOTALL)
# No sentence ends at a space behind a letter or a digit.
_END = re.compile(rf"(?<![^\W_]) |[^\S ]|{_WIDE_END}", re.DOTALL)
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_HELD_WORD = re.compile(r"\d{1,3}|[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]")
_ABBREVIATIONS = re.compile(
    r"al|approx|apt|ave|blvd|ca|capt|cf|co|col|corp|dept|dr|ed|eds|eg|etc|fig|figs|gen|gov|hon|ie|inc|jr|lt|ltd"
    r"|messrs|mr|mrs|ms|mt|no|nos|op|pp|prof|rd|ref|rep|rev|sen|sgt|sr|sra|srta|st|tel|univ|vol|vols|vs|jan|feb"
    r"|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec",
    re.IGNORECASE,
)


class Pieces:
    """Holds back the piece of a reply that is still being written, and lets go of the rest.

    A piece ends with a newline, or with the space behind the end of a sentence; in a code fence with a newline only.
    Where the pieces end does not depend on how the text arrives.
    """

    def __init__(self) -> None:
        self._held = ""
        self._looked_at = 0
        self._fence = ""
        self._at_line_start = True

    def feed(self, delta: str) -> list[str]:
        """Take the next characters of the reply and return the pieces that are whole by now, in order."""
        text = self._held + delta
        start = 0
        found: list[str] = []
        while end := self._end_of_piece(text, start):
            self._pass(text[start:end])
            found.append(text[start:end])
            start = self._looked_at = end
        self._held = text[start:]
        self._looked_at -= start
        return found

    def finish(self) -> str:
        """Return what was still held back, and be ready for another reply."""
        rest = self._held
        self.reset()
        return rest

    def reset(self) -> None:
        """Forget what was held back: the reply it belonged to is not going on."""
        self._held = ""
        self._looked_at = 0
        self._fence = ""
        self._at_line_start = True

    def _end_of_piece(self, text: str, start: int) -> int | None:
        longest = start + LONGEST_WORD
        long = start + LONGEST_SENTENCE
        for place in chain(
            _END.finditer(text, self._looked_at, long), _PLACE.finditer(text, max(self._looked_at, long), longest + 1)
        ):
            if place.end() <= longest and self._may_end(text[start : place.start()], place[0]):
                return place.end()
            self._looked_at = place.end()
        if len(text) > longest:
            return longest
        # A closing quote may still follow, and belongs to the sentence.
        self._looked_at = max(self._looked_at, len(text) - _MOST_CLOSERS - 1)
        return None

    def _may_end(self, before: str, end: str) -> bool:
        if end == "\n" or len(before) >= LONGEST_SENTENCE:
            return True
        if self._fence or (self._at_line_start and _FENCE.match(before)):
            return False
        return not end.isspace() or _ends_sentence(before)

    def _pass(self, piece: str) -> None:
        if self._at_line_start and (fence := _FENCE.match(piece)):
            self._fence = _fence_after(self._fence, fence[1], fence[2])
        self._at_line_start = piece.endswith("\n")


def _fence_after(open_fence: str, marks: str, rest: str) -> str:
    """Return the fence that is open after a line that starts with ``marks`` and goes on with ``rest``."""
    if open_fence:
        closes = marks.startswith(open_fence) and not rest.strip()
        return "" if closes else open_fence
    is_inline = marks[0] == "`" and "`" in rest
    return "" if is_inline else marks


def _ends_sentence(text: str) -> bool:
    """Say whether the last word ends a sentence; in doubt (initials, abbreviations, list numbers) it does not."""
    word = text[-LONGEST_SENTENCE:].rsplit(maxsplit=1)[-1:]
    core = word[0].strip(_CLOSERS + _OPENERS) if word else ""
    if not core.endswith("."):
        return core.endswith(("!", "?", "…"))
    stem = core[:-1].lstrip(_OPENERS)
    return not (_HELD_WORD.fullmatch(stem) or _ABBREVIATIONS.fullmatch(stem))
