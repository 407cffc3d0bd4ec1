"""Whether a reply tells of every write its turn made (REPLIES 9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from agents.replies.adjectives import ADJECTIVE_HEADS
from agents.replies.inflect import singular
from agents.replies.judgements import Judgement
from agents.replies.known import Known
from agents.replies.lexicon import words
from agents.replies.outcomes import allows
from agents.replies.record import CallRecord
from agents.replies.values import values_in

_WORD = re.compile(r"[a-z]+")
_TOKEN = re.compile(r"[a-z0-9.]*[a-z0-9]")
_TROUBLE = words("moods", "trouble")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]?")
_OPEN = words("moods", "conditions") | words("moods", "denials") | {"would", "could", "may", "might", "should", "still"}
_UNDONE = frozenset({"undone", "undid", "reversed", "reverted", "rolled", "restored", "backed"})
_ASKS = re.compile(
    r"[?]|\b(?:confirm\w*|approv\w*|proceed|which|choose|how you(?:'d| would)|"
    r"if you(?:'d| would) (?:like|prefer) (?:me )?to)\b"
)


def left_out(text: str, judgements: Sequence[Judgement], known: Known) -> list[CallRecord]:
    """Return the writes of this turn that a reply does not tell of (REPLIES 9)."""
    told = {id(call) for judgement in judgements for call in judgement.covers}
    missing = [call for call in known.writes if id(call) not in told]
    missing = [call for call in missing if not _is_told(text, call, known)]
    if not any(allows(call.outcome, "done") for call in missing):
        return missing
    sentences = [set(_WORD.findall(sentence)) for sentence in _SENTENCE.findall(text.lower()) if sentence[-1] != "?"]
    return [
        call
        for call in missing
        if not allows(call.outcome, "done") or not any(_is_mentioned(said, call, known) for said in sentences)
    ]


def _is_mentioned(said: set[str], call: CallRecord, known: Known) -> bool:
    """Say whether a sentence tells of what a call acted on that something was done to it, in whatever words."""
    if said & _OPEN or ("can" in said and "confirm" not in said):
        return False
    if call.outcome == "undone" and said & _UNDONE:
        return True
    nouns = {singular(word) for word in said} & set(known.words.nouns)
    if not any(known.words.nouns[word].get(call.name) for word in nouns):
        return False
    uses = [use for word in said for use in known.words.uses.get(word, ()) if use.form in {"past", "participle"}]
    if any(tool == call.name for use in uses for tool, _ in use.tools):
        return True
    return bool(said & set(ADJECTIVE_HEADS))


def _is_told(text: str, call: CallRecord, known: Known) -> bool:
    """Say whether a reply tells of a call without its words: by what it alone returned, or by the trouble it had."""
    if allows(call.outcome, "done"):
        others = {id for other in known.record.all if other is not call for id in other.evidence.identifiers}
        new = call.evidence.identifiers - call.sent.identifiers - others
        lower = text.lower()
        return any(len(id) >= 5 and id in lower for id in new) or _names_what_changed(lower, call, known)
    if call.outcome == "pending_confirmation":
        return asks(text)
    return tells_trouble(text) or (call.outcome != "unknown" and asks(text))


def _names_what_changed(text: str, call: CallRecord, known: Known) -> bool:
    """Say whether a reply tells the state that a call brought about: "the kitchen light is off", "v2.4.1 is live"."""
    values = _own_values(call, known)
    if any(len(value) >= 5 and value in text for value in values):
        return True
    named = {singular(word) for word in _WORD.findall(text)}
    if not any(known.words.nouns.get(word, {}).get(call.name) for word in named):
        return False
    tokens = set(_TOKEN.findall(text))
    stated = values_in(text, text.title())
    return (
        any(value in text if len(value) > 2 else value in tokens for value in values)
        or any(call.sent.has_date(value) for value in stated if value.kind == "date")
        or any(call.evidence.has_amount(value.key, value.unit) for value in stated if isinstance(value.key, Decimal))
    )


def _own_values(call: CallRecord, known: Known) -> list[str]:
    """Return the arguments of a call, as texts, that are no identifiers and that no other call holds."""
    others = [other.evidence for other in known.record.all if other is not call]
    values = [
        str(value).lower()
        for value in call.args.values()
        if isinstance(value, (str, int)) and not isinstance(value, bool)
    ]
    taken = [part for part in others for value in values if value in part.identifiers or value in part.emails]
    return [
        value
        for value in values
        if value and not any(value in part.identifiers or value in part.emails for part in taken)
    ]


def tells_trouble(text: str) -> bool:
    """Say whether a reply tells that something did not go as asked, or asks what to do about it."""
    found = set(_WORD.findall(text.lower()))
    return bool(found & _TROUBLE) or "n't" in text or "n’t" in text


def asks(text: str) -> bool:
    """Say whether a reply asks the person for a decision."""
    return bool(_ASKS.search(text.lower()))
