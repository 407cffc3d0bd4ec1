"""The part of a text that a search shows, with what was found marked in it. Pure.

A snippet is plain text in parts; whoever shows it escapes each and marks those that hit, so no text becomes markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collab.searches.words import FOLDED, Question, runs_of, words_of

BEFORE = 60
LENGTH = 220
"""Characters of a snippet, and how many of them stand before the first hit."""

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a snippet: its text, and whether it is what was asked for."""

    text: str
    hit: bool = False


def marked(text: str, question: Question) -> tuple[Part, ...]:
    """Return a whole text, a title, in parts."""
    return tuple(_parts(text, question))


def snippet(text: str, question: Question) -> tuple[Part, ...]:
    """Return the part of a text around its first hit, on one line, in parts; its beginning where nothing hits."""
    first = next((run.start() for run in runs_of(text[:FOLDED]) if _hits(run[0], question)), 0)
    start = _start(text, first)
    end = _end(text, start)
    line = _SPACE.sub(" ", text[start:end]).strip()
    before, after = "… " if text[:start].strip() else "", " …" if text[end:].strip() else ""
    return tuple(_parts(f"{before}{line}{after}", question))


def _start(text: str, first: int) -> int:
    """Return where a snippet begins: at a word, and not far before the first hit."""
    if first <= BEFORE:
        return 0
    space = _SPACE.search(text, first - BEFORE, first)
    return space.end() if space else first - BEFORE


def _end(text: str, start: int) -> int:
    if start + LENGTH >= len(text):
        return len(text)
    spaces = list(_SPACE.finditer(text, start + LENGTH - BEFORE, start + LENGTH))
    return spaces[-1].start() if spaces else start + LENGTH


def _parts(text: str, question: Question) -> Iterator[Part]:
    shown = 0
    for run in runs_of(text):
        if not _hits(run[0], question):
            continue
        if run.start() > shown:
            yield Part(text[shown : run.start()])
        yield Part(run[0], hit=True)
        shown = run.end()
    if shown < len(text):
        yield Part(text[shown:])


def _hits(run: str, question: Question) -> bool:
    return any(question.hits(word) for word in words_of(run))
