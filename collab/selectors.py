"""Reading, always as someone: an object is loaded through the check, a list holds what its reader may view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from collab.models.documents import Document, Follow, Revision
from collab.models.grants import WorkspaceGroupGrant, WorkspaceUserGrant
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message, ReadMark, Thread
from collab.models.workspaces import Invite, Membership, Workspace
from permissions import grants, phrases
from permissions.actors import Actor, person
from permissions.clock import AccordNow
from permissions.decisions import AccountKind, Action
from permissions.errors import NotFound
from permissions.gate import require
from permissions.grants import readable, unexpired
from permissions.models import Guarded, User
from permissions.roles import Role, role_of

HUES = 6
"""How many colours tell people apart; a person's is their place in the workspace, modulo this."""

GuardedT = TypeVar("GuardedT", bound=Guarded)


def hue_of(place: int | None) -> int:
    """Return the colour of a place in a workspace (places count from 1), 1 to 6; 0 for an account without one."""
    return 0 if place is None else (place - 1) % HUES + 1


@dataclass(frozen=True, slots=True)
class Member:
    """An account that holds grants in a workspace: its name, its place (None for who never joined), its role (None
    when its grants are no role's)."""

    id: UUID
    name: str
    username: str
    place: int | None
    role: Role | None

    @property
    def hue(self) -> int:
        """The person's colour."""
        return hue_of(self.place)


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """A thread as a list shows it: how many messages its reader has not seen, when its log last grew, and how many
    things in it wait for them, where that was counted."""

    thread: Thread
    unread: int
    last_at: datetime
    waits: int = 0


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document as a list shows it."""

    document: Document
    open_proposals: int


def workspace_for(actor: Actor, id: UUID) -> Workspace:
    """Return a workspace the actor may view.

    Raises:
        NotFound: there is none of this id, or the actor may not view it.
    """
    return _viewed(actor, Workspace.objects.filter(pk=id))


def thread_for(actor: Actor, id: UUID) -> Thread:
    """Return a thread the actor may view, with its workspace. Raises as :func:`workspace_for`."""
    return _viewed(actor, Thread.objects.filter(pk=id).select_related("workspace"))


def document_for(actor: Actor, id: UUID, *, cap: UUID | None = None) -> Document:
    """Return a document the actor may view. Raises as :func:`workspace_for`.

    Args:
        cap: the owner of the timer or route the turn came from, whose rights bound it.
    """
    return _viewed(actor, Document.objects.filter(pk=id), cap=cap)


def proposal_for(actor: Actor, id: UUID) -> Proposal:
    """Return a proposal of a thread the actor may view, with its document. Raises as :func:`workspace_for`."""
    found = Proposal.objects.select_related("document", "thread", "workspace").filter(pk=id).first()
    if found is None:
        raise NotFound()
    require(actor, Action.VIEW, found.thread)
    return found


def workspaces_of(actor: Actor) -> list[Workspace]:
    """Return the workspaces the actor may view, oldest first, in one query."""
    return list(readable(Workspace.objects.order_by("created_at", "pk"), actor))


def threads_of(actor: Actor, workspace: UUID, *, archived: bool = False, limit: int | None = None) -> list[ThreadLine]:
    """Return the threads of a workspace that the actor may view, the last to grow first, in one query; at most
    ``limit`` of them.

    Unread are the messages behind the read mark of the person in the actor's chain, but not their own.
    """
    counted = _threads(actor, workspace, archived=archived).order_by("-last_at", "-pk")
    return [ThreadLine(thread, thread.unread, thread.last_at) for thread in counted[:limit]]


def threads_before(
    actor: Actor, workspace: UUID, *, before: UUID | None, archived: bool = False, limit: int
) -> list[ThreadLine]:
    """Return the threads of a workspace that the actor may view, the newest first, those made before ``before``, in
    one query: pages that miss none, whichever grows meanwhile."""
    counted = _made_before(_threads(actor, workspace, archived=archived), before)
    return [ThreadLine(thread, thread.unread, thread.last_at) for thread in counted[:limit]]


def documents_of(
    actor: Actor, workspace: UUID, *, archived: bool = False, limit: int | None = None, cap: UUID | None = None
) -> list[DocumentLine]:
    """Return the documents of a workspace that the actor may view, by title, in one query; at most ``limit``.

    Args:
        cap: as for :func:`document_for`.
    """
    counted = _documents(actor, workspace, archived=archived, cap=cap).order_by("title", "pk")
    return [DocumentLine(document, document.open_proposals) for document in counted[:limit]]


def documents_before(
    actor: Actor, workspace: UUID, *, before: UUID | None, archived: bool = False, limit: int
) -> list[DocumentLine]:
    """Return the documents of a workspace that the actor may view, the newest first, those made before ``before``, in
    one query: pages that miss none, whichever is renamed meanwhile."""
    counted = _made_before(_documents(actor, workspace, archived=archived), before)
    return [DocumentLine(document, document.open_proposals) for document in counted[:limit]]


def followed_by(actor: Actor, thread: UUID) -> list[Document]:
    """Return the documents a thread follows that the actor may view, by title, in one query."""
    follows = Follow.objects.filter(thread=thread, document=OuterRef("pk"))
    documents = Document.objects.filter(Exists(follows), archived_at__isnull=True)
    return list(readable(documents, actor).order_by("title", "pk"))


def revisions_of(actor: Actor, document: UUID, *, before: int | None = None, limit: int = 50) -> list[Revision]:
    """Return the versions a document had, newest first, at most ``limit``, those before version ``before``.

    Raises:
        NotFound: there is no such document, or the actor may not view it.
    """
    document_for(actor, document)
    found = Revision.objects.filter(document=document)
    if before is not None:
        found = found.filter(version__lt=before)
    return list(found.order_by("-version")[:limit])


def people_of(workspace: UUID) -> list[Member]:
    """Return the active people who hold any grant on a workspace, by place. The caller has checked the reader."""
    return _members(workspace, AccountKind.PERSON)


def agents_of(workspace: UUID) -> list[Member]:
    """Return the active agents that hold any grant on a workspace. The caller has checked the reader."""
    return _members(workspace, AccountKind.AGENT)


def invites_of(actor: Actor, workspace: UUID) -> list[Invite]:
    """Return the invites to a workspace that can still be accepted, newest first.

    Raises:
        NotFound: there is no such workspace, or the actor may not view it.
        Refused: the actor may not manage it.
    """
    require(actor, Action.MANAGE, workspace_for(actor, workspace))
    stands = Q(used_at__isnull=True, revoked_at__isnull=True, expires_at__gt=AccordNow())
    found = Invite.objects.filter(stands, workspace=workspace)
    return list(found.select_related("invited_by").order_by("-created_at", "-pk"))


def names_of(ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the names of accounts, in one query; an id that no account has is not in it."""
    rows = User.objects.filter(pk__in=set(ids)).values_list("pk", "display_name", "username")
    return {id: display_name or username for id, display_name, username in rows}


