"""Letting programs in: they register, a person consents, a code is exchanged once, a token is renewed (DESIGN 11).

Each step is single use and held by the database; whoever comes twice with a code or with what renews a token ends all
that came of it. Tokens are the same rows as those that people issue, good for one address only.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q

from agents.clients.oauth.addresses import back_to
from agents.clients.oauth.tickets import STANDS, Asked, ticket_of
from agents.clients.secrets import digest_of
from agents.clients.services import client_enable, client_register, name_read, token_issue, token_revoke
from agents.models.clients import AccessToken, Authorization, Client, Refresh, Registration
from collab.errors import Gone, Invalid
from collab.models.workspaces import Workspace
from permissions.actors import Person, System
from permissions.clock import AccordNow
from permissions.decisions import Action
from permissions.errors import NotFound, Refused
from permissions.grants import readable
from permissions.models import User
from permissions.roles import Role

log = structlog.get_logger(__name__)

CODE_STANDS = timedelta(seconds=60)
TOKEN_STANDS = timedelta(hours=1)
REFRESH_STANDS = timedelta(days=30)

UNWANTED_FOR = timedelta(days=1)
"""How long a registration that nobody consented to is kept."""

SWEPT = 100

RENEWED = "This token was renewed; use the new one."
USED_TWICE = "What a program is given once was used twice, so someone else may have it: its tokens were revoked."


@dataclass(frozen=True, slots=True)
class Given:
    """What a program is given: the token's secret, what renews it, and how long the token stands."""

    secret: str
    renewal: str
    seconds: int


def registration_create(*, id: UUID, name: str, metadata: Mapping[str, Any]) -> Registration:
    """Keep a program that registers itself, and forget some that nobody ever wanted.

    Raises:
        Invalid: its name cannot be.
    """
    told = name_read(name)
    old = Registration.objects.filter(created_at__lt=AccordNow() - UNWANTED_FOR, clients=None)
    Registration.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:SWEPT])).delete()
    made = Registration.objects.create(id=id, name=told, metadata=dict(metadata))
    log.info("program_registered", registration=str(id))
    return made


def authorization_ask(
    *,
    registration: UUID,
    redirect_uri: str,
    explicit: bool,
    state: str | None,
    challenge: str,
    resource: str,
    issuer: str,
) -> str:
    """Return the ticket with which a person is asked to let a program in; nothing is stored until they decide.

    Args:
        redirect_uri: where the person goes back to, which the program registered.
        explicit: the program said so itself.
        state: the program's, given back to it.
        challenge: PKCE, S256.
        resource: the address that the token is to be good for.
        issuer: who gives it.

    Raises:
        NotFound: there is no such program.
    """
    found: Any = Registration.objects.filter(pk=registration).annotate(now=AccordNow()).first()
    if found is None:
        raise NotFound
    nonce = secrets.token_urlsafe(24)
    return ticket_of(
        Asked(registration, redirect_uri, explicit, state, challenge, resource, issuer, nonce, asked_at=found.now)
    )


def registration_asked(asked: Asked) -> Registration:
    """Return the program that asks, while its person may still decide.

    Raises:
        NotFound: there is no such program.
        Gone: it was decided, or its ten minutes are over.
    """
    known = Registration.objects.filter(pk=asked.registration)
    found = known.first()
    if found is None:
        raise NotFound
    if known.annotate(now=AccordNow()).filter(now__gt=asked.asked_at + STANDS).exists():
        raise Gone("It took longer than ten minutes; go back to the program and begin again.")
    if Authorization.objects.filter(ticket=asked.digest).exists():
        raise Gone("You decided this already; go back to the program.")
    return found


@transaction.atomic
def authorization_allow(*, actor: Person, asked: Asked, workspaces: Collection[UUID], role: Role | None = None) -> str:
    """Let a program act for a person in some workspaces; return where the person goes back to, with the code.

    The program becomes a client of the person, the same one each time.

    Args:
        role: the most it may do in those of the workspaces that the person manages; None leaves what it holds. In the
            others, whoever manages them lets it in.

    Raises:
        NotFound: there is no such program, or no such workspace that the person may view.
        Gone: as for :func:`registration_asked`, or the client was disabled.
        Invalid: no workspace is named.
        Refused: the role manages, or the person lacks what it would give.
    """
    # Held until the end, so that of two at once one makes the client and the other finds the ticket spent.
    User.objects.select_for_update(no_key=True).get(pk=actor.id)
    found = registration_asked(asked)
    places = list(readable(Workspace.objects.filter(pk__in=workspaces), actor))
    if not places:
        raise Invalid("Choose at least one workspace.")
    if len(places) != len(set(workspaces)):
        raise NotFound
    client = _client_of(actor, found)
    if role is not None:
        for place in readable(Workspace.objects.filter(pk__in=workspaces), actor, Action.MANAGE):
            client_enable(actor=actor, workspace=place.pk, client=client.pk, role=role)
    code = secrets.token_urlsafe(32)
    row = _decided(actor, asked, client=client, code=digest_of(code), code_expires_at=AccordNow() + CODE_STANDS)
    row.workspaces.set(places)
    log.info("program_allowed", registration=str(found.pk), person=str(actor.id), client=str(client.pk))
    return back_to(asked.redirect_uri, code=code, state=asked.state, iss=asked.issuer)


@transaction.atomic
def authorization_deny(*, actor: Person, asked: Asked) -> str:
    """Do not let a program in; return where the person goes back to. Raises NotFound and Gone as
    :func:`authorization_allow`."""
    found = registration_asked(asked)
    _decided(actor, asked)
    log.info("program_denied", registration=str(found.pk), person=str(actor.id))
    return back_to(
        asked.redirect_uri, error="access_denied", error_description="The person did not allow it.",
        state=asked.state, iss=asked.issuer,
    )  # fmt: skip


