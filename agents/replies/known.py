"""A record sorted for looking up (REPLIES 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from agents.replies.evidence import Evidence, Several, says_nothing, shape
from agents.replies.inflect import forms, singular
from agents.replies.record import CallRecord, Record
from agents.replies.words import Words, name_words, verb_of

_ID_ARGUMENT = re.compile(r"(?:^|_|[a-z](?=I))(?:id|Id|ID|number|code|ref|reference|key|email)$")
_PARTIES = frozenset({"payment", "user", "customer", "card", "method", "account", "client"})
_LONGEST_TITLE = 60
_DEEPEST = 6
_MOST_NAMED = 50
_RECKONING = frozenset({"calculate", "compute", "sum", "convert", "quote", "estimate", "price", "total", "calculator"})


@dataclass(frozen=True)
class Known:
    """A record with the tools' words: which writes it holds, and what supports a value.

    Attributes:
        record: the calls.
        words: the tools' words.
    """

    record: Record
    words: Words

    def __post_init__(self) -> None:
        calls = [self.settled(call) for call in self.record.calls]
        if any(call is not given for call, given in zip(calls, self.record.calls, strict=True)):
            object.__setattr__(self, "record", Record(calls, self.record.earlier))

    def settled(self, call: CallRecord) -> CallRecord:
        """Return a call as its result says it came out: a write that ran and returned that nothing of what its verb
        says was done (``"refunded": "0.00"``) failed."""
        if call.outcome != "done" or not isinstance(call.returned, dict) or not self.is_write(call):
            return call
        done = {form for form, kind in forms(verb_of(call.name)) if kind == "participle"}
        none = [
            key for key, value in call.returned.items() if key in done and value is not None and says_nothing(value)
        ]
        return (
            replace(call, outcome="failed", reason=f"{none[0]}: {_as_said(call.returned[none[0]])}") if none else call
        )

    @cached_property
    def writes(self) -> tuple[CallRecord, ...]:
        """The writes of this turn, without failed ones that a later call replaced."""
        made = [call for call in self.record.calls if self.is_write(call)]
        return tuple(call for place, call in enumerate(made) if not _replaced(call, made[place + 1 :]))

    @cached_property
    def did(self) -> bool:
        """Whether this turn did any write."""
        return any(call.outcome in {"done", "undone"} for call in self.writes)

    @cached_property
    def undone(self) -> frozenset[str]:
        """The tools of those writes of the thread that were undone."""
        return frozenset(call.name for call in self.record.all if call.outcome == "undone" and self.is_write(call))

    @cached_property
    def replaced(self) -> tuple[CallRecord, ...]:
        """The failed writes of this turn that a later call with the same identifiers replaced."""
        return tuple(call for call in self.record.calls if self.is_write(call) and call not in self.writes)

    @cached_property
    def earlier_writes(self) -> tuple[CallRecord, ...]:
        """The writes of the thread's turns before."""
        return tuple(call for call in self.record.earlier if self.is_write(call))

    @cached_property
    def reads(self) -> tuple[CallRecord, ...]:
        """What the thread's reads returned."""
        return tuple(call for call in self.record.all if not self.is_write(call) and call.outcome == "done")

    @cached_property
    def named(self) -> Mapping[str, str]:
        """What the identifiers are of that calls were sent: TCK-1044 as ``ticket_id`` is of a ticket."""
        found: dict[str, str] = {}
        for call in self.record.all:
            for key, value in call.args.items():
                if isinstance(value, (str, int)) and _ID_ARGUMENT.search(key) and (noun := name_words(key)[:1]):
                    found[str(value).lower().lstrip("#")] = singular(noun[0])
        return found

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """What the things are called, in small letters, that this turn's writes were sent the identifiers of."""
        sent = {str(value) for call in self.writes for value in call.args.values() if isinstance(value, (str, int))}
        found: dict[str, str] = {}
        for call in self.reads if sent else ():
            _read_titles(found, call.returned, sent, 0)
        return found

    @cached_property
    def reckoned(self) -> tuple[Evidence, ...]:
        """The values of the calls that work something out, and of this turn's other writes."""
        return tuple(
            call.evidence for call in self.record.all if call in self.writes or set(name_words(call.name)) & _RECKONING
        )

    @cached_property
    def evidence(self) -> Several:
        """The values of every call of the thread."""
        return Several([call.evidence for call in self.record.all])

    def is_write(self, call: CallRecord) -> bool:
        """Say whether a call changes something."""
        return call.effect == "write" if call.effect else self.words.is_write(call.name)

    def calls_of(self, tools: Iterable[str]) -> list[CallRecord]:
        """Return this turn's calls of some tools; the thread's earlier ones where the turn made none."""
        named = frozenset(tools)
        return [call for call in self.writes if call.name in named] or [
            call for call in self.earlier_writes if call.name in named
        ]


def _as_said(value: Any) -> str:
    return "no" if value is False else str(value)


def _read_titles(found: dict[str, str], value: Any, sent: set[str], depth: int) -> None:
    if isinstance(value, dict):
        title = next((value[key] for key in ("title", "name") if isinstance(value.get(key), str)), "")
        ids = [str(part) for part in value.values() if isinstance(part, (str, int)) and str(part) in sent]
        if 3 < len(title) <= _LONGEST_TITLE:
            found.update({id: title.lower() for id in ids if id != title})
    if isinstance(value, (dict, list)) and depth < _DEEPEST:
        for part in value.values() if isinstance(value, dict) else value:
            _read_titles(found, part, sent, depth + 1)


def calls_about(calls: Sequence[CallRecord], identifiers: Sequence[str]) -> list[CallRecord]:
    """Return the calls that were sent or returned one of some identifiers."""
    return [call for call in calls if any(call.evidence.has_identifier(id) for id in identifiers)]


def calls_named(calls: Sequence[CallRecord], said: frozenset[str]) -> list[CallRecord]:
    """Return the calls that some words pick out of several: those sent a word that others were not ("Figma")."""
    if len(calls) < 2 or len(calls) > _MOST_NAMED:
        return []
    sent = [_sent_words(call) for call in calls]
    telling = {word for words in sent for word in words if not all(word in other for other in sent)} & said
    return [call for call, words in zip(calls, sent, strict=True) if words & telling]


def _sent_words(call: CallRecord) -> set[str]:
    texts = [value.lower() for value in call.args.values() if isinstance(value, str) and len(value) <= _LONGEST_TITLE]
    return {word for text in texts for word in re.findall(r"[a-z0-9]+", text) if len(word) > 2}


def names_another(calls: Sequence[CallRecord], identifiers: Sequence[str]) -> bool:
    """Say whether an identifier looks like those of some calls and is none of them: it names another object."""
    shapes = {shape(id) for call in calls for id in call.sent.identifiers}
    return any(shape(id) in shapes for id in identifiers)


def _replaced(call: CallRecord, later: Sequence[CallRecord]) -> bool:
    if call.outcome not in {"failed", "refused", "not_attempted"}:
        return False
    object = _object(call)
    return any(other.name == call.name and other.outcome == "done" and _object(other) == object for other in later)


def _object(call: CallRecord) -> Mapping[str, str]:
    """Return the identifiers that say what a call is about: not who pays, unless it names nothing else."""
    named = {
        key: str(value)
        for key, value in call.args.items()
        if _ID_ARGUMENT.search(key) and not isinstance(value, (dict, list))
    }
    return {key: id for key, id in named.items() if not set(name_words(key)) & _PARTIES} or named
