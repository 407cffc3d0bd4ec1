"""How a source signs what it delivers, and what may be wrong with a signature (DESIGN 8; FAILURES D1 to D3, D12). Pure.

What is signed are the bytes that arrived, so nothing is decoded or parsed before the signature holds. That and the
tolerance of each source, which is of the database's clock, are why this is no call of a library; the tests hold it to
the published one.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

Headers = Sequence[tuple[bytes, bytes]]
"""As ASGI hands them over: names in small letters, in order, repeated where they were sent twice."""

MOST_SIGNATURES = 20
"""Signatures that one delivery may carry: senders list two while they rotate."""

_ID = re.compile(r"[!-\-/-~]{1,200}")  # visible ASCII without the dot, which separates what is signed
_ID_IN_BODY = re.compile(r"[!-~]{1,200}")
_SECONDS = re.compile(r"0|[1-9][0-9]{0,10}")  # eleven digits end in the year 5138, which every database keeps


@dataclass(frozen=True, slots=True)
class Verified:
    """A delivery whose signature holds.

    Args:
        event_id: what the sender calls it, the same each time it is sent.
        sent_at: the signed moment, which moves with each time it is sent.
    """

    event_id: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class BadDelivery:
    """A delivery that is refused, with the HTTP status, a stable code and a sentence for who set the sender up."""

    status: int
    code: str
    because: str


class Scheme(Protocol):
    """How one kind of sender signs."""

    def verify(
        self, headers: Headers, body: bytes, *, secrets: Sequence[str], now: datetime, tolerance: int
    ) -> Verified | BadDelivery:
        """Say what was delivered, or why it is refused.

        Args:
            body: the bytes as they arrived.
            secrets: those that are valid at this moment; a signature by any of them holds.
            now: the moment by the clock of the database.
            tolerance: how far the signed moment may be from ``now``, in seconds, in both directions, inclusive.
        """
        ...

    def sign(self, body: bytes, *, event_id: str, sent_at: datetime, secret: str) -> Mapping[str, str]:
        """Return the headers that a sender adds to a body.

        Raises:
            ValueError: the secret is none of this scheme.
        """
        ...

    def fault(self, secret: str) -> str:
        """Return why a secret cannot be one of this scheme, in a sentence; empty when it can."""
        ...


class StandardWebhooks:
    """Standard Webhooks 1.0.0: ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``."""

    def verify(
        self, headers: Headers, body: bytes, *, secrets: Sequence[str], now: datetime, tolerance: int
    ) -> Verified | BadDelivery:
        """See :meth:`Scheme.verify`."""
        found = _only(headers, "webhook-id", "webhook-timestamp", "webhook-signature")
        if isinstance(found, BadDelivery):
            return found
        event_id, seconds, listed = found
        if not _ID.fullmatch(event_id):
            return _malformed("webhook-id must be 1 to 200 visible ASCII characters without a dot.")
        if not _SECONDS.fullmatch(seconds):
            return _malformed("webhook-timestamp must be whole seconds since 1970, in digits.")
        signatures = _signatures(listed)
        if isinstance(signatures, BadDelivery):
            return signatures
        signed = f"{event_id}.{seconds}.".encode() + body
        wanted = (_hmac(key, signed) for secret in secrets if (key := _key(secret)))
        if not _any_equal(wanted, signatures):
            return FORGED
        return _in_time(event_id, int(seconds), now=now, tolerance=tolerance)

    def sign(self, body: bytes, *, event_id: str, sent_at: datetime, secret: str) -> Mapping[str, str]:
        """See :meth:`Scheme.sign`."""
        if not (key := _key(secret)):
            raise ValueError(self.fault(secret))
        seconds = str(int(sent_at.timestamp()))
        signature = b64encode(_hmac(key, f"{event_id}.{seconds}.".encode() + body)).decode()
        return {"webhook-id": event_id, "webhook-timestamp": seconds, "webhook-signature": f"v1,{signature}"}

    def fault(self, secret: str) -> str:
        """See :meth:`Scheme.fault`."""
        key = _key(secret)
        if key is None:
            return "The secret must be base64, with or without whsec_ before it."
        return "" if 24 <= len(key) <= 64 else "The secret must hold 24 to 64 bytes."


class StripesHeader:
    """The form of Stripe's header: ``stripe-signature: t=…,v1=…``. The event's id is in the body."""

    def verify(
        self, headers: Headers, body: bytes, *, secrets: Sequence[str], now: datetime, tolerance: int
    ) -> Verified | BadDelivery:
        """See :meth:`Scheme.verify`."""
        found = _only(headers, "stripe-signature")
        if isinstance(found, BadDelivery):
            return found
        parts = [part.strip().partition("=") for part in found[0].split(",")]
        moments = [value for name, _, value in parts if name == "t"]
        if len(moments) != 1 or not _SECONDS.fullmatch(moments[0]):
            return _malformed("stripe-signature must name one t, in whole seconds since 1970.")
        signatures = _hex([value for name, _, value in parts if name == "v1"])
        if isinstance(signatures, BadDelivery):
            return signatures
        signed = f"{moments[0]}.".encode() + body
        if not _any_equal((_hmac(secret.encode(), signed) for secret in secrets if secret), signatures):
            return FORGED
        return _in_time(_id_in(body), int(moments[0]), now=now, tolerance=tolerance)

    def sign(self, body: bytes, *, event_id: str, sent_at: datetime, secret: str) -> Mapping[str, str]:
        """See :meth:`Scheme.sign`; ``event_id`` is not sent, as the body carries its own."""
        if fault := self.fault(secret):
            raise ValueError(fault)
        seconds = int(sent_at.timestamp())
        return {"stripe-signature": f"t={seconds},v1={_hmac(secret.encode(), f'{seconds}.'.encode() + body).hex()}"}

    def fault(self, secret: str) -> str:
        """See :meth:`Scheme.fault`."""
        return "" if len(secret) >= 24 else "The secret must have at least 24 characters."


SCHEMES: Mapping[str, Scheme] = {"standard": StandardWebhooks(), "stripe": StripesHeader()}
"""By the names that a source's row keeps."""

