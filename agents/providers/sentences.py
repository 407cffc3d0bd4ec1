"""Turn a validation error into a sentence that says what to do."""

from __future__ import annotations

from itertools import pairwise

from pydantic_core import ErrorDetails

_WANTED = {
    "string_type": "must be text: put it in quotes",
    "list_type": "must be a list: begin each entry with `-`",
    "dict_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of names to values",
    "int_type": "must be a whole number",
    "too_short": "must have at least one entry",
    "string_too_short": "must not be empty",
}


def sentence_for(error: ErrorDetails) -> str:
    """Return one sentence for people who write scripts, ending in a full stop."""
    place, kind = error["loc"], error["type"]
    where = _where(place)
    name = _name(place[-1])
    match kind:
        case "extra_forbidden":
            what = f"{name} is not a key of the format: remove it or correct its spelling"
        case "missing":
            what = f"{name} is missing: add it"
        case "value_error":
            what = error["msg"].removeprefix("Value error, ")
        case _ if kind in _WANTED:
            what = f"{name} {_WANTED[kind]}"
        case _ if "args" in place:
            what = "arguments must be texts, numbers, true, false, null, lists or mappings: put anything else in quotes"
        case _:
            what = f"{name} is wrong: {error['msg'][0].lower()}{error['msg'][1:]}"
    return f"{where}{what}."


def _name(key: int | str) -> str:
    match key:
        case "[key]":
            return "a key"
        case str():
            return f"`{key}`"
        case _:
            return "this entry"


def _where(place: tuple[int | str, ...]) -> str:
    numbers = dict(pairwise(place))
    named = (("steps", "step"), ("calls", "call"))
    parts = [f"{word} {number + 1}" for key, word in named if isinstance(number := numbers.get(key), int)]
    return f"{', '.join(parts)}: " if parts else ""
