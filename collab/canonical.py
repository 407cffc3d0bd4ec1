"""Canonical JSON and the hashes that stand on it: one value, one text, one hash (DESIGN 4 and 7).

Pure. Follows RFC 8785 for what it accepts and accepts less: every number is finite and no larger than 2**53 - 1, so
that Python, both databases and a browser read the same number; no string holds what PostgreSQL cannot keep.
Frozen arguments, operation keys and the log's hash chain compare these texts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from decimal import Decimal
from math import isfinite
from typing import NoReturn

LARGEST_NUMBER = 2**53 - 1
MAX_DEPTH = 64
"""How many lists and objects may lie in each other."""

_SALT_BYTES = 16
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BadJson(ValueError):
    """A JSON text or value was refused. ``code`` is stable: ``not_json``, ``too_long``, ``too_deep``,
    ``duplicate_key``, ``number`` or ``text``."""

    def __init__(self, code: str, because: str) -> None:
        super().__init__(because)
        self.code = code
        self.because = because


def canonical(value: object, *, max_depth: int = MAX_DEPTH) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, numbers as RFC 8785 writes them (1.0 is 1).

    Raises:
        BadJson: the value is not JSON, is nested deeper than ``max_depth``, or holds a number or string that not every
            reader would read alike.
    """
    check_json(value, max_depth=max_depth)
    return _write(value)


def parse_json(text: str | bytes, *, max_bytes: int, max_depth: int = MAX_DEPTH) -> object:
    """Read a JSON text that someone else wrote (FAILURES J1). What it returns, :func:`canonical` accepts.

    Args:
        text: the JSON text; bytes are read as UTF-8.
        max_bytes: the most it may take, in bytes of UTF-8.
        max_depth: how many lists and objects may lie in each other.

    Raises:
        BadJson: it is too long, not JSON, nested too deeply, repeats a key, or holds NaN, Infinity, a number beyond
            2**53 - 1, a NUL or half of a surrogate pair.
    """
    decoded = _decoded(text, max_bytes)
    try:
        value = json.loads(
            decoded,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise BadJson("not_json", f"not JSON: {error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise _too_deep() from error
    check_json(value, max_depth=max_depth)
    return value


def check_json(value: object, *, max_depth: int = MAX_DEPTH) -> None:
    """Refuse a value that :func:`canonical` has no text for.

    Raises:
        BadJson: as for :func:`canonical`.
    """
    match value:
        case None | bool():
            return
        case str():
            _check_string(value)
        case int() | float():
            _check_number(value)
        case list() | tuple():
            _check_room(max_depth)
            for item in value:
                check_json(item, max_depth=max_depth - 1)
        case dict():
            _check_room(max_depth)
            for key, item in value.items():
                _check_key(key)
                check_json(item, max_depth=max_depth - 1)
        case _:
            raise BadJson("not_json", f"{type(value).__name__} is not a JSON value")


def event_hash(prev: str, *parts: str | None) -> str:
    """Return the hash of one event, chained to the event before it, as 64 hex digits (DESIGN 4, table Event).

    Each part goes in with its length, so that moving a character from one field to the next changes the hash, and
    None differs from the empty text.

    Args:
        prev: the hash of the event before, "" for a thread's first.
        parts: the stored fields of the event, always in the same order and as the texts that are stored.
    """
    digest = hashlib.sha256(b"accord.event.1")
    for part in (prev, *parts):
        encoded = b"" if part is None else part.encode()
        digest.update(b"-" if part is None else b"+")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def content_hash(salt: bytes, text: str) -> str:
    """Return what an event keeps of a text: 64 hex digits that say nothing once the salt is erased (DESIGN 6, Events).

    Args:
        salt: at least 16 random bytes, one salt per text, kept beside the text and erased with it.
        text: the text as it is stored.

    Raises:
        ValueError: the salt is too short to hide a guessable text.
    """
    if len(salt) < _SALT_BYTES:
        raise ValueError(f"a salt has at least {_SALT_BYTES} bytes")
    return hmac.new(salt, text.encode(), hashlib.sha256).hexdigest()


def _decoded(text: str | bytes, max_bytes: int) -> str:
    try:
        encoded = text if isinstance(text, bytes) else text.encode()
        decoded = text if isinstance(text, str) else text.decode()
    except UnicodeError as error:
        raise BadJson("text", "not UTF-8 text") from error
    if len(encoded) > max_bytes:
        raise BadJson("too_long", f"{len(encoded):,} bytes; at most {max_bytes:,} fit")
    return decoded.removeprefix("\ufeff")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise BadJson("duplicate_key", f"the key {key!a} occurs twice")
        found[key] = value
    return found


def _whole(digits: str) -> int:
    # Measured before it is converted: a number of a million digits takes minutes to read.
    if len(digits) > len(str(-LARGEST_NUMBER)):
        raise _number_too_large()
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson("number", f"{name} is not a JSON number")


def _check_number(value: float) -> None:
    if isinstance(value, float) and not isfinite(value):
        _refuse_constant(str(value))
    if abs(value) > LARGEST_NUMBER:
        raise _number_too_large()


def _number_too_large() -> BadJson:
    return BadJson("number", f"a number is beyond {LARGEST_NUMBER:,}; send it as text")


def _check_string(value: str) -> None:
    if found := _UNSTORABLE.search(value):
        raise BadJson("text", f"a text holds U+{ord(found[0]):04X} at character {found.start() + 1:,}")


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise BadJson("not_json", f"a key is {type(key).__name__}, not text")
    _check_string(key)


def _check_room(depth_left: int) -> None:
    if depth_left <= 0:
        raise _too_deep()


def _too_deep() -> BadJson:
    return BadJson("too_deep", "lists and objects are nested too deeply")


def _write(value: object) -> str:
    match value:
        case dict():
            members = sorted(value.items(), key=_utf16)
            return "{" + ",".join(f"{_write(key)}:{_write(item)}" for key, item in members) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_write, value)) + "]"
        case float():
            return _write_float(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _utf16(member: tuple[str, object]) -> bytes:
    return member[0].encode("utf-16-be")


def _write_float(value: float) -> str:
    if value.is_integer():
        return str(int(value))
    if abs(value) >= 1e-6:
        return format(Decimal(repr(value)), "f")
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent)}"
