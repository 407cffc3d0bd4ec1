"""Values shown to people with nothing hidden in them (DESIGN 7, Consent; REPLIES, Outcomes). Pure."""

from __future__ import annotations

import unicodedata

_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""


def escaped(text: str) -> str:
    """Return a text in which control, bidirectional and other invisible characters stand as ``⟨U+202E⟩``."""
    return "".join(f"⟨U+{ord(char):04X}⟩" if _is_hidden(char) else char for char in text)


def _is_hidden(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "Zs":
        return char != " "
    point = ord(char)
    is_selector = 0xFE00 <= point <= 0xFE0F or 0x180B <= point <= 0x180F or 0xE0100 <= point <= 0xE01EF
    return category in _CONTROL or char in BLANK or is_selector
