"""How a person is asked for consent: worded by us from the frozen arguments (DESIGN 7, Consent). Pure.

Nothing here is given an event's or a model's text, and every argument is shown: what a tool's own words leave out
stands behind them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

from agents.replies.escaping import escaped
from agents.sources.saying import said_day

LONGEST_VALUE = 200
"""Characters of one value that are shown; how many there are is said of a longer one."""

LONGEST_NAME = 80
_PLACEHOLDER = re.compile(r"\{(?:args|argument)\.([A-Za-z_][\w.]*)(?:\|(\w+))?\}")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as it is shown; the whole of it where that is shortened, else None."""

    name: str
    value: str
    whole: str | None = None


Part = tuple[Literal["words", "value"], str]


@dataclass(frozen=True, slots=True)
class Worded:
    """A step as people read it: what it does in words, and each of its arguments."""

    label: str
    text: str
    arguments: tuple[Argument, ...]
    parts: tuple[Part, ...] = ()
    """The text again, in parts: what is ours, and each value."""

    def as_json(self) -> dict[str, Any]:
        """Return the step's words as an action's row keeps them."""
        return {
            "label": self.label,
            "text": self.text,
            "parts": self.parts,
            "arguments": [asdict(argument) for argument in self.arguments],
        }


def worded(number: int, origin_name: str, steps: Sequence[Worded], minutes: int) -> str:
    """Return the question of an action: who asks, every step in order, and how long it stands."""
    told = "; then ".join(step.text for step in steps)
    end = "" if told.rstrip("'”").endswith((".", "?", "!", "…")) else "."
    name = escaped(origin_name[:LONGEST_NAME])
    return f"A{number} (from {name}): {told}{end} Approve within {minutes} minutes?"


def step_worded(label: str, args: str, template: str = "") -> Worded:
    """Return a step in words.

    Args:
        label: what people call its tool.
        args: canonical JSON of an object.
        template: what the tool's pack says of it, ``Book a table for {args.party}``; "" where it says nothing.
    """
    values: Mapping[str, Any] = json.loads(args) if args else {}
    filled = _filled_in(values, template)
    told = {found[1] for found in _PLACEHOLDER.finditer(template) if found[1] in values}
    left = [(name, value) for name, value in values.items() if name not in told and not _is_nothing(value)]
    parts = _parts(label, filled, left)
    text = "".join(part for _, part in parts)
    return Worded(label, text, tuple(_argument(name, value) for name, value in values.items()), parts)


def _filled_in(values: Mapping[str, Any], template: str) -> list[Part]:
    parts: list[Part] = []
    end = 0
    for found in _PLACEHOLDER.finditer(template):
        parts += [("words", template[end : found.start()]), ("value", _filled(values, found[1], found[2] or ""))]
        end = found.end()
    return [*parts, ("words", template[end:])] if template else []


def _parts(label: str, filled: Sequence[Part], left: Sequence[tuple[str, Any]]) -> tuple[Part, ...]:
    """What the tool's words say, or its label, and behind it each argument that they leave out."""
    rest: list[Part] = []
    for name, value in left:
        rest += [("words", f"{', ' if rest else ''}{escaped(_named(name))}: "), ("value", shown(value))]
    opened, closed = (" (", ")") if filled else (": ", "")
    behind: list[Part] = [("words", opened), *rest, ("words", closed)] if rest else []
    return tuple(part for part in [*(filled or [("words", label)]), *behind] if part[1])


def shown(value: Any) -> str:
    """Return a value as it is shown: on one line, nothing in it hidden, shortened where it is long."""
    text = _text(value)
    if len(text) <= LONGEST_VALUE:
        return escaped(text)
    return f"{escaped(text[:LONGEST_VALUE])}… ({len(text):,} characters)"


def _is_nothing(value: Any) -> bool:
    """An argument that was left out, or left empty, has nothing to show."""
    return value is None or value in ("", [])


def _argument(name: str, value: Any) -> Argument:
    text = _text(value)
    return Argument(escaped(_named(name)), shown(value), escaped(text) if len(text) > LONGEST_VALUE else None)


def _named(name: str) -> str:
    return name.replace("_", " ")[:LONGEST_NAME]


def _filled(values: Mapping[str, Any], path: str, how: str) -> str:
    value: Any = values
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return _day(value) if how == "weekday" else shown(value)


def _day(value: Any) -> str:
    """Return a day with its weekday: a weekday alone could be any week's."""
    try:
        return said_day(date.fromisoformat(value))
    except (TypeError, ValueError):
        return shown(value)


def _text(value: Any) -> str:
    match value:
        case str():
            return value or "(empty)"
        case None:
            return "none"
    return json.dumps(value, ensure_ascii=False)
