"""Which language a span is in, by its small words (REPLIES 3)."""

from __future__ import annotations

import re
from functools import cache

from agents.replies.lexicon import table, words

_OTHER_SCRIPTS = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]+")
_TELLING = words("languages", "telling")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@cache
def _by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for language, names in table("languages").items():
        if language == "telling":
            continue
        for word in names:
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


def language_of(text: str) -> str:
    """Return a folded text's language: ``en``, another's code, ``und`` for a script nobody reads, "" when unsure."""
    names = _WORD.findall(text)
    if not text.isascii() and _is_foreign(text):
        return "und"
    votes: dict[str, int] = {}
    known = _by_word()
    for word in names:
        for language in known.get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    if not votes:
        return ""
    best = max(votes.values())
    leaders = [language for language in votes if votes[language] == best]
    if "en" in leaders:
        return "en"
    if best >= 2:
        return leaders[0] if len({word for word in names if leaders[0] in _by_word().get(word, ())}) >= 2 else ""
    # One word may be a name or a courtesy; a whole short span may be one word that tells.
    return leaders[0] if len(names) <= 2 and any(word in _TELLING for word in names) else ""


def _is_foreign(text: str) -> bool:
    foreign = sum(map(len, _OTHER_SCRIPTS.findall(text)))
    return foreign * 2 > sum(map(len, _WORD.findall(text)))
