"""Cases: replies with their calls, as ``manage.py replies`` reads them (REPLIES, Cases)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.replies.check import check
from agents.replies.mending import Checked, Setting
from agents.replies.phrasings import phrasings_of
from agents.replies.record import CallRecord, Record, record_of
from agents.replies.words import ToolWords, compile_words, tool_words


@dataclass(frozen=True)
class Case:
    """A reply and the record it is held to."""

    reply: str
    record: Record


def case_of(row: Any) -> Case:
    """Return the case of a row ``{"calls": […], "earlier": […], "reply": "…"}``.

    Raises:
        ValueError: it is no such row.
    """
    if not isinstance(row, dict) or not isinstance(row.get("reply"), str):
        raise ValueError("a row is an object with a reply")
    for key in ("calls", "earlier"):
        calls = row.get(key) or []
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            raise ValueError(f"{key} is a list of calls")
    return Case(row["reply"], record_of(row))


def setting_of(cases: Iterable[Case], described: Any = None) -> Setting:
    """Return what cases are checked with: every tool they name, by its name and arguments, and those described.

    Args:
        described: tools' words, as name → words or a list of objects with a name; ``parameters`` or ``args`` name the
            arguments, ``phrasings`` are by outcome or by language and outcome.

    Raises:
        ValueError: a description is not understood.
    """
    arguments: dict[str, dict[str, None]] = {}
    effects: dict[str, str] = {}
    for case in cases:
        for call in case.record.all:
            arguments.setdefault(call.name, {}).update(dict.fromkeys(call.args))
            if call.effect:
                effects[call.name] = call.effect
    given = _described(described)
    for name, (names, _) in given.items():
        arguments.setdefault(name, {}).update(dict.fromkeys(names))
    tools = [
        _tool(
            name,
            tuple(names),
            {**({"effect": effects[name]} if name in effects else {}), **given.get(name, ((), {}))[1]},
        )
        for name, names in arguments.items()
    ]
    own = {tool.name: tool.phrasings for tool in tools if tool.phrasings}
    return Setting(compile_words(tools), phrasings_of(own))


def row_of(checked: Checked) -> Mapping[str, Any]:
    """Return what is printed of a checked reply: its text, and where which rule did what."""
    return {
        "reply": checked.text,
        "rulings": [
            {"span": [ruling.start, ruling.end], "rule": ruling.rule, "tool": ruling.tool, "action": ruling.action}
            for ruling in checked.rulings
        ],
    }


def counted(results: Iterable[Checked]) -> Mapping[str, int]:
    """Return how many replies there were, how many changed, and how often each rule did what to which tool."""
    counts: dict[str, int] = {"replies": 0, "changed": 0}
    for checked in results:
        counts["replies"] += 1
        counts["changed"] += bool(checked.rulings)
        for ruling in checked.rulings:
            key = f"{ruling.rule} {ruling.tool} {ruling.action}".replace("  ", " ")
            counts[key] = counts.get(key, 0) + 1
    return counts


def checked_case(case: Case, setting: Setting) -> Checked:
    """Return a case's reply, checked."""
    return check(case.reply, case.record, setting)


def writes_of(case: Case, setting: Setting) -> list[CallRecord]:
    """Return the writes of a case's turn that were done."""
    writes = [
        call
        for call in case.record.calls
        if (call.effect == "write" if call.effect else setting.words.is_write(call.name))
    ]
    return [call for call in writes if call.outcome == "done"]


def _tool(name: str, arguments: Sequence[str], given: Mapping[str, Any]) -> ToolWords:
    return tool_words(name, arguments, given)


def _described(described: Any) -> dict[str, tuple[tuple[str, ...], dict[str, Any]]]:
    if described is None:
        return {}
    if isinstance(described, dict) and isinstance(described.get("tools"), (list, dict)):
        described = described["tools"]
    if isinstance(described, list):
        if not all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in described):
            raise ValueError("each tool is an object with a name")
        described = {item["name"]: {key: part for key, part in item.items() if key != "name"} for item in described}
    if not isinstance(described, dict):
        raise ValueError("tools are described by name")
    return {str(name): _parted(str(name), words or {}) for name, words in described.items()}


def _parted(name: str, words: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    if not isinstance(words, dict):
        raise ValueError(f"{name}: a tool's words are an object")
    named = words.get("args") or words.get("arguments") or words.get("parameters") or {}
    if isinstance(named, dict) and isinstance(named.get("properties"), dict):
        named = named["properties"]
    rest = {
        key: part
        for key, part in words.items()
        if key not in {"args", "arguments", "parameters", "description", "label", "consent"}
    }
    return tuple(str(argument.get("name")) if isinstance(argument, dict) else str(argument) for argument in named), rest
