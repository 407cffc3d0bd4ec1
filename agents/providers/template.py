"""Placeholders in a script: ``{group}``, ``{day.group}``, ``{number.group}`` and ``{result.TOOL.FIELD}``
(docs/scripted.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from pydantic import JsonValue

_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}")
_RESULT = re.compile(r"result\.(?P<tool>\w+)\.(?P<path>[^\s.]+(?:\.[^\s.]+)*)")
_READ = re.compile(r"(?P<as>day|number)\.(?P<group>\w+)")
_WRITTEN_OUT = re.compile(r"\b(?:[1-9]|[12]\d|3[01]) [a-z]{3,9} [1-9]\d{3}\Z")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LITERAL = {"{{": "{", "}}": "}"}


@dataclass(frozen=True)
class Values:
    """What placeholders stand for: a match's named groups, the latest result of each tool, and days from today on."""

    groups: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, JsonValue] = field(default_factory=dict)
    today: date = field(default_factory=lambda: datetime.now(UTC).date())


def unknown_placeholder(template: JsonValue, groups: Collection[str]) -> str | None:
    """Return the first placeholder, anywhere in ``template``, that names neither a group nor a result's field."""
    names = (name for text in _texts(template) for name in _names(text))
    return next((name for name in names if not _is_known(name, groups)), None)


def _is_known(name: str, groups: Collection[str]) -> bool:
    reading = _READ.fullmatch(name)
    return name in groups or _RESULT.fullmatch(name) is not None or bool(reading and reading["group"] in groups)


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
    if (reading := _READ.fullmatch(name)) and reading["group"] in values.groups:
        text = values.groups[reading["group"]]
        return _day(text, values.today) if reading["as"] == "day" else _number(text)
    missing = f"{{{name}: not available}}"
    reference = _RESULT.fullmatch(name)
    if reference is None or reference["tool"] not in values.results:
        return missing
    try:
        return _field(values.results[reference["tool"]], reference["path"].split("."))
    except (LookupError, ValueError):
        return missing


def _day(text: str, today: date) -> str:
    """Return the first day of that name from today on, or a day written out, as ``2027-01-31``; what is neither stays
    as it is."""
    said = text.strip().lower()
    if found := _WRITTEN_OUT.search(said):
        return _written_out(found[0]) or text
    if said in {"today", "tonight", "tomorrow"}:
        return (today + timedelta(days=said == "tomorrow")).isoformat()
    if said[:3] not in _DAYS:
        return text
    return (today + timedelta(days=(_DAYS.index(said[:3]) - today.weekday()) % 7)).isoformat()


def _written_out(said: str) -> str | None:
    try:
        return datetime.strptime(said, "%d %B %Y").date().isoformat()
    except ValueError:  # the 31st of June
        return None


def _number(text: str) -> JsonValue:
    """Return a whole number or one with decimals; what is neither stays as it is."""
    if re.fullmatch(r"[0-9]{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"[0-9]{1,12}\.[0-9]{1,6}", text) else text


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
