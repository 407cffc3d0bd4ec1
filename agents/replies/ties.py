"""Which tools and calls a clause speaks of (REPLIES 5)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from agents.replies.acts import Reading
from agents.replies.inflect import singular
from agents.replies.known import Known
from agents.replies.lexicon import table, words
from agents.replies.tokens import Tokens
from agents.replies.words import MONEY, VerbUse, Words

_MONEY = frozenset(
    {
        "£",
        "$",
        "€",
        "¥",
        "₹",
        *(singular(name) for names in table("numbers")["currencies"].values() for name in names if name.isalpha()),
    }
)
_COMPOUND = words("nouns", "compound")
_THINGS = words("moods", "things")
_PREPOSITIONS = words("moods", "preposition") - {"and", "or", "back", "up", "off", "out", "down", "over"}
_OBJECT_LIGHTS, _HEAVY, _HEAVY_OF_MINE, _OF_REPLIES = (
    words("light", key) for key in ("object_lights", "heavy", "heavy_of_mine", "of_replies")
)
_UNDOING = words("light", "undoing")
_PLACES = frozenset({"above", "below", "here"})
_TRANSPARENT = frozenset(
    {
        "request",
        "requests",
        "process",
        "status",
        "application",
        "all",
        "both",
        "each",
        "none",
        "one",
        "either",
        "neither",
    }
)

Weights = Mapping[str, Mapping[str, int]]
"""Nouns of tools, each with the tools it fits and how well."""


@dataclass(frozen=True)
class Tie:
    """What a reading speaks of.

    Attributes:
        tools: the write tools it may mean, the likeliest first; empty for an action with no word of which.
        siblings: tools it may mean less likely, when its verb is a vague one.
        nouns: how well the nouns around it fit.
        peers: the siblings whose nouns fit as well.
        rivals: tools that the verb does not mean, but what it is said of does: those called this turn for a vague verb,
            those of what was undone for a verb that undoes.
        is_own: the verb is the tool's own and not one like it.
    """

    tools: tuple[str, ...]
    siblings: tuple[str, ...] = ()
    nouns: int = 0
    is_own: bool = False
    peers: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()


def ties(tokens: Tokens, reading: Reading, scope: tuple[int, int], known: Known) -> list[Tie]:
    """Return which tools a reading means, an action each; none when it is no tool's."""
    low, high = scope
    weights = noun_weights(tokens, (low, reading.group), (reading.end, high), known.words, known.named)
    heads = weights
    if any(use.vague for use in reading.uses):
        parts = (_head(tokens, low, reading.group), _head(tokens, reading.end, high))
        is_received = any(use.light == "receives" for use in reading.uses)
        subject_only = reading.is_passive and not is_received and tokens.words[low : reading.group][-1:] != ["you"]
        heads = noun_weights(tokens, *(parts[:1] * 2 if subject_only else parts), known.words, known.named)
    scores: dict[str, float] = {}
    for use in reading.uses:
        for tool, score in _scores(tokens, reading, use, weights, heads, high, known).items():
            scores[tool] = max(scores.get(tool, 0), score)
    scores = {tool: score for tool, score in scores.items() if not _is_never(tokens, known.words, tool)}
    scores = _of_what_was_called(scores, reading, heads, known)
    if scores and all(use.light for use in reading.uses):
        return [_tie_of(part, weights, known) for part in _by_noun(scores, heads, known)]
    if scores:
        own = {tool for use in reading.uses for tool, weight in use.tools if weight >= 4}
        meant = _tie_of(scores, weights, known)
        rivals = frozenset[str]()
        if any(use.vague for use in reading.uses):
            rivals = _rivals(meant, heads, {call.name for call in known.writes})
        elif any(use.lemma in _UNDOING for use in reading.uses):
            rivals = _rivals(meant, heads, known.undone)
        return [replace(meant, is_own=bool(own & set(meant.tools)), rivals=rivals)]
    is_light = any(use.light in {"done", "adjective"} for use in reading.uses) and reading.act != "mention"
    return [Tie(())] if is_light or is_heavy(tokens, reading) else []