def told(actor: Actor, names: Mapping[UUID, str] | None = None) -> str:
    """Return how a sentence calls an actor: ``Ben``, ``Robin for Ana``.

    Args:
        names: from :func:`names_of`; without them they are read.
    """
    return phrases.told(actor, grants.names_of(actor) if names is None else names)


def _viewed(actor: Actor, found: QuerySet[GuardedT], *, cap: UUID | None = None) -> GuardedT:
    obj = found.first()
    if obj is None:
        raise NotFound()
    require(actor, Action.VIEW, obj, cap=cap)
    return obj


def _threads(actor: Actor, workspace: UUID, *, archived: bool) -> QuerySet[Any]:
    threads = readable(Thread.objects.filter(workspace=workspace, archived_at__isnull=not archived), actor)
    head = Event.objects.filter(thread=OuterRef("pk"), seq=OuterRef("head_seq")).values("at")
    return threads.annotate(unread=_unread(actor), last_at=Coalesce(Subquery(head), "created_at"))


def _documents(actor: Actor, workspace: UUID, *, archived: bool, cap: UUID | None = None) -> QuerySet[Any]:
    found = Document.objects.filter(workspace=workspace, archived_at__isnull=not archived)
    opened = Count("proposals", filter=Q(proposals__state=Proposal.State.OPEN), distinct=True)
    return readable(found, actor, cap=cap).annotate(open_proposals=opened)


def _made_before(rows: QuerySet[Any], before: UUID | None) -> QuerySet[Any]:
    """Ids are made in order of time, so the newest have the greatest."""
    return (rows if before is None else rows.filter(pk__lt=before)).order_by("-pk")


def _unread(actor: Actor) -> Coalesce:
    reader = person(actor)
    mark = ReadMark.objects.filter(thread=OuterRef("thread"), user=reader.id if reader else None).values("seq")
    unseen = Message.objects.filter(
        thread=OuterRef("pk"), cancelled_at__isnull=True, seq__gt=Coalesce(Subquery(mark), 0)
    ).exclude(author=reader or actor)
    number = unseen.order_by().values("thread").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(number, output_field=IntegerField()), 0)


def _members(workspace: UUID, kind: AccountKind) -> list[Member]:
    held = _codenames(workspace)
    accounts = User.objects.filter(pk__in=held, kind=kind.value, is_active=True)
    memberships = Membership.objects.filter(workspace=workspace, left_at__isnull=True)
    places = dict(memberships.values_list("user_id", "place"))
    members = [
        Member(account.pk, account.name, account.username, places.get(account.pk), role_of(held[account.pk]))
        for account in accounts
    ]
    return sorted(members, key=lambda member: (member.place is None, member.place or 0, member.name, member.id))


def _codenames(workspace: UUID) -> dict[UUID, set[str]]:
    on_it = Q(unexpired(), content_object=workspace)
    direct = WorkspaceUserGrant.objects.filter(on_it).values_list("user_id", "permission__codename")
    through = WorkspaceGroupGrant.objects.filter(on_it, group__user__isnull=False)
    held: dict[UUID, set[str]] = {}
    for account, codename in [*direct, *through.values_list("group__user", "permission__codename")]:
        held.setdefault(account, set()).add(codename)
    return held
