"""When a sentence that the outcome does not allow is true all the same (REPLIES 6)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.replies.acts import Reading
from agents.replies.inflect import singular
from agents.replies.known import Known
from agents.replies.lexicon import alike, words
from agents.replies.record import CallRecord
from agents.replies.ties import Tie
from agents.replies.tokens import Tokens
from agents.replies.words import name_words, verb_of

_MAKING = frozenset({
    "book", "reserve", "create", "make", "purchase", "buy", "order", "place", "schedule", "open", "register", "file",
    "submit",    "issue", "ship", "deliver", "set up", "arrange", "add", "assign", "send", "pay", "charge",
})  # fmt: skip
_CHANGING = frozenset({"update", "change", "modify", "edit", "add", "create", "make", "set"})
_SEARCHING = frozenset({"search", "browse", "quote", "compare", "available", "availability"})
_NOUN_ENDINGS = ("ation", "ment", "able", "ible", "ility")
_ASKING_FOR, _ANSWERS, _SILENCE = (words("moods", key) for key in ("asking_for", "answers", "silence"))
_FOR = frozenset({"to", "for", "your", "their", "his", "her"})
_WAITS = frozenset(
    {"approval", "approve", "approved", "approves", "confirm", "confirmation", "waiting", "waits", "awaiting"}
)
_OTHER = frozenset(
    {"other", "others", "another", "remaining", "rest", "next", "second", "also", "else", "additional", "further"}
)


def is_known_state(known: Known, tokens: Tokens, reading: Reading, tie: Tie, identifiers: Sequence[str]) -> bool:
    """Say whether a read returned what a sentence says of a thing: that it is cancelled, that it was booked."""
    if reading.first_person:
        return False
    said = {_spelt(tokens.words[reading.at]), *(_spelt(use.lemma) for use in reading.uses)}
    vague = any(use.lemma in _CHANGING for use in reading.uses)
    for call in known.reads:
        if identifiers and not any(call.evidence.has_identifier(id) for id in identifiers):
            continue
        if any(_spelt(state) in said for state in call.evidence.states):
            return True
        if (reading.is_stative or not vague) and any(
            _spelt(key)[:5] in {word[:5] for word in said} and not key.endswith(_NOUN_ENDINGS)
            for key in call.evidence.keys
        ):
            return True
        if _exists(known, call, tokens, reading, tie, identifiers) or _is_seen(known, call, tokens, reading):
            return True
    return False


def _spelt(word: str) -> str:
    return word.replace("ll", "l")


def _is_seen(known: Known, call: CallRecord, tokens: Tokens, reading: Reading) -> bool:
    """Say whether a read returned the thing whose state a sentence tells ("the hall light is turned off")."""
    is_recent = call in known.record.calls or not known.writes
    if not reading.is_stative or not is_recent or any(use.light for use in reading.uses):
        return False
    if any(use.lemma in _MAKING for use in reading.uses) or "is" not in tokens.words[reading.group : reading.at]:
        return False
    subject = set(tokens.words[reading.clause.start : reading.group]) - words("moods", "determiners")
    return any(len(word) > 3 and word in call.evidence.states for word in subject)


def _exists(
    known: Known, call: CallRecord, tokens: Tokens, reading: Reading, tie: Tie, identifiers: Sequence[str]
) -> bool:
    """Say whether a read returned the thing that is said to have been made."""
    spoken_of = words("light", "object_verbs")
    is_made = any(use.lemma in _MAKING for use in reading.uses) or (
        all(use.light for use in reading.uses) and any(verb_of(tool) in spoken_of for tool in tie.tools)
    )
    if not is_made or not (reading.is_stative or identifiers):
        return False
    named = {singular(word) for word in name_words(call.name)}
    if named & _SEARCHING:
        return False
    said = {singular(word) for word in tokens.words[reading.clause.start : reading.clause.end]}
    for tool in tie.tools:
        # "Your return is set up" says no more of the order that was read.
        own = {word for word in said if known.words.nouns.get(word, {}).get(tool, 0) >= 4}
        for word in named:
            is_read = not own or bool(own & alike(word))
            if is_read and known.words.nouns.get(word, {}).get(tool, 0) >= 2:
                return True
    return False


def is_only_asked_for(tokens: Tokens, reading: Reading, known: Known) -> bool:
    """Say whether what is done is only the asking: "I've submitted the request, it's waiting for approval"; "I sent the
    request, but can't say yet whether it arrived"."""
    outcomes = {call.outcome for call in known.writes}
    if "unknown" in outcomes and any(use.lemma in _ASKING_FOR for use in reading.uses):
        is_asked = "request" in tokens.words or all(use.light or use.vague for use in reading.uses)
        said = set(tokens.words)
        is_silent = bool(said & _SILENCE or (said & {"not", "no"} and said & _ANSWERS))
        return is_asked and (is_silent or "whether" in tokens.words[reading.end :])
    if "pending_confirmation" not in outcomes:
        return False
    after = tokens.words[reading.end :]
    is_for_them = any(word in _WAITS and after[max(0, at - 1)] in _FOR for at, word in enumerate(after) if at)
    if is_for_them and any(use.lemma in {*_ASKING_FOR, "ready"} for use in reading.uses):
        return True
    asked = any(use.lemma in _ASKING_FOR for use in reading.uses) and "request" in tokens.words
    return asked and bool(_WAITS & set(tokens.words))


def is_another(
    tokens: Tokens,
    reading: Reading,
    calls: Sequence[CallRecord],
    about: Sequence[CallRecord],
    identifiers: Sequence[str],
) -> bool:
    """Say whether what a sentence denies or promises is something other than what was done."""
    if reading.act not in {"not_done", "promise"}:
        return False
    if identifiers and not about:
        return True
    clause = set(tokens.words[reading.clause.start : reading.clause.end])
    if _OTHER & clause and not about:
        return True
    if not reading.is_ability:
        return False
    # What cannot be done is a rule of the shop's unless it is said of the very thing, or by the one who did it.
    return not about and (not reading.first_person or len(calls) > 1)
