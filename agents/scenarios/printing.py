"""A played scenario as people read it, with nothing in it that differs from run to run. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
PATCHED = {"keys_per_turn": "PATCHED for this run: a call's key is its turn's, not its operation's."}


def printed(played: Mapping[str, Any], *, history: bool = False) -> str:
    """Return the timeline of a scenario, what the world did and, if asked for, what each turn's model read and said."""
    lines = [f"{played['name']}: {played['shows']}"]
    if played["patched"]:
        lines.append(PATCHED[played["patched"]])
    for act in played["acts"]:
        lines += ["", f"{act['at']}  {act['act']}", *(text for event in act["events"] for text in _event(event))]
    lines += ["", "The world did:", *_deeds(played["world"])]
    if history:
        lines += [text for turn in played["history"] for text in _turn(turn)]
    return stable("\n".join(lines) + "\n")


def stable(text: str) -> str:
    """Return a text with its ids numbered in the order in which they come."""
    seen: dict[str, str] = {}
    return _ID.sub(lambda found: seen.setdefault(found[0], f"id-{len(seen) + 1}"), text)


def _event(event: Mapping[str, Any]) -> Iterator[str]:
    turn = f"{event['turn']} for {event['for']}" if event["turn"] else ""
    yield f"  {event['seq']:>4}  {event['type']:<20}  {turn:<14}  {event['text']}".rstrip()
    for line in event["more"].splitlines():
        yield f"{'':46}{line}".rstrip()


def _deeds(deeds: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = list(dict.fromkeys(deed["key"] for deed in deeds))
    return [_deed(deed, keys.index(deed["key"]) + 1) for deed in deeds] or ["  nothing"]


def _deed(deed: Mapping[str, Any], key: int) -> str:
    told = {name: value for name, value in deed["args"].items() if value != ""}
    answer = deed["answer"].get("reservation") or deed["answer"].get("sent") or deed["answer"].get("refund")
    return f"  key {key}  {deed['deed']:<8}  {json.dumps(told, ensure_ascii=False)}  {answer}"


def _turn(turn: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"The model in {turn['turn']}:"
    for text in turn["lines"]:
        first, *rest = text.splitlines() or [""]
        yield f"  {first}"
        yield from (f"    {line}" for line in rest)
