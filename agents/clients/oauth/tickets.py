"""What a program asks a person for, carried by the address of the consent page: signed, for ten minutes (DESIGN 11).

Nothing is stored of what nobody decided, so asking costs the database nothing. That a ticket is spent once is kept with
what was decided.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.core import signing

from agents.clients.secrets import digest_of
from permissions.errors import NotFound

STANDS = timedelta(minutes=10)
"""How long a person may take to decide."""

_SALT = "accord.oauth.ticket"


@dataclass(frozen=True, slots=True)
class Asked:
    """A program's request: which one, where its person goes back to, and what binds the answer to it.

    Attributes:
        explicit: the program said where to go back to.
        state: the program's, given back to it.
        challenge: PKCE, S256.
        resource: the one address that the token is to be good for.
        issuer: who gives it, told with the answer (RFC 9207).
        nonce: what makes the ticket this one.
    """

    registration: UUID
    redirect_uri: str
    explicit: bool
    state: str | None
    challenge: str
    resource: str
    issuer: str
    nonce: str
    asked_at: datetime

    @property
    def digest(self) -> str:
        """What is kept of the ticket once it was spent."""
        return digest_of(self.nonce)


def ticket_of(asked: Asked) -> str:
    """Return the text that carries a request."""
    told = {**asdict(asked), "registration": str(asked.registration), "asked_at": asked.asked_at.isoformat()}
    return signing.dumps(told, salt=_SALT, compress=True)


def asked_in(ticket: str) -> Asked:
    """Return the request that a text carries.

    Raises:
        NotFound: we signed no such text.
    """
    try:
        told = signing.loads(ticket, salt=_SALT)
    except signing.BadSignature:
        raise NotFound from None
    registration, asked_at = UUID(told.pop("registration")), datetime.fromisoformat(told.pop("asked_at"))
    return Asked(registration=registration, asked_at=asked_at, **told)
