"""When the arguments of two calls are the same to whoever reads them (DESIGN 7; FAILURES 5.2, attack 25). Pure."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from agents.replies.escaping import BLANK

_UNSEEN = frozenset({"Cc", "Cf"})


def as_read(args: str) -> Any:
    """Return arguments with each text as it is read: without the blanks and marks that nobody sees, in one case.

    Args:
        args: canonical JSON.
    """
    return _read(json.loads(args)) if args else {}


def _read(value: Any) -> Any:
    match value:
        case dict():
            return {name: _read(part) for name, part in value.items()}
        case list():
            return [_read(part) for part in value]
        case str():
            shown = unicodedata.normalize("NFKC", value)
            return " ".join("".join(char for char in shown if not _is_unseen(char)).casefold().split())
    return value


def _is_unseen(char: str) -> bool:
    return char in BLANK or (unicodedata.category(char) in _UNSEEN and not char.isspace())
