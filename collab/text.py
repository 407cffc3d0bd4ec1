"""The one gate for every text a person, a client, a model or a source gives (FAILURES O1).

Pure. What passes is the same text on every database: no NUL, no half of a surrogate pair, one kind of line end, and
no control character that is not visible. What is shown in a label (a consent question, a source's data) goes through
:func:`visible`, so that nothing hidden can change what a reader believes they read (DESIGN 7).
"""

from __future__ import annotations

import re

LINE_LENGTH = 200
"""The longest title or name, in characters."""

_KEPT_CONTROLS = "\n\t"
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in _KEPT_CONTROLS}
_CONTROLS = _PICTURES | {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}{_ZERO_WIDTH}]")
_BIDI_CONTROL = re.compile(f"[{_BIDI}]")
_NOTHING_TO_READ = re.compile(f"[\\s\ufe0f{_BIDI}{_ZERO_WIDTH}]*")
_REFUSED = re.compile("[\x00\ud800-\udfff]")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class BadText(ValueError):
    """A text was refused. ``code`` is stable: ``not_text``, ``nul``, ``surrogate``, ``blank`` or ``too_long``."""

    def __init__(self, code: str, because: str) -> None:
        super().__init__(because)
        self.code = code
        self.because = because


def clean_text(value: object, *, limit_bytes: int, name: str = "the text", allow_blank: bool = False) -> str:
    """Return the text as it is stored and shown, or refuse it (FAILURES O1).

    Line ends become ``\\n``. Control characters other than newline and tab are replaced by visible signs. Cleaning
    a clean text changes nothing, so a caller that wants to tell its author compares before and after.

    Args:
        value: what was given; anything but a ``str`` is refused.
        limit_bytes: the most the cleaned text may take, in bytes of UTF-8.
        name: what a refusal calls the text ("the message").
        allow_blank: whether a text with nothing to read in it passes.

    Raises:
        BadText: it is no text, holds a character no database keeps, is blank, or is too long.
    """
    text = _clean(value, name)
    if not allow_blank:
        _require_something_to_read(text, name)
    size = len(text.encode())
    if size > limit_bytes:
        raise BadText("too_long", f"{name} takes {size:,} bytes; at most {limit_bytes:,} fit")
    return text


def clean_line(
    value: object, *, name: str = "the name", limit_chars: int = LINE_LENGTH, allow_blank: bool = False
) -> str:
    """Return a title or name: one line, trimmed, runs of whitespace folded to a space, bidi controls shown escaped.

    Args:
        value: what was given; anything but a ``str`` is refused.
        name: what a refusal calls the line ("the title").
        limit_chars: the most the cleaned line may hold, in characters.
        allow_blank: whether a line with nothing to read in it passes.

    Raises:
        BadText: it is no text, holds a character no database keeps, is blank, or is too long.
    """
    line = _BIDI_CONTROL.sub(_escape, " ".join(_clean(value, name).split()))
    if not allow_blank:
        _require_something_to_read(line, name)
    if len(line) > limit_chars:
        raise BadText("too_long", f"{name} has {len(line):,} characters; at most {limit_chars:,} fit")
    return line


def speakable(text: str) -> str:
    """Return a model's text as it is shown and stored: what :func:`clean_text` refuses is visibly replaced, so that
    what a model says is never lost. Takes any ``str``, never fails."""
    return _plain(text.encode("utf-8", "replace").decode())


def visible(text: str) -> str:
    """Return the text with every control, bidi and zero-width character written out, as in ``\\u202e`` (DESIGN 7).

    For labels on one line: newlines and tabs are written out too. Takes any ``str``, never fails.
    """
    return _HIDDEN.sub(_escape, text)


def _clean(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BadText("not_text", f"{name} is not text")
    if refused := _REFUSED.search(value):
        raise _unstorable(refused, name)
    return _plain(value)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


def _unstorable(found: re.Match[str], name: str) -> BadText:
    place = f"at character {found.start() + 1:,}"
    if found[0] == "\0":
        return BadText("nul", f"{name} holds a NUL (U+0000) {place}")
    return BadText("surrogate", f"{name} holds half of a surrogate pair (U+{ord(found[0]):04X}) {place}")


def _require_something_to_read(text: str, name: str) -> None:
    if not text:
        raise BadText("blank", f"{name} is empty")
    if _NOTHING_TO_READ.fullmatch(text):
        raise BadText("blank", f"{name} has nothing to read in it")


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT_ESCAPES.get(character) or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
