"""What a search compares: the words of a text, and what someone asked for (decision 0015).

Pure. A text and a question go through the same folding, so that a word is found however it is written: case, accents,
vowel points and width do not count. On PostgreSQL a function of the database folds in the same steps, from the same
character classes; a test holds the two against each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from collab.text import speakable

LONGEST_QUESTION = 200
"""Characters of what someone searches for."""

LONGEST_WORD = 64
"""Characters of a word that count; the rest of it does not."""

FOLDED = 160_000
"""Characters of a text that are read. With the limit on words it keeps a text below the 1 MB of a tsvector."""

MOST_WORDS = 16_383
"""Words of a text that are found: the last place PostgreSQL can tell from the next."""

SCOPE = 8
"""Hex digits of a workspace's id in a scope."""

# Classes of a regular expression that Python and PostgreSQL read alike, for text in NFKD.
DROPPED = (
    r"\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    r"\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff"
)
"""Accents, vowel points and what nobody sees."""

SEPARATORS = (
    r"\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02df\u055a-\u055f\u0589"
    r"\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0600-\u060f\u061b-\u061f\u066a-\u066d\u06d4\u0700-\u070f\u0964\u0965"
    r"\u0970\u0df4\u0e3f\u0e4f\u0e5a\u0e5b\u104a-\u104f\u10fb\u1360-\u1368\u1400\u166d\u166e\u1680\u169b\u169c"
    r"\u16eb-\u16ed\u17d4-\u17db\u1800-\u180e\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004"
    r"\u3008-\u3020\u3030\u303d-\u303f\u30a0\u30fb\ua4fe\ua4ff\ua60d-\ua60f\ue000-\uf8ff\ufd3e\ufd3f\ufe10-\ufe6f"
    r"\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffff"
    r"\U0001f000-\U0001faff\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""White space, punctuation, symbols and emoji: what stands between words."""

ALONE = (
    r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts that write no spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese): each is a word of its own."""

LETTERS = {"ς": "σ", "ø": "o", "đ": "d", "ł": "l", "ı": "i"}
PAIRS = {"ß": "ss", "æ": "ae", "œ": "oe"}
"""Letters that carry their mark inside, and so keep it in NFKD."""

# What no text that is stored holds is no word either.
_BETWEEN = rf"\0{SEPARATORS}\ud800-\udfff"
_DROPPED = re.compile(f"[{DROPPED}]+")
_SEPARATORS = re.compile(f"[{_BETWEEN}]+")
_ALONE = re.compile(f"[{ALONE}]")
_RUN = re.compile(f"[{ALONE}]|[^{_BETWEEN}{ALONE}]+")
_LETTERS = str.maketrans(LETTERS | PAIRS)
_CHUNK = re.compile(r'"([^"]*)"?|([^\s"]+)')
_QUOTES = str.maketrans("“”„«»", '"' * 5)

Term = tuple[str, ...]
"""Words that must follow one another."""


@dataclass(frozen=True, slots=True)
class Question:
    """What someone searches for: every term, and of the last word only its beginning if ``open_ended``."""

    terms: tuple[Term, ...]
    open_ended: bool

    def hits(self, word: str) -> bool:
        """Say whether a word of a text is one that was asked for."""
        if any(word in term for term in self.terms):
            return True
        return self.open_ended and word.startswith(self.terms[-1][-1])


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded, in order, at most ``MOST_WORDS``."""
    if text.isascii():
        folded = text[:FOLDED].lower()
    else:
        folded = _DROPPED.sub("", unicodedata.normalize("NFKD", text[:FOLDED]).lower())
        folded = _ALONE.sub(r" \g<0> ", folded.translate(_LETTERS)[:FOLDED])
    found = (word[:LONGEST_WORD] for word in _SEPARATORS.sub(" ", folded).split(" ") if word)
    return [word for word, _ in zip(found, range(MOST_WORDS), strict=False)]


def runs_of(text: str) -> Iterator[re.Match[str]]:
    """Yield where the words of a text stand in it, unfolded."""
    return _RUN.finditer(text)


def asked(text: str) -> Question | None:
    """Return what a text that someone typed asks for, or None when there is no word in it.

    Each word must be there; what is in double quotes must stand together, as must the parts of a word like ``e-mail``.
    The last word need only begin so. No other sign means anything.

    Args:
        text: what was typed; the caller has seen to its length.
    """
    terms: list[Term] = []
    open_ended = False
    for chunk in _CHUNK.finditer(speakable(text).translate(_QUOTES)):
        term = tuple(words_of(chunk[1] if chunk[2] is None else chunk[2]))
        if term:
            terms.append(term)
            open_ended = chunk[2] is not None and (len(term[-1]) > 1 or not term[-1].isascii())
    return Question(tuple(terms), open_ended) if terms else None


@dataclass(frozen=True, slots=True)
class Scope:
    """What every word of a workspace's messages, or documents, or titles of threads begins with, so that a search walks
    no other words.

    Two workspaces may share their digits: a scope makes a search cheaper, the grants decide what is found.
    """

    letter: str
    workspace: UUID | str

    def __str__(self) -> str:
        return f"{self.letter}{str(self.workspace)[-SCOPE:]}"


def stored(letter: str, workspace: str, text: str) -> str:
    """Return the words of a text as SQLite keeps them."""
    scope = str(Scope(letter, workspace))
    return " ".join(scope + word for word in words_of(text))


def for_sqlite(question: Question, scopes: Iterable[Scope]) -> str:
    """Return a question as FTS5 reads it. Each term is quoted, and no word holds a quote."""
    groups = (
        " AND ".join(f'"{" ".join(words)}"{"*" if begins else ""}' for words, begins in terms)
        for terms in _scoped(question, scopes)
    )
    return " OR ".join(f"({group})" for group in groups)


def for_postgres(question: Question, scopes: Iterable[Scope]) -> str:
    """Return a question as the text of a tsquery. Each word is quoted, and no word holds a quote or a backslash."""
    groups = (
        " & ".join(_following(words) + (":*" if begins else "") for words, begins in terms)
        for terms in _scoped(question, scopes)
    )
    return " | ".join(f"({group})" for group in groups)


def _following(words: Term) -> str:
    return " <-> ".join(f"'{word}'" for word in words)


def _scoped(question: Question, scopes: Iterable[Scope]) -> Iterator[list[tuple[Term, bool]]]:
    """Yield, for each scope, its form of every term, and whether its last word need only begin so."""
    last = len(question.terms) - 1
    for scope in map(str, scopes):
        yield [
            (tuple(scope + word for word in term), question.open_ended and place == last)
            for place, term in enumerate(question.terms)
        ]
