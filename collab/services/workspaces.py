"""Workspaces, who belongs to them with which role, and how people are invited (DESIGN 4 and 5)."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q

from collab.errors import Gone, Invalid
from collab.models.documents import Document
from collab.models.grants import DocumentUserGrant, ThreadUserGrant
from collab.models.threads import Thread
from collab.models.workspaces import Invite, Membership, Workspace
from collab.services.checks import line
from permissions.actors import Actor, Person, System
from permissions.clock import AccordNow
from permissions.decisions import AccountKind, Action
from permissions.errors import NotFound, Refused
from permissions.gate import require
from permissions.ledger import holder_taken
from permissions.models import User
from permissions.roles import ROLE_GRANTS, Role
from permissions.services import grant_take, role_set

LONGEST_INVITE = 30
"""Days an invite may stand."""


@transaction.atomic
def workspace_create(*, actor: Actor, name: str) -> Workspace:
    """Make a workspace; the person who makes it becomes its owner.

    Raises:
        Refused: the actor is not a person who may sign in.
        Invalid: the name is refused.
    """
    user = _signed_in(actor)
    workspace = Workspace.objects.create(name=line(name, "the name"))
    role_set(by=System(), holder=user, role=Role.OWNER, scope=workspace, reason="made the workspace")
    _joined(workspace, user)
    return workspace


@transaction.atomic
def workspace_rename(*, actor: Actor, workspace: UUID, name: str) -> Workspace:
    """Give a workspace another name.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor may not manage it.
        Invalid: the name is refused.
    """
    # Taken for writing at once: two renames that had taken the row shared would each wait for the other.
    found = Workspace.objects.select_for_update(no_key=True).filter(pk=workspace).first()
    if found is None:
        raise NotFound()
    require(actor, Action.MANAGE, found, for_write=True)
    found.name = line(name, "the name")
    found.save(update_fields=["name"])
    return found


@transaction.atomic
def member_add(
    *, actor: Actor, workspace: UUID, username: str, role: Role, until: datetime | None = None
) -> Membership:
    """Make the person with a user name a member with a role, until a moment or for good.

    Raises:
        NotFound, Refused: as for :func:`member_role_set`.
        Invalid: no active person has the user name, or they are a member already.
    """
    found = _managed(actor, workspace)
    user = User.objects.filter(username=username, kind=AccountKind.PERSON.value, is_active=True).first()
    if user is None:
        raise Invalid("No person has this user name.")
    role_set(by=actor, holder=user, role=role, scope=found, reason="added", expires_at=until)
    if found.memberships.filter(user=user, left_at__isnull=True).exists():
        raise Invalid(f"{user.name} is a member already.")
    return _joined(found, user)


@transaction.atomic
def member_role_set(*, actor: Actor, workspace: UUID, user: UUID, role: Role, until: datetime | None = None) -> None:
    """Give a member another role, until a moment or for good.

    Raises:
        NotFound: there is no such workspace or member, or the actor may not view it.
        Refused: the actor may not manage it or lacks what the role would give; ``LastOwner``: no owner would remain.
    """
    found = _managed(actor, workspace)
    role_set(by=actor, holder=_member(found, user), role=role, scope=found, expires_at=until)


@transaction.atomic
def member_remove(*, actor: Actor, workspace: UUID, user: UUID) -> None:
    """Take a member's grants on a workspace and on every thread and document in it. Their place stays theirs.

    Raises:
        NotFound, Refused: as for :func:`member_role_set`.
    """
    found = _managed(actor, workspace)
    member = _member(found, user)
    _held_for_removal(found, member)
    for codename, obj in _narrowed(found, member):
        grant_take(by=actor, holder=member, codename=codename, obj=obj, reason="removed")
    role_set(by=actor, holder=member, role=None, scope=found, reason="removed")
    found.memberships.filter(user=member).update(left_at=AccordNow())


@transaction.atomic
def agent_enable(
    *, actor: Actor, workspace: UUID, agent_account: UUID, role: Role, until: datetime | None = None
) -> None:
    """Let an agent work in a workspace, until a moment or for good, with the grants of a role as the most it can do.

    Raises:
        NotFound: there is no such workspace or agent, or the actor may not view it.
        Refused: the actor may not manage it or lacks what the role would give; ``NotForAgents``: the role manages.
    """
    found = _managed(actor, workspace)
    role_set(by=actor, holder=_agent(agent_account), role=role, scope=found, expires_at=until)


@transaction.atomic
def agent_disable(*, actor: Actor, workspace: UUID, agent_account: UUID) -> None:
    """Take an agent's grants on a workspace and on every thread and document in it. Raises as :func:`agent_enable`."""
    found, account = _managed(actor, workspace), _agent(agent_account)
    _held_for_removal(found, account)
    for codename, obj in _narrowed(found, account):
        grant_take(by=actor, holder=account, codename=codename, obj=obj, reason="disabled")
    role_set(by=actor, holder=account, role=None, scope=found, reason="disabled")


@transaction.atomic
def invite_create(*, actor: Actor, workspace: UUID, role: Role, days: int) -> tuple[Invite, str]:
    """Make an invite that one person may accept within ``days`` (1 to 30); return it with its token.

    The token is kept hashed: this is the only time it is known.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor is no person, or may not manage it.
        Invalid: the number of days is out of range.
    """
    found = _workspace(workspace)
    require(actor, Action.MANAGE, found, for_write=True)
    inviter = _signed_in(actor)
    if not 1 <= days <= LONGEST_INVITE:
        raise Invalid(f"An invite stands for 1 to {LONGEST_INVITE} days.")
    token = secrets.token_urlsafe(32)
    invite = Invite.objects.create(
        workspace=found,
        role=role.value,
        token_hash=_hashed(token),
        invited_by=inviter,
        expires_at=AccordNow() + timedelta(days=days),
    )
    invite.refresh_from_db()
    return invite, token


