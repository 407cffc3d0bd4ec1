"""Whether as many things were acted on as a clause says: "both bookings", "all your pending orders" (REPLIES 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.replies.acts import Reading
from agents.replies.inflect import singular
from agents.replies.known import Known
from agents.replies.lexicon import alike, moods, words
from agents.replies.record import CallRecord
from agents.replies.tokens import Tokens

_EVERY = frozenset({"all", "every", "each"})
_DETERMINERS = words("moods", "determiners") | words("moods", "things")


def leaves_some(known: Known, tokens: Tokens, reading: Reading, calls: Sequence[CallRecord]) -> bool:
    """Say whether a clause says more was done than calls of one thing each did.

    Args:
        calls: those the clause speaks of.
    """
    if reading.act != "done" or reading.is_stative or any(call.outcome != "done" for call in calls):
        return False
    keys = {key for call in calls for key in _single_ids(call)}
    clause = tokens.words[reading.clause.start : reading.clause.end]
    named = [key for key in keys if _is_many(clause, key)]
    if not named:
        return False
    acted_on = {str(call.args[key]).lower() for key in named for call in _writes(known, calls) if key in call.args}
    return len(acted_on) < 2 or any(_unread_of(known, clause, key, acted_on) for key in named)


def _single_ids(call: CallRecord) -> Iterator[str]:
    for key, value in call.args.items():
        if key.endswith("_id") and isinstance(value, (str, int)):
            yield key


def _writes(known: Known, calls: Sequence[CallRecord]) -> list[CallRecord]:
    tools = {call.name for call in calls}
    return [call for call in (*known.writes, *known.earlier_writes) if call.name in tools]


def _is_many(clause: Sequence[str], key: str) -> bool:
    """Say whether a clause holds the plural of what an identifier is of: "the reservations" of ``reservation_id``."""
    return _plural_at(clause, key) >= 0


def _plural_at(clause: Sequence[str], key: str) -> int:
    noun = key.removesuffix("_id").rpartition("_")[2]
    places = (place for place, word in enumerate(clause) if word != singular(word) and singular(word) in alike(noun))
    return next(places, -1)


def _unread_of(known: Known, clause: Sequence[str], key: str, acted_on: set[str]) -> bool:
    """Say whether "all your business reservations" leaves out one that a read returned as of business."""
    start = next((place for place, word in enumerate(clause) if word in _EVERY), len(clause))
    told = {word for word in clause[start : _plural_at(clause, key)] if len(word) > 3}
    told -= _DETERMINERS | moods()["adverbs"] | set(known.words.nouns)
    return any(
        told & call.evidence.states
        for call in known.reads
        if list(call.args) == [key] and str(call.args[key]).lower() not in acted_on
    )