def _of_what_was_called(scores: dict[str, float], reading: Reading, heads: Weights, known: Known) -> dict[str, float]:
    """Return the tools the verb means, where one of them was called for what it is said of: "I've raised a purchase
    order" is said of what the turn raised, and of no other tool that orders."""
    of_verb = {tool for use in reading.uses for tool, _ in use.tools}
    is_called = any(call.name in of_verb and _noun_score(heads, call.name) for call in known.writes)
    return {tool: score for tool, score in scores.items() if tool in of_verb} if is_called else scores


def is_heavy(tokens: Tokens, reading: Reading) -> bool:
    """Say whether a reading says that we did what only a call does: "I've cancelled it", "I've moved your visit"."""
    after = tokens.words[reading.end : reading.clause.end]
    is_as_it_stands = reading.is_stative and after[:2] != ["for", "you"]
    if reading.act != "done" or is_as_it_stands or words("moods", "denials") & set(after[:2]):
        return False
    head = _head(tokens, reading.end, reading.clause.end)
    of_replies = _OF_REPLIES & {*tokens.words[head[0] : head[1]], *(_PLACES & set(after))}
    is_mine = reading.first_person and bool(after) and not of_replies
    return any(use.lemma in _HEAVY or (is_mine and use.lemma in _HEAVY_OF_MINE) for use in reading.uses)


def _tie_of(scores: Mapping[str, float], weights: Weights, known: Known) -> Tie:
    called = {call.name for call in known.writes} & set(scores)
    fits = max(_noun_score(weights, tool) for tool in scores)
    likely = {tool for tool in called if _noun_score(weights, tool) >= max(fits - 1, min(fits, 1))}
    # What the turn did is likelier meant than another tool whose words fit hardly better.
    best = max(scores[tool] for tool in likely or scores)
    scores = {tool: score for tool, score in scores.items() if not likely or tool in likely or score < best}
    tools = tuple(tool for tool in known.words.tools if scores.get(tool) == best)
    siblings = tuple(tool for tool in known.words.tools if tool in scores and tool not in tools)
    nouns = max(_noun_score(weights, tool) for tool in tools)
    peers = frozenset(tool for tool in siblings if _noun_score(weights, tool) >= max(nouns, 1))
    return Tie(tools, siblings, nouns, peers=peers)


def _rivals(meant: Tie, heads: Weights, called: Set[str]) -> frozenset[str]:
    others = called - {*meant.tools, *meant.siblings}
    fits = max(_noun_score(heads, tool) for tool in meant.tools)
    return frozenset(tool for tool in others if _noun_score(heads, tool) >= max(fits, 1))


def _by_noun(scores: Mapping[str, float], heads: Weights, known: Known) -> list[dict[str, float]]:
    """Part the tools of "the upgrade and the cancellation are complete" by noun: those called, if any."""
    parts: list[set[str]] = []
    for fits in heads.values():
        part = {tool for tool in fits if tool in scores}
        if part and not any(part & other for other in parts):
            parts.append(part)
        elif part:
            parts = [other | part if part & other else other for other in parts]
    called = {call.name for call in known.writes}
    return [{tool: scores[tool] for tool in part & called or part} for part in parts] or [dict(scores)]


def noun_weights(
    tokens: Tokens,
    before: tuple[int, int],
    after: tuple[int, int],
    known: Words,
    named: Mapping[str, str] | None = None,
) -> Weights:
    """Return the nouns of tools in two stretches of words, each with the tools it fits.

    Args:
        named: identifiers with the noun that the argument they were sent as is called by.
    """
    found: dict[str, Mapping[str, int]] = {}
    named = named or {}
    for start, end in (before, after):
        for place in range(start, end):
            word = singular(tokens.words[place])
            word = MONEY if word in _MONEY else word
            if word[:1] == "#" or any(character.isdigit() for character in word):
                word = named.get(word.lstrip("#"), word)
            if word in known.nouns and not _is_compound(tokens, place):
                found[word] = known.nouns[word]
            elif word == "money" and "money back" in known.nouns and tokens.words[place + 1 : place + 2] == ["back"]:
                found["money back"] = known.nouns["money back"]
    return found


