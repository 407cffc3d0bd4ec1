"""What we say of a call ourselves, by its outcome and the reply's language (REPLIES, Outcomes)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from agents.replies.escaping import escaped
from agents.replies.record import OUTCOMES, CallRecord, Outcome
from agents.replies.words import ToolWords, name_words

LONGEST_VALUE = 80
"""Characters of one argument's or result's value that are shown."""

LANGUAGES = ("en", "pt")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLAIN = frozenset({"action", "Action", "with", "because", "reason"})
_PART = re.compile(r"(argument|result)\.([A-Za-z_][\w.]*)")


class BadPhrasing(ValueError):
    """A phrasing names a placeholder that does not exist, or has braces that close nothing."""


@dataclass(frozen=True)
class Phrasings:
    """Every tool's own phrasings: tool → language → outcome → text; the defaults stand for the rest."""

    own: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def say(self, tool: ToolWords, call: CallRecord | None, language: str = "en") -> str:
        """Return what is said of a call of a tool; of a tool nobody called when ``call`` is None."""
        outcome: Outcome = call.outcome if call else "not_attempted"
        texts = self.own.get(tool.name, {}).get(language, {})
        text = texts.get(outcome) or defaults(language)[outcome]
        return _filled(text, tool, call or CallRecord(tool.name, outcome=outcome), language)


@cache
def defaults(language: str) -> Mapping[str, str]:
    """Return the shipped phrasings of a language; the English ones where none are shipped."""
    known = language if language in LANGUAGES else "en"
    return dict(yaml.safe_load((files(__package__) / "defaults" / f"{known}.yaml").read_text("utf-8")))


def phrasings_of(
    given: Mapping[str, Mapping[str, Any]], arguments: Mapping[str, Sequence[str]] | None = None
) -> Phrasings:
    """Return the phrasings of tools, validated.

    Args:
        given: tool → language → outcome → text, or tool → outcome → text for English.
        arguments: tool → the names of its arguments; None when they are not known.

    Raises:
        BadPhrasing: a placeholder or an outcome does not exist.
    """
    own: dict[str, dict[str, dict[str, str]]] = {}
    for tool, texts in given.items():
        by_language = texts if set(texts) <= set(LANGUAGES) else {"en": texts}
        for language, outcomes in by_language.items():
            for outcome, text in outcomes.items():
                if outcome not in OUTCOMES:
                    raise BadPhrasing(f"{tool}: no outcome is called {outcome}")
                phrasing_checked(text, None if arguments is None else arguments.get(tool))
                own.setdefault(tool, {}).setdefault(language, {})[outcome] = text
    return Phrasings(own)


def phrasing_checked(text: str, arguments: Sequence[str] | None = None) -> str:
    """Return a phrasing whose placeholders all exist.

    Raises:
        BadPhrasing: one does not, or the text is empty.
    """
    if not isinstance(text, str) or not text.strip():
        raise BadPhrasing("a phrasing has no text")
    for name in _PLACEHOLDER.findall(text):
        part = _PART.fullmatch(name)
        if name not in _PLAIN and part is None:
            raise BadPhrasing(f"no placeholder is called {{{name}}}")
        if part and part[1] == "argument" and arguments is not None and part[2].split(".")[0] not in arguments:
            raise BadPhrasing(f"the tool has no argument {part[2]}")
    if set("{}") & set(_PLACEHOLDER.sub("", text)):
        raise BadPhrasing("a brace closes nothing")
    return text


def _filled(text: str, tool: ToolWords, call: CallRecord, language: str) -> str:
    action, because = escaped(tool.in_words), escaped(call.because)
    arguments = _arguments(call)
    parts = {
        "action": action,
        "Action": action[:1].upper() + action[1:],
        "with": defaults(language)["with"].format(arguments=arguments) if arguments else "",
        "because": f": {because}" if because else "",
        "reason": because,
    }

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name in parts:
            return parts[name]
        source, _, path = name.partition(".")
        return _shown(_at(call.args if source == "argument" else call.returned, path))

    return " ".join(_PLACEHOLDER.sub(fill, text).split())


def _arguments(call: CallRecord) -> str:
    shown = [
        f"{' '.join(name_words(name)) or _shown(name)} {_shown(value)}"
        for name, value in call.args.items()
        if _shown(value)
    ]
    return ", ".join(shown[:8])


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _shown(value: Any) -> str:
    """Return a value as people read it: numbers without idle zeros, on one line, nothing in it hidden."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float() | Decimal():
            return _number(Decimal(str(value)))
        case list() | tuple():
            text = ", ".join(filter(None, map(_shown, value)))
        case dict():
            text = ", ".join(
                f"{' '.join(name_words(str(key))) or key} {_shown(part)}" for key, part in value.items() if _shown(part)
            )
        case _:
            text = str(value)
            if re.fullmatch(r"\d+\.\d+", text):
                text = _number(Decimal(text))
    text = " ".join(text.split())
    return escaped(text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1].rstrip()}…")


def _number(value: Decimal) -> str:
    if not value.is_finite():
        return str(value)
    return format(value.normalize(), "f")
