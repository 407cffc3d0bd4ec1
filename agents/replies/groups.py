"""The auxiliaries before a verb, and who acts (REPLIES 4)."""

from __future__ import annotations

from dataclasses import dataclass

from agents.replies.lexicon import moods
from agents.replies.tokens import Clause, Tokens

_M = moods()
_MODALS = _M["modals_future"] | _M["modals_open"]
_AUXILIARY = _M["haves"] | _M["bes"] | _MODALS | {"do", "does", "did", "'s", "to"}
_LOOSE = _M["adverbs"] | {"not", "never", "no"}
_GOVERNORS = _M["managed"] | _M["unable"] | _M["about_to"] | _M["tried"]
_LINKS = frozenset({"and", "or", ",", "then", "but", "&"})
_ACTING = frozenset({"put", "sent", "gave", "given", "got", "told", "let", "for", "to", "with"})


@dataclass(frozen=True, slots=True)
class Group:
    """The auxiliaries of a verb.

    Attributes:
        start: the first of its words; the verb itself when there is none.
        words: its auxiliaries, in order.
        modal: the modal among them, or "".
        infinitive: what governs "to" before the verb: "able", "failed", "need"; "" when there is no "to".
        host: where the group of the verb stands with which this one is coordinated; ``start`` when it has its own.
    """

    start: int
    words: tuple[str, ...]
    adverbs: frozenset[str]
    negated: bool
    modal: str
    infinitive: str
    host: int

    @property
    def is_perfect(self) -> bool:
        """It has been done, or was got done."""
        return "been" in self.words and bool(set(self.words) & (_M["haves"] | {"'s"}))

    @property
    def is_past(self) -> bool:
        """Of what governs an infinitive: it happened."""
        return bool(set(self.words) & {"was", "were", "been", "had", "did"}) or self.infinitive in _PAST_GOVERNORS

    @property
    def is_future(self) -> bool:
        """Of what governs an infinitive: it is still to happen."""
        return bool(self.modal)


_PAST_GOVERNORS = frozenset(
    {
        "managed",
        "succeeded",
        "arranged",
        "proceeded",
        "continued",
        "failed",
        "forgot",
        "neglected",
        "refused",
        "declined",
    }
)


def group_before(tokens: Tokens, at: int, clause: Clause, *, is_base: bool = True) -> Group:
    """Return the auxiliaries that stand before a word of a clause, or those of the verb it is coordinated with.

    Args:
        is_base: the word may be an infinitive, which "to" before another verb governs too.
    """
    start = _walk(tokens, at, clause.start)
    host = start
    if not _has_auxiliary(tokens, start, at) and start > clause.start and tokens.words[start - 1] in _LINKS:
        host_end = _host_end(tokens, start - 1, clause.start, is_base=is_base)
        if host_end:
            host = _walk(tokens, host_end, clause.start)
            return _made(tokens, start, host, host_end, clause)
    return _made(tokens, start, start, at, clause)


def _walk(tokens: Tokens, end: int, low: int) -> int:
    start = end
    while start > low:
        word = tokens.words[start - 1]
        governs = word in _GOVERNORS and start < end and tokens.words[start] == "to"
        if not (governs or word in _AUXILIARY or word in _LOOSE or word.endswith("ly")):
            break
        start -= 1
    return start


def _has_auxiliary(tokens: Tokens, start: int, end: int) -> bool:
    return any(word in _AUXILIARY or word == "not" for word in tokens.words[start:end])


def _host_end(tokens: Tokens, before: int, low: int, *, is_base: bool) -> int:
    """Return the end of the nearest auxiliaries to the left: those the coordinated verbs share."""
    for place in range(before - 1, low - 1, -1):
        if tokens.words[place] in _AUXILIARY and (tokens.words[place] != "to" or is_base):
            end = place + 1
            while end < before and (tokens.words[end] in _LOOSE or tokens.words[end].endswith("ly")):
                end += 1
            return end
    return 0


