"""What is said of each tool's calls, where it comes from, and how it reads on a call (REPLIES, Outcomes)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.db.models import Q

from agents.models.replies import Phrasing
from agents.models.turns import Call
from agents.replies.mending import Setting
from agents.replies.phrasings import LANGUAGES, Phrasings, defaults
from agents.replies.record import OUTCOMES, CallRecord, Outcome
from agents.replies.words import ToolWords, name_words
from agents.tools.phrasings import standing
from agents.tools.registry import SETTING, TOOLS
from agents.turns.spoken import record_of
from collab.models.threads import Thread
from permissions.actors import Actor, Person
from permissions.grants import readable

_PART = re.compile(r"\{(argument|result)\.([^{}]+)\}")

MADE_UP: dict[str, Any] = {"integer": 3, "number": 12.5, "boolean": True}
"""What an argument of each type holds in a call that is made up; its name stands for every other."""

REASON = "the reason it was given"


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a tool's calls with one outcome in one language.

    Attributes:
        source: ``default``, ``pack`` or ``edited``.
        by, at: who edited it last and when; also who gave the word back to the pack.
    """

    tool: str
    called: str
    outcome: str
    language: str
    text: str
    source: str
    by: Actor | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """How a phrasing reads.

    Attributes:
        call: the call it is read on; None: one that was made up.
    """

    text: str
    call: Call | None


def said_now() -> list[Said]:
    """Return what is said of every tool's calls at present, in one query: by tool (those that change something first),
    language and outcome."""
    tools = sorted(SETTING.words.tools.values(), key=lambda tool: tool.effect != "write")
    edited = {(row.tool, row.language, row.outcome): row for row in standing()}
    return [
        _said(tool, language, outcome, edited.get((tool.name, language, outcome)))
        for tool in tools
        for language in LANGUAGES
        for outcome in OUTCOMES
    ]


def packs_text(tool: str, outcome: str, language: str) -> tuple[str, str]:
    """Return what is said where nobody edited it, and whether that is the tool's ``pack`` or the ``default``."""
    own = SETTING.phrasings.own.get(tool, {}).get(language, {}).get(outcome)
    return (own, "pack") if own else (defaults(language)[outcome], "default")


def preview(actor: Person, tool: str, outcome: str, language: str, text: str) -> Preview:
    """Return how a text reads on the newest call of a tool with an outcome whose arguments someone may read, or on one
    that is made up where there is none. Two queries at most.

    Args:
        text: a phrasing that was checked.
    """
    call = _newest_readable(actor, tool, outcome)
    record = record_of(call) if call else _made_up(tool, outcome, text)
    says = Setting(SETTING.words, Phrasings({tool: {language: {outcome: text}}}))
    return Preview(says.say(record, language), call)


def _said(tool: ToolWords, language: str, outcome: str, edited: Phrasing | None) -> Said:
    text, source = packs_text(tool.name, outcome, language)
    if edited is None:
        return Said(tool.name, tool.in_words, outcome, language, text, source)
    text, source = (edited.text, "edited") if edited.text else (text, source)
    return Said(tool.name, tool.in_words, outcome, language, text, source, edited.by, edited.at)


def _newest_readable(actor: Person, tool: str, outcome: str) -> Call | None:
    """A call's arguments are for its turn's own person and, once it is shared, for the thread's viewers."""
    theirs = Q(turn__on_behalf_of=actor) | Q(shared_at__isnull=False)
    seen = readable(Thread.objects.all(), actor)
    found = Call.objects.filter(theirs, tool=tool, outcome=outcome, turn__thread__in=seen)
    newest = found.select_related("turn__thread").defer("turn__history", "turn__text", "turn__known")
    return newest.order_by("-sent_at", "-pk").first()


def _made_up(tool: str, outcome: str, text: str) -> CallRecord:
    args, result = dict(_arguments(tool)), dict[str, Any]()
    for part, path in _PART.findall(text):
        _put(args if part == "argument" else result, path.split("."))
    reason = REASON if outcome in {"failed", "refused"} else ""
    return CallRecord(tool, args, cast("Outcome", outcome), result, reason)


def _arguments(tool: str) -> Iterator[tuple[str, Any]]:
    if found := TOOLS.get(tool):
        for name, schema in found.args.model_json_schema().get("properties", {}).items():
            yield name, MADE_UP.get(schema.get("type", ""), _example(name))


def _put(tree: dict[str, Any], path: list[str]) -> None:
    """Make a value up where a placeholder looks for one, unless there is one."""
    *above, last = path
    for name in above:
        if not isinstance(tree.get(name), dict):
            tree[name] = {}
        tree = tree[name]
    tree.setdefault(last, _example(last))


def _example(name: str) -> str:
    return f"‹{' '.join(name_words(name)) or name}›"
