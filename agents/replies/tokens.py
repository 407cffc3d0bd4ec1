"""The words of a folded span and the clauses they stand in (REPLIES 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.replies.lexicon import words

_TOKEN = re.compile(
    r"[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,64}[a-z0-9]|https?://\S+|(?:re|un)-(?=[a-z])"
    r"|(?<![\w-])#?(?=[a-z_-]{0,40}\d)[a-z0-9]{1,40}(?:[_-][a-z0-9]{1,40}){0,9}(?![\w.,]*\d)|[a-z]+(?:-[a-z]+)*|'(?:s|re|ve|ll|d|m|t)\b|\d[\w.,:/-]*(?<![.,:])|\w+|[^\w\s]"
)
_MONTH_OF_MAY = re.compile(r"(?:(?<=\d )|(?<=\dst )|(?<=\dnd )|(?<=\drd )|(?<=\dth )|(?<= of ))may\b|\bmay(?= \d)")
_ASKED = r"requested|asked|wished|instructed|wanted|discussed|agreed|promised|mentioned"
_AS_ASKED = re.compile(rf"\b(?:just )?as (?:you )?(?:had )?(?:{_ASKED})\b")
_SHORT = {"'ve": "have", "'re": "are", "'ll": "will", "'d": "would", "'m": "am"}
_BARE = {
    "dont": "do", "cant": "can", "wont": "will", "didnt": "did", "couldnt": "could", "hasnt": "has", "havent": "have",
    "isnt": "is", "wasnt": "was", "werent": "were", "doesnt": "does", "wouldnt": "would",
}  # fmt: skip
_NEGATED = {"won": "will", "shan": "shall", "can": "can", "ain": "is"}
_EDGES = frozenset(';:!?.—–()[]"|✅✓✔❌✗☑🎉→-•·…')
_SUBJECTS = frozenset({"i", "we", "you", "it", "they", "he", "she", "there", "please", "let"})
_LINKS = frozenset({"and", "but", "so", "or", "then", "yet", "however", "nor"})
_SUBORDINATE = frozenset({
    "if", "unless", "once", "until", "till", "before", "after", "when", "whenever", "because", "although", "though",
    "while", "whether", "which", "that", "who", "whereas", "where", "provided", "assuming", "since", "as",
})  # fmt: skip
_EARLIER = frozenset({"after", "before", "once", "when", "since", "as", "upon", "while", "if"})
_OPENERS = words("moods", "openers")
_LONGEST_ASIDE = 8
_FINITE = _SUBJECTS | words("moods", "haves") | words("moods", "bes") | words("moods", "modals_future")


@dataclass(frozen=True, slots=True)
class Clause:
    """Words from ``start`` up to ``end``, and the word that joins them to the rest ("" for none)."""

    start: int
    end: int
    opener: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """A span's words in small letters with where each begins and ends in the folded text."""

    words: list[str]
    starts: list[int]
    ends: list[int]
    clauses: list[Clause]

    def clause_at(self, index: int) -> Clause:
        """Return the clause a word stands in."""
        return next(clause for clause in self.clauses if clause.start <= index < clause.end)


def tokens_of(text: str) -> Tokens:
    """Return the words of a folded text, contractions in full, and its clauses."""
    found: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    text = _MONTH_OF_MAY.sub("mai", text) if "may" in text else text
    text = _AS_ASKED.sub(lambda asked: " " * len(asked[0]), text) if "as " in text else text
    for match in _TOKEN.finditer(text):
        for word in _in_full(match[0], found):
            found.append(word)
            starts.append(match.start())
            ends.append(match.end())
    return Tokens(found, starts, ends, _clauses(found))


def _in_full(written: str, before: list[str]) -> tuple[str, ...]:
    if written == "'t":
        if before:
            last = before[-1]
            before[-1] = _NEGATED.get(last) or (last.removesuffix("n"))
        return ("not",)
    if written == "'s" and before and before[-1] == "let":
        return ("us",)
    if written == "cannot":
        return ("can", "not")
    if written in {"ive", "weve"}:
        return (written[:-2], "have")
    if written in _BARE:
        return (_BARE[written], "not")
    if written in {"re-", "un-"}:
        return ()
    if written.startswith("e-mail"):
        return (f"e{written[2:]}",)
    return (_SHORT.get(written, written),)


def _clauses(found: list[str]) -> list[Clause]:
    clauses: list[Clause] = []
    start, opener = 0, ""
    asks = found[-1:] == ["?"]
    inside = _no_edges(found)
    for place, word in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else ""
        is_edge = (word in _EDGES and place not in inside) or (
            word == "," and _comma_ends(found, place, opener, asks=asks)
        )
        joins = _joins(word, after, found[place - 1] if place else "")
        if (
            word in {"i", "we"}
            and opener in _EARLIER
            and place > start + 1
            and found[place - 1] not in _LINKS | {"that"}
        ):
            # "After checking it I refunded it": what follows depends on nothing.
            clauses.append(Clause(start, place, opener))
            start, opener = place, ""
            continue
        if not (is_edge or joins):
            continue
        if place > start:
            clauses.append(Clause(start, place, opener))
        start, opener = (place, word) if joins else (place + 1, "")
    if start < len(found):
        clauses.append(Clause(start, len(found), opener))
    return clauses or [Clause(0, len(found), "")]


def _no_edges(found: list[str]) -> set[int]:
    """Return where marks part nothing: "9–11 May", "order (#W2378156), and"."""
    inside: set[int] = set()
    if not ("(" in found or "–" in found or "-" in found or "—" in found):
        return inside
    opened = -1
    for place, word in enumerate(found):
        if word in {"–", "-", "—"} and 0 < place < len(found) - 1:
            if found[place - 1][-1:].isdigit() and found[place + 1][:1].isdigit():
                inside.add(place)
        elif word == "(":
            opened = place
        elif word == ")" and opened >= 0:
            between = found[opened + 1 : place]
            if len(between) <= _LONGEST_ASIDE and _has_digit(between) and not _FINITE & set(between):
                inside |= set(range(opened, place + 1))
            opened = -1
    return inside


def _has_digit(found: list[str]) -> bool:
    return any(character.isdigit() for word in found for character in word)


def _comma_ends(found: list[str], place: int, opener: str, *, asks: bool) -> bool:
    after = found[place + 1] if place + 1 < len(found) else ""
    return after in _SUBJECTS or opener in _SUBORDINATE or (asks and after in _OPENERS)


def _joins(word: str, after: str, before: str) -> bool:
    if word in _LINKS:
        return after in _SUBJECTS or (word in {"but", "however", "so"} and before == ",")
    if word in {"that", "since", "as"}:
        return (word == "that" and after not in {"was", "is", "has", "'s", ""} and before not in {"", ","}) or (
            word != "that" and after in _SUBJECTS | {"the", "your", "this", "no"}
        )
    return word in _SUBORDINATE
