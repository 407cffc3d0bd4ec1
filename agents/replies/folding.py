"""A reply's text as it is read: a shadow copy in plain characters that knows where each one stood (REPLIES 1)."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_PLAIN = str.maketrans({
    "‘": "'", "’": "'", "‛": "'", "ʼ": "'", "′": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "−": "-", "‒": "-", "\u00a0": " ", "\u202f": " ", "\u2007": " ", "\u2009": " ", "\u2002": " ",
    "\u2003": " ", "\u3000": " ", "，": ",", "。": ".", "！": "!", "？": "?", "\t": " ", "\r": " ", "\n": " ",
    # Letters of other scripts that look like ours.
    "а": "a", "е": "e", "о": "o", "р": "p", "с": "c", "у": "y", "х": "x", "і": "i", "ѕ": "s", "ԁ": "d", "һ": "h",
    "ո": "n", "ɡ": "g", "ο": "o", "ν": "v", "ι": "i", "α": "a", "ε": "e",
})  # fmt: skip
_MARKED = re.compile(r"[*~`\\<&_]|\]\(")
_BLANKS = str.maketrans("\t\r\n", "   ")
_MARKUP = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,500}(?:\s[^()\n]{0,200})?\)")
_HIDDEN = re.compile(r"\*+|~~|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|\\(?=[!-/:-@\[-`{-~])|</?[a-zA-Z][^<>\n]{0,200}>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")


@dataclass(frozen=True, slots=True)
class Folded:
    """Text in small plain letters.

    Attributes:
        text: what is read.
        cased: the same with its capitals.
        starts: for each character, and the end, where it stood in the original; None where nothing moved.
    """

    text: str
    cased: str
    starts: Sequence[int] | None = None

    def at(self, index: int) -> int:
        """Return where the character at ``index`` stood in the original."""
        return index if self.starts is None else self.starts[index]


def fold(original: str) -> Folded:
    """Return the shadow copy of a text: markup, invisible and decorated characters read as a person reads them."""
    if original.isascii() and not _MARKED.search(original):
        cased = original.translate(_BLANKS)
        return Folded(cased.lower(), cased)
    characters: list[str] = []
    starts: list[int] = []
    for start, end, shown in _shown(original):
        if shown is None and original[start:end].isascii():
            characters += original[start:end].translate(_BLANKS).replace("`", "'")
            starts += range(start, end)
            continue
        for place, character in enumerate(original[start:end] if shown is None else shown):
            plain = _plain(character)
            characters.append(plain)
            starts += [start + place if shown is None else start] * len(plain)
    starts.append(len(original))
    cased = "".join(characters)
    text = cased.lower()
    return Folded(text if len(text) == len(cased) else _lower(cased), cased, starts)


def _shown(original: str) -> list[tuple[int, int, str | None]]:
    """Return the stretches of a text that are shown, each with what is shown in its place where that differs."""
    cuts: list[tuple[int, int, str | None]] = []
    for link in _MARKUP.finditer(original):
        cuts += [(link.start(), link.start(1), ""), (link.end(1), link.end(), " ")]
    cuts += [(found.start(), found.end(), "") for found in _HIDDEN.finditer(original)]
    cuts += [(found.start(), found.end(), html.unescape(found[0])) for found in _ENTITY.finditer(original)]
    cuts.sort(key=lambda cut: cut[:2])
    pieces: list[tuple[int, int, str | None]] = []
    end = 0
    for start, stop, shown in cuts:
        if start < end:
            continue
        pieces += [(end, start, None), (start, stop, shown)]
        end = stop
    return [*pieces, (end, len(original), None)]


def _plain(character: str) -> str:
    if character.isascii():
        return " " if character in "\t\r\n" else "'" if character == "`" else character
    if (known := character.translate(_PLAIN)) != character:
        return known
    if unicodedata.category(character) in {"Cf", "Mn", "Me", "Cc"}:
        return ""
    return unicodedata.normalize("NFKC", character).translate(_PLAIN)


def _lower(cased: str) -> str:
    return "".join(character.lower() if len(character.lower()) == 1 else character for character in cased)