def authorization_of(registration: UUID, code: str) -> Authorization | None:
    """Return what a code of a program stands for, though it was exchanged; None where it stands for nothing or
    expired."""
    found = Authorization.objects.filter(registration=registration, code=digest_of(code))
    return found.filter(code_expires_at__gt=AccordNow()).first()


def code_exchange(*, authorization: UUID) -> Given:
    """Give a program its token for a code, once; whoever verified the code has seen that it is theirs.

    Raises:
        Gone: it was exchanged, and what came of it was revoked; or its client or person may no longer have a token.
    """
    with transaction.atomic():
        fresh = Authorization.objects.filter(pk=authorization, exchanged_at=None, code_expires_at__gt=AccordNow())
        if fresh.update(exchanged_at=AccordNow()):
            found = Authorization.objects.select_related("registration").get(pk=authorization)
            return _issued(found, None)
    _end_all(authorization, USED_TWICE)
    raise Gone(USED_TWICE)


def refresh_of(registration: UUID, secret: str) -> Refresh | None:
    """Return what renews a program's token, though it was used; None where it is nothing or expired."""
    found = Refresh.objects.filter(digest=digest_of(secret), authorization__registration=registration)
    return found.filter(expires_at__gt=AccordNow()).first()


def authorization_of_refresh(refresh: UUID) -> UUID:
    """Return the consent of which something that renews tokens came."""
    return Refresh.objects.values_list("authorization", flat=True).get(pk=refresh)


def token_renew(*, refresh: UUID) -> Given:
    """Give a program a token in the place of the one before, which ends.

    Raises:
        Gone: it was used, and all that came of the same consent was revoked; or its client or person may no longer have
            a token, or the token it renews was revoked.
    """
    authorization = authorization_of_refresh(refresh)
    with transaction.atomic():
        _hold(authorization)
        fresh = Refresh.objects.filter(pk=refresh, used_at=None, expires_at__gt=AccordNow())
        if fresh.update(used_at=AccordNow()):
            found = Refresh.objects.select_related("authorization__registration").get(pk=refresh)
            ended = token_revoke(actor=System(), token=found.token_id, because=RENEWED)
            if ended.revoked_because != RENEWED:
                raise Gone("This token was revoked.")
            return _issued(found.authorization, ended)
    _end_all(authorization, USED_TWICE)
    raise Gone(USED_TWICE)


def registration_of(secret: str) -> tuple[UUID, UUID] | None:
    """Return the program that a token's secret was given to, and the consent that it came of; None for any other."""
    found = Authorization.objects.filter(refreshes__token__digest=digest_of(secret))
    return found.values_list("registration", "pk").first()


def authorization_end(*, authorization: UUID) -> None:
    """Revoke all that came of a consent, as the program that holds it asks."""
    _end_all(authorization, "The program gave this token back.")


def _issued(authorization: Authorization, before: AccessToken | None) -> Given:
    person = authorization.person_id
    if authorization.client_id is None:
        raise Gone("The person did not allow it.")
    actor = Person(person)
    held = [row.pk for row in readable(authorization.workspaces.all(), actor)]
    try:
        token, secret = token_issue(
            actor=actor, client=authorization.client_id, name=authorization.registration.name, workspaces=held,
            person=person, lasts=TOKEN_STANDS, audience=authorization.resource,
            rotated_from=before,
        )  # fmt: skip
    except (Refused, NotFound, Invalid) as refused:
        raise Gone(refused.because) from refused
    renewal = secrets.token_urlsafe(32)
    Refresh.objects.create(
        digest=digest_of(renewal), authorization=authorization, token=token, expires_at=AccordNow() + REFRESH_STANDS
    )
    return Given(secret, renewal, int(TOKEN_STANDS.total_seconds()))


def _hold(authorization: UUID) -> None:
    """Hold a consent until the transaction ends: nothing comes of it while all that came of it is ended."""
    Authorization.objects.select_for_update(no_key=True).get(pk=authorization)


@transaction.atomic
def _end_all(authorization: UUID, because: str) -> None:
    """Revoke every token that came of a consent, and what would renew them."""
    _hold(authorization)
    came = AccessToken.objects.filter(refreshes__authorization=authorization, revoked_at=None)
    for token in came.values_list("pk", flat=True):
        token_revoke(actor=System(), token=token, because=because)
    Refresh.objects.filter(authorization=authorization, used_at=None).update(used_at=AccordNow())
    log.info("program_tokens_ended", authorization=str(authorization), because=because)


def _client_of(actor: Person, registration: Registration) -> Client:
    mine = Q(person=actor.id, registration=registration)
    found = Client.objects.select_related("account").filter(mine).first()
    if found is None:
        return client_register(actor=actor, name=registration.name, person=actor.id, registration=registration.pk)
    if found.disabled_at is not None or not found.account.is_active:
        raise Gone(f"You disabled {found} for good; the program has to register anew.")
    return found


def _decided(actor: Person, asked: Asked, **told: Any) -> Authorization:
    try:
        with transaction.atomic():
            return Authorization.objects.create(
                registration_id=asked.registration, ticket=asked.digest, redirect_uri=asked.redirect_uri,
                explicit=asked.explicit, challenge=asked.challenge, resource=asked.resource, person_id=actor.id, **told,
            )  # fmt: skip
    except IntegrityError as twice:
        raise Gone("You decided this already; go back to the program.") from twice
