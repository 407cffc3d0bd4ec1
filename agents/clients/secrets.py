"""The secrets of tokens: making one, telling whether a text can be one, finding one where it must not be. Pure."""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from binascii import crc32
from collections.abc import Iterator
from urllib.parse import unquote

PREFIX = "accord_"
SHOWN = len(PREFIX) + 6
"""How much of a secret is shown ever after: what tells two apart, and far from what one could be guessed from."""

BYTES = 32
_FORM = r"accord_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}"
_SECRET = re.compile(_FORM)
_BODY = len(PREFIX) + 43


def secret_made() -> str:
    """Return a new secret: ``accord_``, 32 random bytes, and a checksum that tells it from a mistyped one."""
    body = f"{PREFIX}{_text(secrets.token_bytes(BYTES))}"
    return f"{body}{_checksum(body)}"


def can_be_one(text: str) -> bool:
    """Say whether a text has the form and the checksum of a secret."""
    return _SECRET.fullmatch(text) is not None and _checksum(text[:_BODY]) == text[_BODY:]


def digest_of(secret: str) -> str:
    """Return what is kept of a secret: it has 256 random bits, so nothing slower than SHA-256 is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def found_in(*texts: str) -> list[str]:
    """Return the secrets that stand in some texts, each once, whether written out or percent-encoded."""
    return list(dict.fromkeys(secret for text in texts for secret in _found(text)))


def _found(text: str) -> Iterator[str]:
    for read in {text, unquote(text)}:
        if PREFIX in read:
            starts = (found.start() for found in re.finditer(PREFIX, read))
            yield from (match[0] for at in starts if (match := _SECRET.match(read, at)) and can_be_one(match[0]))


def _checksum(body: str) -> str:
    return _text(crc32(body.encode()).to_bytes(4, "big"))


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
