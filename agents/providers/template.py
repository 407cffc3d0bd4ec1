"""Placeholders in a script: ``{group}`` and ``{result.TOOL.FIELD}`` (docs/scripted.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}")
_RESULT = re.compile(r"result\.(?P<tool>\w+)\.(?P<path>[^\s.]+(?:\.[^\s.]+)*)")
_LITERAL = {"{{": "{", "}}": "}"}


@dataclass(frozen=True)
class Values:
    """What placeholders stand for: a match's named groups, and the latest result of each tool."""

    groups: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, JsonValue] = field(default_factory=dict)


def unknown_placeholder(template: JsonValue, groups: Collection[str]) -> str | None:
    """Return the first placeholder, anywhere in ``template``, that names neither a group nor a result's field."""
    names = (name for text in _texts(template) for name in _names(text))
    return next((name for name in names if name not in groups and not _RESULT.fullmatch(name)), None)


def render(template: JsonValue, values: Values) -> JsonValue:
    """Fill in the placeholders of a text, or of every text inside a list or mapping.

    A text that is exactly one placeholder becomes the value itself, of whatever type; keys are left alone.
    """
    match template:
        case str():
            whole = _BRACES.fullmatch(template)
            if whole is not None and whole["name"] is not None:
                return _value(whole["name"], values)
            return render_text(template, values)
        case list():
            return [render(item, values) for item in template]
        case dict():
            return {key: render(item, values) for key, item in template.items()}
        case _:
            return template


def render_text(template: str, values: Values) -> str:
    """Fill in the placeholders of a text; ``{{`` and ``}}`` stand for single braces.

    A result that is not there renders as ``{result.TOOL.FIELD: not available}``: visible, never an error.
    """

    def filled(match: re.Match[str]) -> str:
        name = match["name"]
        return _LITERAL[match[0]] if name is None else _as_text(_value(name, values))

    return _BRACES.sub(filled, template)


def _value(name: str, values: Values) -> JsonValue:
    if name in values.groups:
        return values.groups[name]
    missing = f"{{{name}: not available}}"
    reference = _RESULT.fullmatch(name)
    if reference is None or reference["tool"] not in values.results:
        return missing
    try:
        return _field(values.results[reference["tool"]], reference["path"].split("."))
    except (LookupError, ValueError):
        return missing


def _field(value: JsonValue, path: Sequence[str]) -> JsonValue:
    for key in path:
        match value:
            case dict():
                value = value[key]
            case list() if key.isdecimal():
                value = value[int(key)]
            case _:
                raise LookupError(key)
    return value


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _names(text: str) -> Iterator[str]:
    return (match["name"] for match in _BRACES.finditer(text) if match["name"] is not None)


def _texts(template: JsonValue) -> Iterator[str]:
    match template:
        case str():
            yield template
        case list():
            for item in template:
                yield from _texts(item)
        case dict():
            for item in template.values():
                yield from _texts(item)
