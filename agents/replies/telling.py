"""Whether a reply tells of every write its turn made (REPLIES 9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from agents.replies.inflect import singular
from agents.replies.judgements import Judgement
from agents.replies.known import Known, calls_named
from agents.replies.lexicon import table, words
from agents.replies.outcomes import allows
from agents.replies.record import CallRecord
from agents.replies.retelling import claims, gives_reason, retells, tells_doubt
from agents.replies.values import values_in
from agents.replies.words import MONEY

_WORD = re.compile(r"[a-z]+")
_TOKEN = re.compile(r"[a-z0-9.]*[a-z0-9]")
_TROUBLE = words("moods", "trouble")
_NO_TROUBLE = re.compile(rf"\b(?:{'|'.join(table('moods')['no_trouble'])})\b")
_TROUBLES = re.compile(rf"\b(?:{'|'.join(table('moods')['trouble_phrases'])})\b")
_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\d))+[.!?;\n]?")
_OPEN = (
    words("moods", "conditions") | words("moods", "denials") | {"would", "could", "might", "should", "still", "whether"}
)
_PART = re.compile(r"[.!?;\n]+(?=\s|$)|\b(?:but|while|whereas)\b")
_SEVERAL = re.compile(
    r"\b(?:both|neither|either|them|these|those|they|nothing|(?:all|none|any) of|all (?:two|three|four)|"
    r"none (?:w|c|h)[a-z]+)\b"
)
_STANDS = re.compile(rf"\b(?:{'|'.join([*table('light')['adjectives']['done'], *table('light')['stands']])})\b")
_MONEY = re.compile(r"[$£€]\s?\d")
_SHORT = 40
_LEAST_ID = 3
_IS_NOW = re.compile(r"\b(?:is|are) now\b|'s now\b")
_UNDONE = frozenset({"undone", "undid", "reversed", "reverted", "rolled", "restored", "backed"})
_ASKS = re.compile(
    r"[?]|\b(?:proceed|(?<!, )which|choose|how you(?:'d| would)|if you(?:'d| would) (?:like|prefer) (?:me )?to)\b"
)
_WANTS_A_YES = re.compile(
    r"\b(?:confirm(?:s|ation)?|approv(?:e|es|al)|your (?:ok|okay|go-ahead|yes|consent)|"
    r"(?:once|until|when|after|if|be|not) [^.!?]{0,40}?(?:confirmed|approved))\b"
)


def left_out(text: str, judgements: Sequence[Judgement], known: Known) -> list[CallRecord]:
    """Return the writes of this turn that a reply does not tell of (REPLIES 9)."""
    told = {id(call) for judgement in judgements for call in judgement.covers}
    missing = [call for call in known.writes if id(call) not in told and not _is_told(text, call, known)]
    unmade = [call for call in known.writes if not allows(call.outcome, "done")]
    if not missing and not unmade:
        return []
    sentences = _statements(text.lower())
    mentioned = [call for call in known.writes if any(_is_mentioned(sentence, call, known) for sentence in sentences)]
    # Where nothing tells of trouble, what is said of a thing is no word of what failed.
    is_smooth = not tells_trouble(text)
    hidden = [
        call
        for call in unmade
        if (is_smooth and call in mentioned and call.outcome in {"failed", "refused", "unknown"})
        or any(_states_value(sentence, call, known) for sentence in sentences)
        or ((call.outcome != "unknown" or not tells_doubt(text.lower())) and claims(sentences, call, known))
    ]
    left = [call for call in missing if not (allows(call.outcome, "done") and call in mentioned)]
    return [call for call in known.writes if call in left or call in hidden]


def _is_mentioned(sentence: str, call: CallRecord, known: Known) -> bool:
    """Say whether a sentence tells of what a call acted on that something was done to it, in whatever words."""
    said = set(_WORD.findall(sentence.replace("no longer", "")))
    if said & _OPEN or ("can" in said and "confirm" not in said) or _is_of_another(sentence, call, known):
        return False
    if call.outcome == "undone" and said & _UNDONE:
        return True
    nouns = {singular(word) for word in said} | ({MONEY} if _MONEY.search(sentence) else set())
    is_named = any(known.words.nouns.get(word, {}).get(call.name) for word in nouns) or bool(said & _sent_words(call))
    if not is_named and not _is_titled(sentence, call, known):
        return False
    uses = [use for word in said for use in known.words.uses.get(word, ()) if use.form in {"past", "participle"}]
    if any(tool == call.name for use in uses for tool, _ in use.tools):
        return True
    return bool(_STANDS.search(sentence))


def _is_of_another(sentence: str, call: CallRecord, known: Known) -> bool:
    """Say whether a sentence names what another call of the same tool was sent, and nothing this one was."""
    others = [other for other in known.writes if other.name == call.name and other is not call]
    said = set(_TOKEN.findall(sentence)) if others else set()
    ids = [{id for id in one.sent.identifiers if len(id) >= _LEAST_ID} for one in (call, *others)]
    return bool(others) and not ids[0] & said and any((other - ids[0]) & said for other in ids[1:])


def _is_titled(text: str, call: CallRecord, known: Known) -> bool:
    """Say whether a text has the title of what a call was sent the identifier of."""
    return any(title in text for id, title in known.titles.items() if id in map(str, call.args.values()))


def _states_value(sentence: str, call: CallRecord, known: Known) -> bool:
    """Say whether a sentence has what a call was to set as so: "your address is now 31 Alder St"."""
    if not _IS_NOW.search(sentence) or words("moods", "denials") & set(_WORD.findall(sentence)):
        return False
    if not any(known.words.nouns.get(singular(word), {}).get(call.name) for word in _WORD.findall(sentence)):
        return False
    return any(len(value) >= 5 and value in sentence for value in _own_values(call, known))


def _sent_words(call: CallRecord) -> set[str]:
    """Return the words of the short texts that a call was sent: a name, a plan."""
    texts = [value.lower() for value in call.args.values() if isinstance(value, str) and len(value) <= _SHORT]
    return {word for text in texts for word in _WORD.findall(text) if len(word) > 2}


def _is_told(text: str, call: CallRecord, known: Known) -> bool:
    """Say whether a reply tells of a call without its words: by what it alone returned, or by the trouble it had."""
    if allows(call.outcome, "done"):
        others = {id for other in known.record.all if other is not call for id in other.evidence.identifiers}
        new = call.evidence.identifiers - call.sent.identifiers - others
        lower = text.lower()
        return (
            any(len(id) >= 5 and id in lower for id in new)
            or _names_what_changed(lower, call, known)
            or retells(_statements(lower), call, known)
        )
    if call.outcome == "pending_confirmation":
        return asks(text) or bool(_WANTS_A_YES.search(text.lower()))
    if call.outcome != "unknown" and (gives_reason(text.lower(), call) or asks(text)):
        return True
    return _tells_its_trouble(text.lower(), call, known)


def _tells_its_trouble(text: str, call: CallRecord, known: Known) -> bool:
    """Say whether a reply tells of trouble that may be a call's: where several calls had some, of trouble with it."""
    unmade = [one for one in known.writes if not allows(one.outcome, "done")]
    if len(unmade) < 2 or _SEVERAL.search(text):
        return tells_trouble(text) or (call.outcome == "unknown" and tells_doubt(text))
    parts = [part for part in _PART.split(text) if tells_trouble(part) or tells_doubt(part)]
    said = [frozenset(_TOKEN.findall(part)) for part in parts]
    named = [one for words_of in said for one in calls_named(unmade, words_of)]
    if named and any(one.name == call.name for one in named):
        return any(one is call for one in named)
    of_it = [{singular(word) for word in words_of} for words_of in said]
    return any(known.words.nouns.get(word, {}).get(call.name) for words_of in of_it for word in words_of)


def _statements(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.findall(text) if sentence[-1] != "?"]


def _names_what_changed(text: str, call: CallRecord, known: Known) -> bool:
    """Say whether a reply tells the state that a call brought about: "the kitchen light is off", "v2.4.1 is live"."""
    values = _own_values(call, known)
    if any(len(value) >= 5 and value in text for value in values):
        return True
    named = {singular(word) for word in _WORD.findall(text)}
    is_titled = _is_titled(text, call, known)
    if not is_titled and not any(known.words.nouns.get(word, {}).get(call.name) for word in named):
        return False
    tokens = set(_TOKEN.findall(text))
    stated = values_in(text, text.title())
    return (
        any(value in text if len(value) > 2 else value in tokens for value in values)
        or any((call.evidence if is_titled else call.sent).has_date(value) for value in stated if value.kind == "date")
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
    text = _NO_TROUBLE.sub("", text.lower().replace("’", "'"))
    return bool(_TROUBLE & set(_WORD.findall(text))) or "n't" in text or bool(_TROUBLES.search(text))


def asks(text: str) -> bool:
    """Say whether a reply asks the person for a decision."""
    return bool(_ASKS.search(text.lower()))
