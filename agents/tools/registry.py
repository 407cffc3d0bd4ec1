"""The tools an agent can call: those of the packs listed here. Adding a pack is adding a folder and its line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from pydantic_ai.tools import ToolDefinition

from agents.replies.mending import Setting
from agents.replies.phrasings import phrasings_of
from agents.replies.words import compile_words, tool_words
from agents.tools.calls import tools as calls
from agents.tools.contract import Tool
from agents.tools.documents import tools as documents
from agents.tools.people import tools as people
from agents.tools.restaurant import tools as restaurant
from agents.tools.shop import tools as shop
from agents.tools.timers import tools as timers

PACKS: tuple[ModuleType, ...] = (calls, documents, people, restaurant, shop, timers)


def tools_of(packs: Iterable[ModuleType]) -> dict[str, Tool]:
    """Return the tools that some packs define, by name.

    Raises:
        ValueError: two of them have one name.
    """
    found: dict[str, Tool] = {}
    for pack in packs:
        for value in vars(pack).values():
            if isinstance(value, Tool):
                if value.name in found:
                    raise ValueError(f"two tools are called {value.name}")
                found[value.name] = value
    return found


TOOLS = tools_of(PACKS)


def offered(*, own_words: bool, usable: Collection[str]) -> list[ToolDefinition]:
    """Return the tools that a model is offered.

    Args:
        own_words: whether people may read what it writes; where they may not, it is offered nothing that asks them.
        usable: the names of the enabled tools that the turn may use.
    """
    found = [tool for tool in TOOLS.values() if not tool.permission or tool.name in usable]
    return [tool.definition for tool in found if own_words or not tool.asks]


def words_of(packs: Iterable[ModuleType]) -> dict[str, Any]:
    """Return what the packs' ``words.yaml`` say of tools: what people call them, what is said of their calls."""
    found: dict[str, Any] = {}
    for pack in packs:
        if (file := Path(str(pack.__file__)).with_name("words.yaml")).exists():
            found |= yaml.safe_load(file.read_text("utf-8"))
    return found


def setting_of(packs: Iterable[ModuleType]) -> Setting:
    """Return what replies are checked with: the packs' tools, their words and phrasings.

    Raises:
        BadPhrasing: a phrasing names a placeholder that does not exist.
    """
    packs = tuple(packs)
    given, tools = words_of(packs), tools_of(packs)
    arguments = {name: tuple(tool.args.model_fields) for name, tool in tools.items()}
    words = [
        tool_words(name, arguments.get(name, ()), {**_effect(tools.get(name)), **given.get(name, {})})
        for name in dict.fromkeys([*tools, *given])
    ]
    own = {name: said["phrasings"] for name, said in given.items() if "phrasings" in said}
    return Setting(compile_words(words), phrasings_of(own, arguments))


def _effect(tool: Tool | None) -> dict[str, str]:
    return {"effect": tool.effect} if tool else {}


SETTING = setting_of(PACKS)

ASKS: dict[str, str] = {name: said["asks"] for name, said in words_of(PACKS).items() if "asks" in said}
"""How people are asked to approve a call of a tool, where its pack says so: ``Book a table for {args.party}``."""

RECORDED_LABELS = {"propose_change": "Propose change"}
"""What a call is called that was recorded as something the model cannot call by that name."""


def label_of(name: str) -> str:
    """Return what people read for a tool's name, also for one that does not exist."""
    found = TOOLS.get(name)
    return found.label if found else RECORDED_LABELS.get(name, name[:60])
