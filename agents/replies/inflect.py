"""The forms of English verbs and the singular of nouns: a small table and the regular rules."""

from __future__ import annotations

from functools import cache
from typing import Literal

from agents.replies.lexicon import table, words

Form = Literal["base", "third", "past", "participle", "ing"]

_VOWELS = "aeiou"
_DOUBLING = words("irregular", "doubling")


@cache
def forms(verb: str) -> tuple[tuple[str, Form], ...]:
    """Return the forms of a verb, British and American where they differ."""
    past, participle = table("irregular")["past"].get(verb, (None, None))
    found: list[tuple[str, Form]] = [(verb, "base"), (_third(verb), "third")]
    stems = [verb + verb[-1]] if verb in _DOUBLING else [verb]
    stems += [verb] if verb in _DOUBLING and verb.endswith("l") else []
    for stem in stems:
        found += [(past or _regular(stem), "past"), (participle or _regular(stem), "participle"), (_ing(stem), "ing")]
    return tuple(dict.fromkeys(found))


@cache
def singular(noun: str) -> str:
    """Return the singular of a noun in small letters, well enough that two forms of one noun meet."""
    if len(noun) < 4 or noun.endswith(("ss", "us", "is", "news", "sms", "address")):
        return noun
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    if noun.endswith(("ches", "shes", "xes", "sses", "zes")):
        return noun[:-2]
    return noun.removesuffix("s")


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if _ends_in_y(verb) else f"{verb}s"


def _regular(stem: str) -> str:
    if stem.endswith("e"):
        return f"{stem}d"
    return f"{stem[:-1]}ied" if _ends_in_y(stem) else f"{stem}ed"


def _ing(stem: str) -> str:
    if stem.endswith("e") and not stem.endswith(("ee", "oe", "ye")) and len(stem) > 2:
        return f"{stem[:-1]}ing"
    return f"{stem}ing"


def _ends_in_y(verb: str) -> bool:
    return verb.endswith("y") and len(verb) > 1 and verb[-2] not in _VOWELS
