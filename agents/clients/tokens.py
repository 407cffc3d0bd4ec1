"""Whom a token stands for: the one way from a secret to an actor (DESIGN 1.3 and 5).

Nothing is cached: a token, its client and its person are read as they are at the moment of the request, by the
database's clock.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from agents.clients.secrets import can_be_one, digest_of
from agents.errors import BadToken
from agents.models.clients import AccessToken
from permissions.actors import Client
from permissions.clock import AccordNow
from permissions.decisions import AccountKind

NOTED_EVERY = timedelta(minutes=1)
"""How old the note of a token's last use may be before it is written anew."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who came with a token: ``actor`` carries the workspaces that it is for, and every decision heeds them. Tokens of
    one ``family`` were rotated or renewed from one another."""

    token_id: UUID
    family: UUID
    actor: Client
    expires_at: datetime


def bearer(secret: str, *, audience: str = "") -> Bearer:
    """Return whom a secret stands for at this moment, in one query; its use is noted at most once a minute.

    Args:
        audience: the address of the surface that is asked, where tokens are made for one; a token that is made for
            one is good nowhere else.

    Raises:
        BadToken: it is no token of ours, is for another address, expired or was revoked; its client or its person is
            switched off; or the client is not that person's any more.
    """
    if not can_be_one(secret):
        raise BadToken
    rows = list(_read(AccessToken.objects.filter(digest=digest_of(secret))))
    if not rows:
        raise BadToken
    token = rows[0]
    if because := _fault(token, audience):
        raise BadToken(because)
    _note_use(token)
    within = frozenset(row["workspaces"] for row in rows if row["workspaces"] is not None)
    return Bearer(token["pk"], token["family"], Client(token["client"], token["person"], within), token["expires_at"])


def standing(tokens: Collection[UUID]) -> set[UUID]:
    """Return those of some tokens that still stand, in one query: what holds a connection open asks again and again."""
    rows = _read(AccessToken.objects.filter(pk__in=tokens))
    return {row["pk"] for row in rows if not _fault(row, row["audience"])}


_COLUMNS = (
    *("pk", "family", "client", "person", "audience"),
    *("expires_at", "last_used_at", "revoked_at", "revoked_because"),
)


def _read(tokens: QuerySet[AccessToken]) -> Sequence[dict[str, Any]]:
    """Read tokens with all that is asked about them: a row for each workspace."""
    found: Any = tokens.annotate(
        now=AccordNow(),
        owner=F("client__person"),
        client_name=F("client__account__display_name"),
        client_on=Q(client__account__is_active=True, client__account__kind=AccountKind.CLIENT.value),
        client_disabled=F("client__disabled_at"),
        person_on=Q(person=None) | Q(person__is_active=True, person__kind=AccountKind.PERSON.value),
    )
    extra = ("now", "owner", "client_name", "client_on", "client_disabled", "person_on", "workspaces")
    rows: Sequence[dict[str, Any]] = found.values(*_COLUMNS, *extra)
    return rows


def _fault(token: dict[str, Any], audience: str) -> str:
    """Say why a token is not good; empty where it is."""
    if token["revoked_at"] is not None:
        return token["revoked_because"] or "This token was revoked."
    if token["expires_at"] <= token["now"]:
        return f"This token expired on {token['expires_at']:%Y-%m-%d at %H:%M} UTC."
    if token["audience"] and token["audience"] != audience:
        return "This token is for another address."
    if not token["client_on"] or token["client_disabled"] is not None:
        return f"{token['client_name']} is switched off."
    if not token["person_on"]:
        return "The person this token acts for is switched off."
    if token["owner"] not in {None, token["person"]}:
        return f"{token['client_name']} is not the client of the person this token acts for."
    return ""


def _note_use(token: dict[str, Any]) -> None:
    last, now = token["last_used_at"], token["now"]
    if last is None or now - last >= NOTED_EVERY:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now)
        AccessToken.objects.filter(stale, pk=token["pk"]).update(last_used_at=now)