def _head(tokens: Tokens, start: int, end: int) -> tuple[int, int]:
    """Return a noun phrase without what only describes it: "a certificate" of "a certificate for the flight"."""
    comma = max((place for place in range(start, end - 1) if tokens.words[place] == ","), default=start - 1)
    first = comma + 1 if tokens.words[start:end] and tokens.words[start] in _PREPOSITIONS else start
    for place in range(first + 1, end):
        if tokens.words[place] in _PREPOSITIONS and not _TRANSPARENT & set(tokens.words[first:place]):
            return first, place
    return first, end


def _scores(
    tokens: Tokens, reading: Reading, use: VerbUse, weights: Weights, heads: Weights, high: int, known: Known
) -> dict[str, float]:
    if use.light == "heavy":
        return {}
    if use.light:
        # Only the action's own noun, or one that means the tool, makes a light verb its action.
        is_object_light = use.light == "adjective" or use.lemma in _OBJECT_LIGHTS
        tools = {
            tool
            for fits in heads.values()
            for tool, weight in fits.items()
            if weight >= 4 or (weight == 3 and is_object_light)
        }
        if use.light in {"receives", "arrives"} and reading.act != "promise":
            return {}
        return {tool: 2 + 2 * _noun_score(weights, tool) for tool in tools}
    found: dict[str, float] = {}
    called = {call.name for call in known.writes}
    for tool, weight in use.tools:
        nouns = _noun_score(weights, tool)
        is_meant = bool(nouns) or reading.first_person or not called or tool in called
        names_itself = is_meant and known.words.nouns.get(use.lemma, {}).get(tool, 0) >= 2
        is_clear = (
            bool(use.rest)
            or (weight >= 4 and (not use.vague or tool in called))
            or names_itself
            or _noun_score(heads, tool)
        )
        is_likely = (nouns and tool in called) or (
            not use.vague and (nouns or tool in called or (reading.first_person and not known.did))
        )
        if is_clear or is_likely or _stands_without_noun(tokens, reading, high):
            found[tool] = weight + 2 * nouns
    if not found and reading.first_person and reading.act == "done":
        # "I've added the venue": what this turn did is meant, whatever it was done to.
        found = {tool: float(weight) for tool, weight in use.tools if tool in called}
    if any(_noun_score(heads, tool) for tool in found):
        # An action of its own name on something else is likelier another tool's.
        found = {tool: score if _noun_score(heads, tool) else score - 3 for tool, score in found.items()}
    return found


def _noun_score(weights: Weights, tool: str) -> int:
    return sum(fits.get(tool, 0) for fits in weights.values())


def _stands_without_noun(tokens: Tokens, reading: Reading, high: int) -> bool:
    """Say whether a vague verb's object is a pronoun or left out: "I've updated it", "Updated."."""
    clause = reading.clause
    before = [word for word in tokens.words[clause.start : reading.group] if word != clause.opener]
    after = tokens.words[reading.at + 1 : high]
    if reading.is_passive:
        return not before or (len(before) == 1 and before[0] in _THINGS | {"you"})
    if not after or (
        after[0] in _THINGS and (len(after) == 1 or after[0] not in {"all", "this", "that", "these", "those"})
    ):
        return True
    return len(after) > 2 and after[1] == "of" and after[2] in _THINGS


def _is_compound(tokens: Tokens, place: int) -> bool:
    after = tokens.words[place + 1] if place + 1 < len(tokens.words) else ""
    is_free = tokens.words[place] == "charge" and tokens.words[max(0, place - 1)] in {"of", "no"}
    return after in _COMPOUND or is_free


def _is_never(tokens: Tokens, known: Words, tool: str) -> bool:
    for phrase in known.never.get(tool, ()):
        for place in range(len(tokens.words) - len(phrase) + 1):
            if tuple(tokens.words[place : place + len(phrase)]) == phrase:
                return True
    return False
