"""The tools an agent can call: those of the packs listed here. Adding a pack is adding a folder and its line."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from agents.tools.contract import Tool
from agents.tools.documents import tools as documents
from agents.tools.people import tools as people

PACKS: tuple[ModuleType, ...] = (documents, people)


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

RECORDED_LABELS = {"propose_change": "Propose change"}
"""What a call is called that was recorded as something the model cannot call by that name."""


def label_of(name: str) -> str:
    """Return what people read for a tool's name, also for one that does not exist."""
    found = TOOLS.get(name)
    return found.label if found else RECORDED_LABELS.get(name, name[:60])
