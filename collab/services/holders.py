"""Who holds rights in a workspace beside its members: groups and clients; single grants; leaving (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q, QuerySet

from collab import selectors
from collab.errors import Invalid
from collab.models.documents import Document
from collab.models.grants import DocumentUserGrant, ThreadUserGrant
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.actors import Actor, Person
from permissions.clock import AccordNow
from permissions.decisions import AccountKind, Action
from permissions.errors import LastOwner, ThroughGroup
from permissions.gate import decide_on, require
from permissions.grants import grant_models
from permissions.ledger import Holder
from permissions.models import Guarded, User
from permissions.roles import Role
from permissions.services import grants_given_up, role_set


@transaction.atomic
def holder_role_set(
    *,
    actor: Actor,
    workspace: UUID,
    holder: Holder,
    role: Role | None,
    until: datetime | None = None,
    reason: str = "",
) -> None:
    """Make what a group, an agent or a client holds on a workspace a role's grants until a moment or for good, or
    nothing.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor may not manage it or lacks what the role would give; ``LastOwner``, ``NotForAgents``,
            ``NeverExpires``, ``OverAlready``: as for :func:`permissions.services.role_set`.
    """
    found = selectors.workspace_for(actor, workspace)
    role_set(by=actor, holder=holder, role=role, scope=found, reason=reason, expires_at=until)


@transaction.atomic
def workspace_leave(*, actor: Person, workspace: UUID) -> Workspace:
    """Give up all that a person holds themselves in a workspace, its threads and its documents. Their place and what
    they wrote stay.

    Raises:
        NotFound: there is no such workspace, or the person may not view it.
        LastOwner: nobody else owns it.
        ThroughGroup: they hold nothing themselves.
    """
    found = selectors.workspace_for(actor, workspace)

    def narrowed(account: User) -> Iterable[Guarded]:
        return _narrowed(found, account)

    try:
        left = grants_given_up(by=actor, scope=found, narrowed=narrowed, reason="left")
    except LastOwner as last:
        because = f"You are the last owner of {found.name}: make someone else owner before you leave."
        raise LastOwner(because) from last
    if not left:
        raise ThroughGroup
    found.memberships.filter(user=actor.id).update(left_at=AccordNow())
    return found


def holder_named(
    actor: Actor, obj: Guarded, *, account: UUID | None = None, username: str = "", group: int | None = None,
    team: str = "",
) -> Holder:  # fmt: skip
    """Return the one account or group that a form names, for who manages an object.

    Args:
        account, group: by id, a group only where it holds something already; ``username`` a person or a client,
            ``team`` a group, by name.

    Raises:
        NotFound: the actor may not view the object.
        Refused: the actor may not manage it.
        Invalid: nobody, or more than one, is named; or there is no such account or group.
    """
    require(actor, Action.MANAGE, obj)
    if sum(map(bool, (account, username, group, team))) != 1:
        raise Invalid("Name one holder: someone listed, a person or a client by user name, or a group by name.")
    holder: Holder | None
    if account or username:
        kinds = (AccountKind.PERSON.value, AccountKind.CLIENT.value)
        people = User.objects.filter(kind__in=kinds, is_active=True, username=username)
        holder = (User.objects.filter(pk=account) if account else people).first()
    else:
        holder = (_groups_of(obj).filter(pk=group) if group else Group.objects.filter(name=team)).first()
    if holder is None:
        raise Invalid("There is no such person, agent, client or group.")
    return holder


def still_views(actor: Actor, workspace: Workspace) -> bool:
    """Say whether someone may view a workspace, as after leaving what they held themselves."""
    return bool(decide_on(actor, Action.VIEW, workspace).level)


def _groups_of(obj: Guarded) -> QuerySet[Group]:
    held = Q(pk__in=[])
    for model, id in obj.grant_objects():
        _, groups = grant_models(model)
        held |= Q(pk__in=groups._default_manager.filter(content_object=id).values("group"))
    return Group.objects.filter(held)


def _narrowed(workspace: Workspace, account: User) -> list[Thread | Document]:
    threads = ThreadUserGrant.objects.filter(user=account, content_object__workspace=workspace)
    documents = DocumentUserGrant.objects.filter(user=account, content_object__workspace=workspace)
    return [
        *Thread.objects.filter(pk__in=threads.values("content_object")),
        *Document.objects.filter(pk__in=documents.values("content_object")),
    ]
