"""What a handler makes of a delivery: the interface of the handlers in this folder (DESIGN 8). Pure.

A handler is a function of what a source sent, read as JSON, in a module named after it; ``handlers.py`` lists them.
It says what the delivery is about and what it is for. It decides nothing about rights, and reads nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

LONGEST_SAID = 4_000
"""Characters of what a delivery says to people or to the agent."""

LONGEST_SUBJECT = 200
MOST_SUBJECTS = 20

Does = Literal["notice", "turn", "ignore"]


class Unreadable(ValueError):
    """A body that its handler cannot read; its text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a delivery says.

    Attributes:
        type: what the source calls it, like ``table.offered``.
        says: what people, or the agent, are told: at most ``LONGEST_SAID`` characters of text, nobody's instruction.
        does: whether people are told (``notice``), a turn is asked for (``turn``), or neither.
        subjects: what it is about, the first that has a route deciding where it goes: ``reservation R1``.
        moot: subjects of which nothing is left to wait for; timers about them do not fire.
        gone: subjects that an effect of ours made and that are no more.
    """

    type: str
    says: str
    does: Does
    subjects: tuple[str, ...] = ()
    moot: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


Handler = Callable[[Mapping[str, Any]], Read]
"""Reads a body, which is a JSON object.

Raises:
    Unreadable: its shape is not one that this source sends.
"""


def text_of(body: Mapping[str, Any], name: str, *, longest: int = LONGEST_SAID, default: str | None = None) -> str:
    """Return a field that must be text, without blanks around it.

    Args:
        default: what an absent field counts as; None: it must be there.

    Raises:
        Unreadable: it is absent, empty, no text, or longer than ``longest`` characters.
    """
    value = body.get(name, default)
    if not isinstance(value, str):
        raise Unreadable(f"Its {name!r} is not text.")
    value = value.strip()
    if not value and default is None:
        raise Unreadable(f"Its {name!r} is empty.")
    if len(value) > longest:
        raise Unreadable(f"Its {name!r} is longer than {longest} characters.")
    return value
