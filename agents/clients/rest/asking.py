"""Who asks: a client with its token; for what administrators alone may do, also a person who is signed in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security.http import HttpAuthBase
from ninja.security.session import SessionAuth

from agents.clients.http import authenticated_request
from agents.clients.rest.quotas import COMMANDS, READS, Policy, Quotas, Spent
from agents.clients.tokens import Bearer
from agents.errors import Unauthenticated
from collab.errors import Busy
from permissions.actors import Client, Person

SAFE = ("GET", "HEAD", "OPTIONS")

quotas = Quotas()
"""What clients asked of this process within the last minute."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sent a request, and the token they sent it with; a person in person has none."""

    actor: Client | Person
    bearer: Bearer | None


class Asked(HttpRequest):
    """A request whose sender is known."""

    auth: Sender

    @property
    def actor(self) -> Client | Person:
        """Who asks; loaded through the check like anyone."""
        return self.auth.actor


class BearerAuth(HttpAuthBase):
    """A token in the header ``Authorization: Bearer``."""

    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> Sender:
        """Return who asks, and count it.

        Raises:
            Unauthenticated: nobody who is known does.
            Busy: they ask too often.
        """
        bearer = authenticated_request(request)
        sender = Sender(bearer.actor, bearer)
        vars(request)["spent"] = spent = spend(sender.actor, READS if request.method in SAFE else COMMANDS)
        require_left(spent)
        return sender


class BearerOrSession(BearerAuth):
    """A token, or the session of a person who is signed in; with a session, unsafe requests carry a CSRF token."""

    _session = SessionAuth()

    def __call__(self, request: HttpRequest) -> Sender:
        """Return who asks. Raises as :class:`BearerAuth`."""
        if "Authorization" in request.headers or not request.user.is_authenticated:
            return super().__call__(request)
        user: Any = self._session(request)
        if user is None:
            raise Unauthenticated
        return Sender(Person(user.pk), None)


def spend(actor: Client | Person, policy: Policy) -> Spent:
    """Count one request of an actor."""
    return quotas.spend(actor, policy, time.monotonic())


def require_left(spent: Spent) -> None:
    """Check that a request was not one too many.

    Raises:
        Busy: it was.
    """
    if spent.wait:
        policy = spent.policy
        because = f"A client may send {policy.limit} {policy.name} a minute; wait {spent.reset} seconds."
        raise Busy(because, retry_after=spent.wait)


def spent_of(request: HttpRequest) -> Spent | None:
    """Return what a request was counted as, where it was."""
    spent = vars(request).get("spent")
    return spent if isinstance(spent, Spent) else None
