"""A person's words read as one call of one tool, without a model (REPLIES, Composers and unread turns). Pure.

What is read is read whole: every word is the tool's, an argument's, or one of a few that say nothing. Anything else,
a doubt, a condition or a second thing asked for leaves the turn unread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.replies.folding import fold
from agents.replies.inflect import singular
from agents.replies.lexicon import alike, table
from agents.replies.slots import Slot, Words
from agents.replies.words import ToolWords, name_words, verb_of

LONGEST = 600
"""Characters of a message that is read."""

UNREAD = "I didn't recognise anything in that."
_ASKING = table("requests")
_FRAMES = re.compile(rf"^(?:{'|'.join(_ASKING['openings'])})[\s,!.:–-]+", re.IGNORECASE)
_ENDS = re.compile(rf"[\s,]*(?:{'|'.join(_ASKING['endings'])})?[\s.!?]*$", re.IGNORECASE)
_REFUSED = re.compile(rf"\b(?:{'|'.join(_ASKING['refused'])})\b|n't\b|\?.*\w", re.IGNORECASE)
_MARKERS = re.compile(rf"(?:^|\s|(?=:))(?:{'|'.join(_ASKING['markers'])})(?:\s+|$)", re.IGNORECASE)
_LATER = re.compile(rf"(?:^|\s)(?:{'|'.join(_ASKING['markers_of_timers'])})(?:\s+|$)", re.IGNORECASE)
_EMPTY = frozenset(_ASKING["empty"])
_WORD = re.compile(r"[\w'-]+")


@dataclass(frozen=True)
class Askable:
    """A tool that can be asked for in words: ``slots`` are its arguments."""

    words: ToolWords
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Asked:
    """A call read from a person's words."""

    tool: str
    args: Mapping[str, Any]


def read_request(text: str, tools: Sequence[Askable], now: datetime) -> Asked | None:
    """Return the call that a message asks for; None where it is none, or may be two.

    Args:
        tools: those that may be called.
        now: in UTC.
    """
    plain = " ".join(fold(text).cased.split())
    asked = _without_frames(plain)
    if not asked or len(plain) > LONGEST or _REFUSED.search(re.sub(r"\"[^\"]*\"", "", plain)):
        return None
    found = [(fit, read) for tool in tools for fit, read in [_read_as(tool, asked, now)] if read is not None]
    best = max((fit for fit, _ in found), default=0)
    likeliest = [read for fit, read in found if fit == best]
    return likeliest[0] if len(likeliest) == 1 else None


def question(actions: Sequence[str]) -> str:
    """Return what a person is asked whose turn nothing reads.

    Args:
        actions: the tools' names in words.
    """
    if not actions:
        return f"{UNREAD} Please say it in other words."
    *others, last = actions
    listed = f"{', '.join(others)} or {last}" if others else last
    which = " Which do you mean?" if others else " Is that what you mean?"
    return f"{UNREAD} I can {listed}.{which}"


def _without_frames(text: str) -> str:
    before = ""
    while before != text:
        before, text = text, _FRAMES.sub("", text)
    ended = ""
    while ended != text:
        ended, text = text, _ENDS.sub("", text)
    return text


def _read_as(tool: Askable, text: str, now: datetime) -> tuple[int, Asked | None]:
    """Return how well a tool's words fit and its call; None where they do not, or an argument is missing."""
    start = _opening_of(tool.words, text)
    if not start:
        return 0, None
    rest = Words(text[start:].strip(), now)
    args: dict[str, Any] = {}
    texts = [slot for slot in tool.slots if slot.kind == "text" and slot.required]
    if len(texts) > 1:
        return 0, None
    told = _said(rest, tool, texts[0]) if texts else None
    for slot in sorted(tool.slots, key=_hardest):
        value = rest.take(slot, _cues(slot, tool.words))
        if value is not None:
            args[slot.name] = value
    if texts:
        told = told or _said(rest, tool, texts[0])
        if told:
            args[texts[0].name] = told
    is_whole = all(slot.name in args for slot in tool.slots if slot.required) and not _left(rest.text, tool)
    is_empty = not args and any(slot for slot in tool.slots) and not texts
    if not is_whole or (is_empty and tool.words.effect != "read"):
        return 0, None
    return _fit(tool.words, text), Asked(tool.words.name, args)


def _hardest(slot: Slot) -> int:
    return ("moment", "day", "time", "id", "integer", "number", "choice", "text").index(slot.kind)