@transaction.atomic
def invite_accept(*, actor: Actor, token: str) -> Workspace:
    """Join a workspace by an invite, with its role; who holds that much already keeps what they hold.

    What the invite gives, its inviter gives now: it is worth nothing once they may not.

    Raises:
        NotFound: there is no such invite.
        Refused: the actor is not a person who may sign in.
        Gone: it was used or revoked, it expired, or its inviter may not invite any more.
    """
    user = _signed_in(actor)
    invite = Invite.objects.select_related("workspace").filter(token_hash=_hashed(token)).first()
    if invite is None:
        raise NotFound()
    workspace, role = invite.workspace, Role(invite.role)
    if ROLE_GRANTS[role] <= _held(workspace, user):
        return workspace
    stands = Q(pk=invite.pk, used_at__isnull=True, revoked_at__isnull=True, expires_at__gt=AccordNow())
    if not Invite.objects.filter(stands).update(used_by=user, used_at=AccordNow()):
        raise Gone(_why_over(invite))
    try:
        role_set(by=Person(invite.invited_by_id), holder=user, role=role, scope=workspace, reason="accepted an invite")
    except (Refused, NotFound) as refused:
        raise Gone("Whoever made this invite may not invite any more.") from refused
    _joined(workspace, user)
    return workspace


@transaction.atomic
def invite_revoke(*, actor: Actor, invite: UUID) -> Invite:
    """Make an invite worth nothing. Done twice, it changes nothing.

    Raises:
        NotFound: there is no such invite, or the actor may not view its workspace.
        Refused: the actor may not manage it.
        Gone: somebody accepted it.
    """
    # The invite before its workspace, as when it is accepted: the other way round the two would wait for each other.
    asked = Invite.objects.select_related("workspace").select_for_update(of=("self",), no_key=True)
    found = asked.filter(pk=invite).first()
    if found is None:
        raise NotFound()
    require(actor, Action.MANAGE, found.workspace, for_write=True)
    Invite.objects.filter(pk=invite, used_at__isnull=True, revoked_at__isnull=True).update(revoked_at=AccordNow())
    found.refresh_from_db()
    if found.revoked_at is None:
        raise Gone(_why_over(found))
    return found


def _workspace(id: UUID) -> Workspace:
    found = Workspace.objects.filter(pk=id).first()
    if found is None:
        raise NotFound()
    return found


def _managed(actor: Actor, id: UUID) -> Workspace:
    # Only so that a stranger learns nothing of who is a member: giving and taking grants is checked where it happens,
    # under a lock that must not be taken shared before.
    found = _workspace(id)
    require(actor, Action.MANAGE, found)
    return found


def _signed_in(actor: Actor) -> User:
    user = User.objects.filter(pk=actor.id, is_active=True).first() if isinstance(actor, Person) else None
    if user is None or user.kind != AccountKind.PERSON.value:
        raise Refused("Only a signed-in person may do this.")
    return user


def _member(workspace: Workspace, user: UUID) -> User:
    member = User.objects.filter(pk=user, kind=AccountKind.PERSON.value).first()
    known = member and (workspace.memberships.filter(user=member).exists() or _held(workspace, member))
    if member is None or not known:
        raise NotFound()
    return member


def _agent(account: UUID) -> User:
    agent = User.objects.filter(pk=account, kind=AccountKind.AGENT.value, is_active=True).first()
    if agent is None:
        raise NotFound()
    return agent


def _joined(workspace: Workspace, user: User) -> Membership:
    """Give a person their place, or the one they had; the caller holds the workspace's row exclusively."""
    earlier = workspace.memberships.filter(user=user).first()
    if earlier is None:
        last = workspace.memberships.aggregate(last=Max("place"))["last"] or 0
        return Membership.objects.create(workspace=workspace, user=user, place=last + 1)
    if earlier.left_at is not None:
        earlier.left_at = None
        earlier.save(update_fields=["left_at"])
    return earlier


def _held(workspace: Workspace, user: User) -> frozenset[str]:
    return frozenset(
        workspace.workspaceusergrant_set.filter(user=user, expires_at__isnull=True).values_list(
            "permission__codename", flat=True
        )
    )


def _held_for_removal(workspace: Workspace, account: User) -> None:
    """Take the account's row, then the workspace's, as the ledger does, before the grants are read: one that is given
    meanwhile waits, so none survives."""
    holder_taken(account)
    Workspace.objects.select_for_update().get(pk=workspace.pk)


def _narrowed(workspace: Workspace, account: User) -> list[tuple[str, Thread | Document]]:
    threads = ThreadUserGrant.objects.filter(user=account, content_object__workspace=workspace)
    documents = DocumentUserGrant.objects.filter(user=account, content_object__workspace=workspace)
    return [
        (grant.permission.codename, grant.content_object)
        for grants in (threads, documents)
        for grant in grants.select_related("permission", "content_object")
    ]


def _why_over(invite: Invite) -> str:
    if invite.used_at is not None:
        return "This invite was used already."
    return "This invite was revoked." if invite.revoked_at is not None else "This invite has expired."


def _hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()
