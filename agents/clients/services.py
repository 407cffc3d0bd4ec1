"""Clients and their tokens: registering, letting in, issuing, rotating, revoking (DESIGN 4, 5 and 11).

A person registers clients of their own and issues tokens that act for themselves, in person; only an administrator
registers what is nobody's, and issues a token that acts for no one. Nobody issues a token that acts for another.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Least

from agents.clients.secrets import SHOWN, digest_of, secret_made
from agents.models.clients import AccessToken, Client, Registration
from collab.errors import Gone, Invalid
from collab.models.workspaces import Workspace
from collab.services.checks import line
from collab.services.holders import holder_role_set
from permissions.actors import Actor, Person, System
from permissions.clock import AccordNow
from permissions.decisions import AccountKind
from permissions.errors import NotFound, Refused
from permissions.grants import names_of, readable
from permissions.ids import new_id
from permissions.models import User
from permissions.phrases import told
from permissions.roles import Role
from permissions.services import account_create_service, account_deactivate

log = structlog.get_logger(__name__)

LONGEST_NAME = 100
LONGEST = timedelta(days=366)
USUAL = timedelta(days=90)
OVERLAP = timedelta(hours=24)
"""How long the token before still stands after a rotation, so that a program can be given the new one meanwhile."""

MOST_CLIENTS, MOST_TOKENS = 50, 50
"""Clients of a person that are not disabled, and tokens of a client that stand."""

ROLES = tuple(role for role in Role if role is not Role.OWNER)
"""What a client may be: it never manages."""

LEAKED = "This token came in an address, where browsers, proxies and logs keep it, so it was revoked."


@transaction.atomic
def client_register(*, actor: Actor, name: str, person: UUID | None = None, registration: UUID | None = None) -> Client:
    """Register a client and its account, which holds no grant until someone who manages a workspace gives it one.

    Args:
        name: what people call it, at most 100 characters.
        person: whose it is, who is the actor; None: nobody's, which only an administrator registers.
        registration: the program that registered itself and that the person consents to.

    Raises:
        Refused: the client would be another person's, or nobody's and the actor is no administrator.
        NotFound: there is no such registration.
        Invalid: the name cannot be, or the person has ``MOST_CLIENTS`` already.
    """
    if person is None:
        _require_administrator(actor, "Only an administrator registers a client that is nobody's.")
    else:
        _require_themselves(actor, person, "A person registers clients of their own, in person.")
        # Held until the end, so that two at once are counted one after the other.
        User.objects.select_for_update(no_key=True).get(pk=person)
        if Client.objects.filter(person=person, disabled_at=None).count() >= MOST_CLIENTS:
            raise Invalid(f"A person has at most {MOST_CLIENTS} clients; disable one first.")
    if registration is not None and not Registration.objects.filter(pk=registration).exists():
        raise NotFound()
    account = account_create_service(kind=AccountKind.CLIENT, name=name_read(name))
    made = Client.objects.create(account=account, person_id=person, registration_id=registration, registered_by=actor)
    log.info("client_registered", client=str(account.pk), person=str(person or ""))
    return made


@transaction.atomic
def client_enable(
    *, actor: Actor, workspace: UUID, client: UUID, role: Role | None, until: datetime | None = None
) -> None:
    """Let a client into a workspace with the grants of a role as the most it can do; with no role, out of it.

    Raises:
        NotFound: there is no such workspace or client, or the actor may not view the workspace.
        Refused: the actor may not manage the workspace or lacks what the role would give; ``NotForAgents``: the role
            manages.
    """
    found = Client.objects.select_related("account").filter(pk=client, account__is_active=True).first()
    if found is None:
        raise NotFound()
    holder_role_set(actor=actor, workspace=workspace, holder=found.account, role=role, until=until)


@transaction.atomic
def client_disable(*, actor: Actor, client: UUID) -> Client:
    """Switch a client off for good: its tokens are revoked, and what it began may do nothing more.

    Raises:
        NotFound: there is no such client, or it is neither the actor's nor theirs to administer.
    """
    found = _client_for(actor, client)
    if found.disabled_at is None:
        because = f"{_told(actor)} disabled {found}."
        _stand(found).update(revoked_at=AccordNow(), revoked_by=actor, revoked_because=because)
        Client.objects.filter(pk=client).update(disabled_at=AccordNow(), disabled_by=actor)
        account_deactivate(by=System(), account=found.account)
        found.refresh_from_db()
        log.info("client_disabled", client=str(client))
    return found


@transaction.atomic
def token_issue(
    *, actor: Actor, client: UUID, name: str, workspaces: Collection[UUID], person: UUID | None = None,
    lasts: timedelta = USUAL, audience: str = "", rotated_from: AccessToken | None = None,
) -> tuple[AccessToken, str]:  # fmt: skip
    """Issue a token of a client; return it with its secret, which is known this once.

    Args:
        name: where it is used, at most 100 characters.
        workspaces: where it may be used, at least one.
        person: whom it acts for, who is the actor; None: no one, which only an administrator issues.
        lasts: how long it stands, at most ``LONGEST``.
        audience: the one address that it is good for; empty: every one of ours.
        rotated_from: the token that it takes the place of.

    Raises:
        NotFound: there is no such client or workspace, or the actor may not see it.
        Refused: it would act for another, or for no one and the actor is no administrator, or for a person whose
            client it is not.
        Invalid: the name or how long it lasts cannot be, no workspace is named, or it has ``MOST_TOKENS`` already.
        Gone: the client is disabled.
    """
    found = _issuable(actor, client, person)
    if not timedelta(0) < lasts <= LONGEST:
        raise Invalid(f"A token stands for at most {LONGEST.days} days.")
    if _stand(found).count() >= MOST_TOKENS:
        raise Invalid(f"{found} has {MOST_TOKENS} tokens already; revoke one first.")
    places = _places(actor, person, workspaces)
    secret, id = secret_made(), new_id()
    token = AccessToken.objects.create(
        id=id, client=found, person_id=person, name=name_read(name), digest=digest_of(secret), prefix=secret[:SHOWN],
        audience=audience, created_by=actor, expires_at=AccordNow() + lasts, rotated_from=rotated_from,
        family=rotated_from.family if rotated_from else id,
    )  # fmt: skip
    token.workspaces.set(places)
    token.refresh_from_db()
    log.info("token_issued", client=str(client), token=str(token.pk), person=str(person or ""))
    return token, secret


@transaction.atomic
def token_rotate(*, actor: Actor, token: UUID, overlap: timedelta = OVERLAP) -> tuple[AccessToken, str]:
    """Issue a token in the place of another, for as long and for the same; return it with its secret.

    The one before stands ``overlap`` more, or until it would have expired.

    Raises:
        NotFound: there is no such token, or it is neither the actor's nor theirs to administer.
        Refused: it acts for another than the actor, or was given to a program, which renews it itself.
        Gone: it does not stand any more, or was rotated already.
    """
    old = _token_for(actor, token)
    if old.audience:
        raise Refused("The program that it was given to renews it itself.")
    Client.objects.select_for_update(no_key=True).get(pk=old.client_id)  # so that of two at once one is refused
    stands = _stand(old.client).filter(pk=token, rotated_to=None)
    if not stands.update(expires_at=Least("expires_at", AccordNow() + overlap)):
        raise Gone("It was rotated or revoked already, or it expired.")
    lasts = min(old.expires_at - old.created_at, LONGEST)
    return token_issue(
        actor=actor, client=old.client_id, name=old.name, workspaces=_still_seen(actor, old), person=old.person_id,
        lasts=lasts, rotated_from=old,
    )  # fmt: skip


@transaction.atomic
def token_revoke(*, actor: Actor, token: UUID, because: str = "") -> AccessToken:
    """Make a token worth nothing from this moment. Done twice, it changes nothing.

    Args:
        because: the sentence that whoever comes with it is told; empty: who revoked it.

    Raises:
        NotFound: there is no such token, or it is neither the actor's nor theirs to administer.
    """
    found = _token_for(actor, token)
    said = because or f"{_told(actor)} revoked this token."
    live = AccessToken.objects.filter(pk=token, revoked_at=None)
    if live.update(revoked_at=AccordNow(), revoked_by=actor, revoked_because=said):
        log.info("token_revoked", client=str(found.client_id), token=str(token))
    found.refresh_from_db()
    return found


def tokens_leaked(*, secrets: Collection[str]) -> None:
    """Revoke the tokens of secrets that were seen where they must not be."""
    digests = [digest_of(secret) for secret in secrets]
    for token in AccessToken.objects.filter(digest__in=digests).values_list("pk", flat=True):
        token_revoke(actor=System(), token=token, because=LEAKED)


def name_read(text: str) -> str:
    """Return what a client, a token or a program is called, as it is kept.

    Raises:
        Invalid: it is no line of text, or longer than ``LONGEST_NAME``.
    """
    found = line(text, "the name")
    if len(found) > LONGEST_NAME:
        raise Invalid(f"A name has at most {LONGEST_NAME} characters.")
    return found


def _issuable(actor: Actor, client: UUID, person: UUID | None) -> Client:
    if person is None:
        _require_administrator(actor, "Only an administrator issues a token that acts for no one.")
    else:
        _require_themselves(actor, person, "Nobody issues a token that acts for another.")
    found = Client.objects.select_for_update(of=("self",), no_key=True).select_related("account").filter(pk=client)
    known = found.filter(Q(person=None) | Q(person=person)).first() if person else found.first()
    if known is None:
        raise NotFound()
    if person is None and known.person_id is not None:
        raise Refused(f"{known} is a person's: it acts for them and for nobody else.")
    if known.disabled_at is not None or not known.account.is_active:
        raise Gone(f"{known} is switched off.")
    return known


def _places(actor: Actor, person: UUID | None, workspaces: Collection[UUID]) -> list[Workspace]:
    wanted = Workspace.objects.filter(pk__in=workspaces)
    found = list(readable(wanted, actor) if person else wanted)
    if not workspaces:
        raise Invalid("Name the workspaces in which the token may be used.")
    if len(found) != len(set(workspaces)):
        raise NotFound()
    return found


def _still_seen(actor: Actor, token: AccessToken) -> list[UUID]:
    held = token.workspaces.all()
    return [row.pk for row in (readable(held, actor) if token.person_id else held)]


def _client_for(actor: Actor, client: UUID) -> Client:
    found = Client.objects.select_related("account").filter(pk=client).first()
    if found is None or not (_is(actor, found.person_id) or _administers(actor)):
        raise NotFound()
    return found


def _token_for(actor: Actor, token: UUID) -> AccessToken:
    found = AccessToken.objects.select_related("client__account").filter(pk=token).first()
    if found is None:
        raise NotFound()
    theirs = _is(actor, found.person_id) or _is(actor, found.client.person_id)
    if not (theirs or _administers(actor)):
        raise NotFound()
    return found


def _stand(client: Client) -> QuerySet[AccessToken]:
    return AccessToken.objects.filter(client=client, revoked_at=None, expires_at__gt=AccordNow())


def _require_themselves(actor: Actor, person: UUID, because: str) -> None:
    people = User.objects.filter(pk=person, is_active=True, kind=AccountKind.PERSON.value)
    if not _is(actor, person) or not people.exists():
        raise Refused(because)


def _require_administrator(actor: Actor, because: str) -> None:
    if not _administers(actor):
        raise Refused(because)


def _is(actor: Actor, person: UUID | None) -> bool:
    return person is not None and actor == Person(person)


def _administers(actor: Actor) -> bool:
    if isinstance(actor, System):
        return True
    superusers = User.objects.filter(is_active=True, is_superuser=True, kind=AccountKind.PERSON.value)
    return isinstance(actor, Person) and superusers.filter(pk=actor.id).exists()


def _told(actor: Actor) -> str:
    return told(actor, names_of(actor))