FORGED = BadDelivery(401, "bad_signature", "No signature matches the body and a secret of this source.")


def _malformed(because: str) -> BadDelivery:
    return BadDelivery(400, "malformed", because)


def _only(headers: Headers, *names: str) -> list[str] | BadDelivery:
    """Return the one value of each header, in ASCII."""
    found = []
    for name in names:
        values = [value for sent, value in headers if sent == name.encode()]
        if len(values) != 1:
            return _malformed(f"{name} must be sent once; it came {len(values)} times.")
        if not values[0].isascii():
            return _malformed(f"{name} must be ASCII.")
        found.append(values[0].decode("ascii"))
    return found


def _signatures(listed: str) -> list[bytes] | BadDelivery:
    """Read a list of signatures; those of other versions are not ours to judge."""
    entries = listed.split(" ")
    if len(entries) > MOST_SIGNATURES:
        return _malformed(f"webhook-signature may list {MOST_SIGNATURES} signatures.")
    found = []
    for version, comma, signature in (entry.partition(",") for entry in entries):
        if not (version and comma and signature):
            return _malformed("webhook-signature must list signatures as v1,BASE64, separated by a space.")
        if version == "v1":
            decoded = _base64(signature)
            if decoded is None or len(decoded) != 32:
                return _malformed("A v1 signature must be 32 bytes in base64.")
            found.append(decoded)
    return found or _malformed("webhook-signature lists no signature of version v1.")


def _hex(values: list[str]) -> list[bytes] | BadDelivery:
    if not 1 <= len(values) <= MOST_SIGNATURES or not all(re.fullmatch("[0-9a-fA-F]{64}", value) for value in values):
        return _malformed(f"stripe-signature must list 1 to {MOST_SIGNATURES} v1, each of 64 hexadecimal digits.")
    return [bytes.fromhex(value) for value in values]


def _key(secret: str) -> bytes | None:
    """Return the bytes that a Standard Webhooks secret holds; None when it holds none."""
    text = secret.removeprefix("whsec_").rstrip("=")
    return _base64(text + "=" * (-len(text) % 4)) or None


def _base64(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _hmac(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, "sha256")


def _any_equal(wanted: Iterator[bytes], signatures: Sequence[bytes]) -> bool:
    """Compare every pair, so that how long it takes tells nothing of which was near."""
    equal = [hmac.compare_digest(one, other) for one in wanted for other in signatures]
    return any(equal)


def _in_time(event_id: str, seconds: int, *, now: datetime, tolerance: int) -> Verified | BadDelivery:
    """Hold a signed moment, of whole seconds, to the whole second of now: 300 seconds off is in time, 301 is not."""
    off = seconds - int(now.timestamp())
    if abs(off) > tolerance:
        side = "after" if off > 0 else "before"
        because = f"It was signed {abs(off):,} seconds {side} our clock's moment; {tolerance:,} are taken."
        return BadDelivery(401, "too_new" if off > 0 else "too_old", because)
    return Verified(event_id, datetime.fromtimestamp(seconds, UTC))


def _id_in(body: bytes) -> str:
    """Return the id that a signed body carries; for one without, the hash of the body, which tells it from others."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        read = None
    id = read.get("id") if isinstance(read, dict) else None
    if isinstance(id, str) and _ID_IN_BODY.fullmatch(id):
        return id
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
