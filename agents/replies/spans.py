"""A reply tiled into spans that lose nothing (REPLIES 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sentencex import segment

from agents.replies.folding import Folded, fold
from agents.replies.pieces import Pieces
from agents.replies.values import Value, values_in

SpanKind = Literal["sentence", "item", "heading", "row", "code", "quote", "blank"]

_MARKER = re.compile(r"[ \t]*(?:[-*+•◦▪–]|\d{1,3}[.)]|[a-z][.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_QUOTE = re.compile(r"[ \t]{0,3}>")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_INNER_END = re.compile(r"[.!?][\"')\]*_]*\s+\S")


@dataclass(frozen=True)
class Span:
    """A piece of a reply.

    Attributes:
        line: the number of its line: the sentences of one list item share it.
        marker: how many of its first characters mark a list item, a heading or a quotation.
        depth: of a list item, how far its line is set in.
    """

    kind: SpanKind
    start: int
    text: str
    line: int
    marker: int = 0
    depth: int = 0

    @property
    def end(self) -> int:
        """Where it ends in the reply."""
        return self.start + len(self.text)

    @cached_property
    def folded(self) -> Folded:
        """Its text behind the marker, as it is read."""
        return fold(self.text[self.marker :])

    @cached_property
    def values(self) -> list[Value]:
        """The values it states."""
        return values_in(self.folded.text, self.folded.cased)

    @cached_property
    def leads(self) -> bool:
        """It ends with a colon: what follows belongs to it."""
        return self.folded.text.rstrip().endswith(":")


class Tiler:
    """Makes spans of the pieces of a reply, in order."""

    def __init__(self) -> None:
        self._at = 0
        self._line = 0
        self._fence = ""
        self._kind: SpanKind = "sentence"
        self._starts_line = True
        self._depth = 0

    def tile(self, piece: str) -> Iterator[Span]:
        """Return the spans of the next piece."""
        kind, marker = self._kind, 0
        if self._starts_line:
            kind, marker = self._of_line(piece)
            self._kind = kind
        for part in _sentences(piece) if kind in {"sentence", "item", "quote"} else (piece,):
            yield Span(
                kind if part.strip() else "blank", self._at, part, self._line, min(marker, len(part)), self._depth
            )
            self._at += len(part)
            marker = 0
        self._starts_line = piece.endswith("\n")
        self._line += self._starts_line

    def _is_code(self, line: str) -> bool:
        fence, was_open = _FENCE.match(line), bool(self._fence)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip():
            self._fence = ""
        return was_open or bool(fence)

    def _of_line(self, piece: str) -> tuple[SpanKind, int]:
        if self._is_code(piece):
            return "code", 0
        if not piece.strip():
            return "blank", 0
        self._depth = len(piece) - len(piece.lstrip(" \t"))
        if found := _MARKER.match(piece):
            return "item", found.end()
        if found := _HEADING.match(piece):
            return "heading", found.end()
        if _ROW.match(piece.rstrip("\n")):
            return "row", 0
        if found := _QUOTE.match(piece):
            return "quote", found.end()
        # A line set in under an item belongs to it.
        if self._depth >= 2 and self._kind == "item":
            return "item", self._depth
        return "sentence", 0


def spans_of(text: str) -> list[Span]:
    """Return the spans of a whole reply: the same as of its pieces while it is written."""
    pieces, tiler = Pieces(), Tiler()
    return [span for piece in (*pieces.feed(text), pieces.finish()) if piece for span in tiler.tile(piece)]


def _sentences(piece: str) -> tuple[str, ...]:
    """Cut a piece further where a sentence surely ended inside it."""
    if not _INNER_END.search(piece):
        return (piece,)
    parts = tuple(segment("en", piece))
    return parts if "".join(parts) == piece and all(parts) else (piece,)