def _made(tokens: Tokens, start: int, host: int, end: int, clause: Clause) -> Group:
    found = tokens.words[host:end]
    auxiliaries = tuple(word for word in found if word in _AUXILIARY)
    infinitive = ""
    if "to" in found:
        place = host + found.index("to")
        infinitive = tokens.words[place - 1] if place > clause.start else "to"
    negated = bool(set(found) & {"not", "never", "no"}) or _denied_subject(tokens, host, clause)
    if "not" in found and "only" in found:
        negated = False
    modal = next((word for word in auxiliaries if word in _MODALS), "")
    return Group(start, auxiliaries, frozenset(found) - set(auxiliaries), negated, modal, infinitive, host)


def _denied_subject(tokens: Tokens, host: int, clause: Clause) -> bool:
    """Say whether the subject denies: "nothing has", "neither order was", "no refund has"."""
    before = tokens.words[clause.start : host]
    for place, word in enumerate(before):
        if word in {"nothing", "none", "neither", "nobody", "nor"}:
            return True
        if word == "no" and place + 1 < len(before) and before[place + 1] not in {",", "problem", "longer", "worries"}:
            return len(before) - place <= 5
    return False


def subject_of(tokens: Tokens, group: Group, clause: Clause) -> str:
    """Return the last word of what acts: a pronoun or the head of a noun phrase; "" when nothing stands there."""
    for place in range(group.host - 1, clause.start - 1, -1):
        word = tokens.words[place]
        if _is_object(tokens, place, clause):
            continue
        if word in _M["pronouns_first"] or word in _M["pronouns_other"]:
            return word
        if place == group.host - 1 and word not in _LINKS and word not in _M["adverbs"]:
            return _head(tokens, place, clause)
    return ""


def _is_object(tokens: Tokens, place: int, clause: Clause) -> bool:
    """Say whether a "you" is acted on: "I signed you up and put you on the list"."""
    before = tokens.words[place - 1] if place > clause.start else ""
    return tokens.words[place] == "you" and (before.endswith("ed") or before in _ACTING)


def _head(tokens: Tokens, place: int, clause: Clause) -> str:
    word = tokens.words[place]
    if place == clause.start and word == clause.opener:
        return ""
    return word


def participle_stands_alone(tokens: Tokens, at: int, clause: Clause, group: Group) -> bool:
    """Say whether a bare participle is all a clause says ("Refunded.", "refund issued"), not part of a noun's name."""
    before = tokens.words[clause.start : group.start]
    before = before[1:] if before and before[0] == clause.opener else before
    after = tokens.words[at + 1] if at + 1 < clause.end else ""
    if any(word in _M["bes"] | _M["haves"] | _MODALS for word in [*before, *tokens.words[at + 1 : clause.end]]):
        return False
    if not before:
        return _stands_first(tokens, at, clause, after)
    if before[-1] in _M["determiners"] or before[-1] in _M["preposition"]:
        return False
    if before[-1].endswith("s") and not set(before) & _M["determiners"] and _M["ruling"] & set(tokens.words[at + 1 :]):
        return False
    is_last = (
        not after or after in _M["preposition"] or after in {",", "and", "successfully", "-"} or after[0].isdigit()
    )
    return is_last and not set(before) & {"please", "see", "check", "find", "here", "any", "if"}


def _stands_first(tokens: Tokens, at: int, clause: Clause, after: str) -> bool:
    if not after or after in _M["determiners"] or after in _M["preposition"] or after in _M["things"] or after == ",":
        return True
    return any(not word.isalpha() and word != "," for word in tokens.words[at + 1 : clause.end]) or after in {
        "successfully",
        "and",
        "you",
    }


def finite_in(tokens: Tokens, start: int, end: int) -> bool:
    """Say whether a finite auxiliary stands in a stretch of words."""
    finite = _M["bes"] | _M["haves"] | _MODALS | {"'s", "does", "do", "did"}
    return any(word in finite for word in tokens.words[start:end])
