"""Each span of a reply held to the record: what is untrue in it, and which calls it tells of (REPLIES 2 to 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.replies.adjectives import ADJECTIVE_HEADS
from agents.replies.blocks import Block
from agents.replies.figures import Derived
from agents.replies.holding import Holding, says_all_done
from agents.replies.judgements import Fault, Judgement, Tied
from agents.replies.known import Known
from agents.replies.language import language_of
from agents.replies.reader import readings_of
from agents.replies.scopes import between, identifiers_of, listed, scope_of
from agents.replies.spans import Span
from agents.replies.ties import ties
from agents.replies.tokens import Tokens, tokens_of
from agents.replies.words import Words

MOST_TIED = 500
"""Spans of one reply that may speak of actions."""

MOST_VERBS = 24
"""Verbs of one span that may mean actions; one with more is not read, and replaced."""

_WORD = re.compile(r"[a-z]+")
_QUOTED = re.compile(r"\"[^\"\n]{0,400}\"")
_SPEAKERS = r"you|they|he|she|customer|user|seller|manager|message|email|review|note|comment"
_ATTRIBUTES = re.compile(rf"\b(?:{_SPEAKERS})\b[^.!?\"]{{0,60}}$")
_PERSONS_VOICE = re.compile(r"\b(?:my|mine|me)\b")
_LONGEST_ATTRIBUTION = 100


class TooMuch(Exception):
    """A reply speaks of more actions than are read."""


class Judge:
    """Reads the spans of one reply, in order.

    Args:
        derived: how amounts may be made of evidenced ones.
    """

    def __init__(self, known: Known, derived: Derived = "arithmetic") -> None:
        self._known = known
        self._holding = Holding(known)
        self._block = Block(known, derived)

    def judge(self, spans: Sequence[Span]) -> list[Judgement]:
        """Return what is found in each span of a reply.

        Raises:
            TooMuch: more of it speaks of actions than a reply has reason to.
        """
        found: list[Judgement] = []
        tied = 0
        for place, span in enumerate(spans):
            found.append(self._judged(span, spans, place))
            tied += found[-1].is_tied
            if tied > MOST_TIED:
                raise TooMuch
        return found

    def _judged(self, span: Span, spans: Sequence[Span], place: int) -> Judgement:
        found = Judgement()
        if span.kind == "blank":
            return found
        if span.kind == "code":
            self._block.hold_code(found, span)
            return found
        text = _without_quotations(span.folded.text)
        speaks = may_speak(text, self._known.words)
        is_all_done = says_all_done(text)
        self._block.enter(span, is_free=not speaks and not is_all_done)
        if span.kind == "quote" and _PERSONS_VOICE.search(text):
            return found
        found.language = language_of(text)
        if found.language not in {"", "en"}:
            found.is_tied = bool(self._known.writes)
            return found
        tokens = tokens_of(text) if speaks else None
        if tokens and sum(word in self._known.words.verbs for word in tokens.words) > MOST_VERBS:
            return self._unread(found, tokens)
        tied = list(self._tied(tokens, span)) if tokens else []
        if is_all_done and "changes" in text:
            # "Both changes are made" names no tool.
            tied = [one for one in tied if not all(use.light or use.vague for use in one.reading.uses)]
        if tokens and tied:
            below = listed(spans, place) if span.leads else ()
            for one in tied:
                self._holding.hold(found, one, tokens, below)
        if is_all_done:
            self._holding.hold_generic(found, text)
        self._block.hold_item(found, span, tied)
        self._block.hold_values(found, span, tied)
        self._block.remember(found, span, tied)
        return found

    def _unread(self, found: Judgement, tokens: Tokens) -> Judgement:
        """Give up a span with more verbs than are read: it may say anything."""
        uses = [use for word in tokens.words for use in self._known.words.uses.get(word, ()) if use.tools]
        found.is_tied = True
        if self._known.writes:
            found.faults = [Fault("unread", call.name, call) for call in self._known.writes]
        elif uses:
            found.faults = [Fault("unread", uses[0].tools[0][0], None)]
        return found

    def _tied(self, tokens: Tokens, span: Span) -> Iterator[Tied]:
        readings = readings_of(tokens, self._known.words, asks=span.folded.text.rstrip(" \"')").endswith("?"))
        values = span.values
        for place, reading in enumerate(readings):
            low, high = (0, len(tokens.words)) if span.kind == "row" else scope_of(tokens, readings, place)
            for meant in ties(tokens, reading, (low, high), self._known):
                identifiers = identifiers_of(tokens, values, (low, high), reading, alone=len(readings) == 1)
                yield Tied(reading, meant, identifiers, between(values, tokens, low, high))


def is_free(span: Span, known: Known) -> bool:
    """Say whether nothing a span says can be untrue of a call, whatever the turn still does: it may be shown."""
    if span.kind == "blank":
        return True
    text = _without_quotations(span.folded.text)
    is_read = language_of(text) in {"", "en"}
    return is_read and not may_speak(text, known.words) and not says_all_done(text)


def may_speak(text: str, known: Words) -> bool:
    """Say whether a text holds all the words of anything that an action is told with."""
    have = frozenset(_WORD.findall(text.replace("e-mail", "email")))
    return any(have.issuperset(use.rest) for word in have if word in known.uses for use in known.uses[word]) or any(
        have.issuperset(phrase) for word in have if word in ADJECTIVE_HEADS for phrase in ADJECTIVE_HEADS[word]
    )


def _without_quotations(text: str) -> str:
    """Return a text in which quotations of someone else are blank."""
    if '"' not in text:
        return text

    def blank(found: re.Match[str]) -> str:
        before = text[max(0, found.start() - _LONGEST_ATTRIBUTION) : found.start()]
        return " " * len(found[0]) if _ATTRIBUTES.search(before) else found[0]

    return _QUOTED.sub(blank, text)
