"""What a reply tells of a call in words that are not its tool's: by what the call alone has, by its reason, by doubt
(REPLIES 9)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from agents.replies.inflect import forms, singular
from agents.replies.known import Known, calls_about
from agents.replies.lexicon import phrases, table, words
from agents.replies.record import CallRecord
from agents.replies.values import values_in
from agents.replies.words import name_words

_WORD = re.compile(r"[a-z]+")
_FIRST = re.compile(r"\b(?:i|we)(?:'ve| have)? (?:(?:just|now|also|already|gone ahead and) )*([a-z]+)\b")
_OPEN = words("moods", "conditions") | words("moods", "denials") | {"would", "could", "might", "should", "whether"}
_OPEN_FOR_ANY = _OPEN | {"can", "please", "let"}
_ASKED = re.compile(
    r"\b(?:ask|request|tr[iy]|attempt|submit|prepar|propos|suggest|need|want|put|sent|wait|left|kept|stop|once|until)"
)
_MOMENT = re.compile(r"\d{1,4}(?:[:./-]\d\d?)+(?:t[\d:.z+-]+)?")
_LONG = 4
_SHORT_TEXT = 40
_LEAST_REASON = 2
_LEAST_AMOUNT = 10


def retells(sentences: Sequence[str], call: CallRecord, known: Known) -> bool:
    """Say whether a sentence tells of a call that ran, in words of its own.

    It does where it says that we did something with what the call was sent or returned ("I've put the number on your
    file"), where it says of what the call was about what it alone brought ("IT-5092 went up to P2"), and where it has
    the words of the tool's name side by side ("the renewal request has gone out").

    Args:
        sentences: in small letters, no questions.
    """
    return any(
        _names_the_tool(sentence, call) or _did_with_it(sentence, call, known) or _brings_it(sentence, call, known)
        for sentence in sentences
    )


def claims(sentences: Sequence[str], call: CallRecord, known: Known) -> bool:
    """Say whether a sentence says that we did, with what a call was sent alone, something else than ask for it.

    Args:
        sentences: in small letters, no questions.
        call: one that did not run.
    """
    return any(
        _did_with_it(sentence, call, known, own=True) and not _ASKED.search(sentence) and not tells_doubt(sentence)
        for sentence in sentences
    )


def gives_reason(text: str, call: CallRecord) -> bool:
    """Say whether a text in small letters has at least half the words of why a call was not done."""
    reason = {singular(word) for word in _WORD.findall(call.because.lower()) if len(word) >= _LONG}
    told = reason & {singular(word) for word in _WORD.findall(text)}
    return len(told) >= _LEAST_REASON and 2 * len(told) >= len(reason)


def tells_doubt(text: str) -> bool:
    """Say whether a text in small letters says that something is not known."""
    said = _WORD.findall(text.replace("n't", " not").replace("cannot", "can not"))
    if set(said) & (words("moods", "unsure") - {"pending", "awaiting"}):
        return True
    flat = f" {' '.join(said)} "
    return any(f" {' '.join(phrase)} " in flat for phrase in phrases("moods", "unsure_phrases"))


def _names_the_tool(sentence: str, call: CallRecord) -> bool:
    name, said = name_words(call.name), _WORD.findall(sentence)
    if len(name) < 2 or set(said) & _OPEN_FOR_ANY:
        return False
    wanted, found = sorted(map(singular, name)), list(map(singular, said))
    # In the order of the name it may be what is asked for: "cancel order".
    return any(
        sorted(found[at : at + len(name)]) == wanted and said[at] != name[0] for at in range(len(said) - len(name) + 1)
    )


def _did_with_it(sentence: str, call: CallRecord, known: Known, *, own: bool = False) -> bool:
    sentence = sentence.replace("n't", " not")
    found = [verb for verb in _FIRST.findall(sentence) if _is_past(verb) and verb not in _reading_forms()]
    if not found or set(_WORD.findall(sentence)) & _OPEN:
        return False
    others = {one.name for one in known.writes} - {call.name}
    uses = [use for verb in found for use in known.words.uses.get(verb, ())]
    is_anothers = own or any(tool in others for use in uses for tool, _ in use.tools)
    texts = _own(call, known) if is_anothers else list(_texts(call))
    return _held(sentence, texts, call, known, any_value=not is_anothers)


def _brings_it(sentence: str, call: CallRecord, known: Known) -> bool:
    said = set(_WORD.findall(sentence))
    if said & _OPEN_FOR_ANY:
        return False
    if _has_result_alone(sentence, call, known):
        return True
    is_about = any(known.words.nouns.get(singular(word), {}).get(call.name) for word in said) or any(
        len(id) >= _LONG and id in sentence for id in [*_ids(call), " ".join(name_words(call.name)[1:])]
    )
    return is_about and _held(sentence, _own(call, known), call, known, any_value=False)


def _has_result_alone(sentence: str, call: CallRecord, known: Known) -> bool:
    """Say whether a sentence has an amount or a date that a call returned, and nothing else of the thread has."""
    others = [call.sent, *(other.evidence for other in known.record.all if other is not call)]
    return any(
        call.evidence.has_amount(value.key, value.unit)
        and (value.key >= _LEAST_AMOUNT or value.unit)
        and not any(other.has_amount(value.key, value.unit) for other in others)
        if isinstance(value.key, Decimal)
        else call.evidence.has_date(value) and not any(other.has_date(value) for other in others)
        for value in values_in(sentence, sentence.title())
    )


def _held(sentence: str, texts: Sequence[str], call: CallRecord, known: Known, *, any_value: bool) -> bool:
    """Say whether a sentence has one of some texts, a date or an amount of a call."""
    if any(re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", sentence) for text in texts):
        return True
    others = [] if any_value else [other.evidence for other in _others(call, known)]
    for value in values_in(sentence, sentence.title()):
        match value.key:
            case Decimal() if call.evidence.has_amount(value.key, value.unit):
                if not any(other.has_amount(value.key, value.unit) for other in others):
                    return True
            case tuple() if call.evidence.has_date(value) and not any(other.has_date(value) for other in others):
                return True
            case _:
                pass
    return False


def _own(call: CallRecord, known: Known) -> list[str]:
    """Return the texts of a call that no other call about the same thing has."""
    held = {text for other in _others(call, known) for text in _texts(other)} | set(_ids(call)[:1])
    return [text for text in _texts(call) if text not in held]


def _others(call: CallRecord, known: Known) -> list[CallRecord]:
    ids = _ids(call)[:1]
    return [other for other in (calls_about(known.record.all, ids) if ids else known.record.all) if other is not call]


def _ids(call: CallRecord) -> list[str]:
    """Return what a call was sent that has a digit and no space, in its order: what it was about comes first."""
    sent = [str(value).lower() for value in call.args.values() if isinstance(value, (str, int))]
    return [text for text in sent if " " not in text and any(map(str.isdigit, text)) and not _MOMENT.fullmatch(text)]


def _texts(call: CallRecord) -> Iterator[str]:
    """Yield the short texts a call was sent and returned, in small letters; of a returned one its longer words too."""
    if len(object_of := name_words(call.name)[1:]) > 1:
        yield " ".join(object_of)
    for is_result, value in ((False, call.args), (True, call.returned)):
        for text in _leaves(value):
            if 2 <= len(text) <= _SHORT_TEXT and (is_result or not text.isdigit()):
                yield text
            if is_result and len(text) <= _SHORT_TEXT:
                yield from (word for word in _WORD.findall(text) if len(word) > _LONG)


def _leaves(value: Any, depth: int = 0) -> Iterator[str]:
    match value:
        case dict() | list() | tuple() if depth < _LONG:
            for part in value.values() if isinstance(value, dict) else value:
                yield from _leaves(part, depth + 1)
        case str():
            yield value.lower()
        case int() if value >= _LEAST_AMOUNT:
            yield str(value)
        case _:
            pass


def _is_past(verb: str) -> bool:
    return verb.endswith("ed") or verb == "had" or verb in _irregular_forms()


@cache
def _irregular_forms() -> frozenset[str]:
    return frozenset(form for pair in table("irregular")["past"].values() for form in pair if form)


@cache
def _reading_forms() -> frozenset[str]:
    return frozenset(form for verb in words("reads", "reads") | {"see", "be"} for form, _ in forms(verb))