def _opening_of(words: ToolWords, text: str) -> int:
    """Return the end of the verb or noun of a tool that a text begins with; 0 where it begins with none."""
    lower = text.lower()
    said = {*words.verbs, *words.nouns, verb_of(words.name), *(_ASKING["reads"] if words.effect == "read" else ())}
    for phrase in sorted(said, key=lambda one: (-len(one), one)):  # the longest first
        head, *others = phrase.split() or [""]
        spread = r"(?: \w+){0,2}? ".join([re.escape(head), *map(re.escape, others)])
        if head and (found := re.match(rf"(?:(?:a|an|the|my|our) )?(?:new |another )?{spread}\b", lower)):
            return found.end()
    return 0


def _cues(slot: Slot, words: ToolWords) -> list[str]:
    named = [word for word in name_words(slot.name) if len(word) > 1]
    found = [*named, *(_ASKING["cues"].get(slot.name) or ())]
    if slot.name == "number":
        found += [word for word in (*words.weak, *words.nouns, *name_words(words.name)) if word.isalpha()]
    return list(dict.fromkeys([word for name in found for word in (name, *alike(singular(name)))]))


def _said(rest: Words, tool: Askable, slot: Slot) -> str:
    """Return the text of a slot and cut it out: what is quoted, what stands behind ":" or "saying"; beside a moment
    that was read, behind "to" too. What names a thing is its whole title."""
    if slot.titles is not None:
        return _title(rest, tool, slot.titles)
    is_named = set(_WORD.findall(rest.text.lower())) & set(tool.words.nouns)
    if slot.name == "title" and not is_named and not rest.text.startswith(("called", "named", "titled", '"')):
        return ""
    if quoted := rest.quoted():
        return quoted
    moment = next((one for one in tool.slots if one.kind == "moment"), None)
    if moment is None:
        return _behind(rest)
    return (_behind(rest) or _behind(rest, _LATER)) if _settled_moment(rest, moment) else ""


def _title(rest: Words, tool: Askable, titles: Sequence[str]) -> str:
    told = (rest.quoted() or _without_own(rest.text, tool)).casefold()
    found = next((title for title in titles if title.casefold() == told), "")
    rest.text = "" if found else rest.text
    return found


def _settled_moment(rest: Words, moment: Slot) -> bool:
    """Say whether no moment is left in the words: "to call Ana tomorrow at 9:00" has it cut out first."""
    return Words(rest.text, rest.now).take(moment, ()) is None


def _behind(rest: Words, markers: re.Pattern[str] = _MARKERS) -> str:
    found = markers.search(rest.text)
    if not found:
        return ""
    told, rest.text = rest.text[found.end() :].strip(" .,:"), rest.text[: found.start()].strip()
    return told


def _without_own(text: str, tool: Askable) -> str:
    """Return a title without the words before it that are the tool's: "the document Launch plan"."""
    own = {*_own_words(tool.words), *_EMPTY}
    parts = text.strip(" .,:").split()
    while parts and parts[0].lower() in own:
        parts.pop(0)
    while len(parts) > 1 and parts[-1].lower() in {"document", "doc", "please", "file"}:
        parts.pop()
    return " ".join(parts).strip(" .,:")


def _own_words(words: ToolWords) -> set[str]:
    named = {word for phrase in (*words.verbs, *words.nouns, *words.weak, *words.strong) for word in phrase.split()}
    return {word for name in {*named, *name_words(words.name)} for word in (name, *alike(singular(name)))}


def _left(text: str, tool: Askable) -> bool:
    """Say whether words are left that nothing explains."""
    own = _own_words(tool.words) | {word for slot in tool.slots for word in name_words(slot.name)}
    cues = {word for slot in tool.slots for word in _cues(slot, tool.words)}
    own |= {singular(word) for word in own | cues} | _EMPTY
    return any(word not in own and singular(word) not in own for word in _WORD.findall(text.lower()))


def _fit(words: ToolWords, text: str) -> int:
    """Return how many words of a text are the tool's own: its verb counts more."""
    said = {singular(word) for word in _WORD.findall(text.lower())}
    objects = {singular(word) for word in (*name_words(words.name)[1:], *words.weak, *words.strong) if word.isalpha()}
    opened = text.lower().startswith(tuple(words.verbs[:2]))
    return 1 + 2 * len(said & objects) + opened
