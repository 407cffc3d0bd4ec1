"""What a suggested change comes to, in a few words, for lists that show no diff (DESIGN 11).

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from collab.edits import quoted

_MARKER = re.compile(r"^(?:[-*+>]|#{1,6}) ")


def gist(edits: Sequence[Mapping[str, Any]]) -> str:
    """Say what the first of some edits does, and how many more there are: "adds “book the hall” and 2 more".

    Args:
        edits: as a proposal keeps them.

    Returns:
        A phrase without a full stop; empty where no one edit says anything, as for a whole text that was saved.
    """
    told = [phrase for edit in edits if (phrase := _phrase(edit))]
    if not told:
        return ""
    return told[0] if len(told) == 1 else f"{told[0]} and {len(told) - 1} more"


def _phrase(edit: Mapping[str, Any]) -> str:
    match edit:
        case {"find": was, "replace": text} if text.strip():
            return f"puts {_passage(text)} for {_passage(was)}"
        case {"find": was} | {"remove_item": was}:
            return f"removes {_passage(was)}"
        case {"insert": text} | {"append": text} | {"add_item": text}:
            return f"adds {_passage(text)}"
        case {"check": item}:
            return f"checks off {_passage(item)}"
        case {"uncheck": item}:
            return f"opens {_passage(item)} again"
        case {"rename_item": was, "to": text}:
            return f"puts {_passage(text)} for {_passage(was)}"
        case {"restored": version}:
            return f"brings version {version} back"
        case {"title": title}:
            return f"calls it {_passage(title)}"
        case _:
            return ""


def _passage(text: str) -> str:
    line = " ".join(text.split())
    return quoted(_MARKER.sub("", line, count=1))
