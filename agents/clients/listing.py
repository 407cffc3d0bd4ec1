"""The clients and tokens a person has, as their account page shows them; each in a constant number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet

from agents.clients.services import MOST_TOKENS
from agents.models.clients import AccessToken, Client, Refresh
from collab import selectors
from collab.models.grants import WorkspaceUserGrant
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.clock import AccordNow
from permissions.decisions import Action
from permissions.grants import readable, unexpired
from permissions.roles import Role, role_of

OVER_SHOWN = 5
"""Tokens of a client that stand no more and are still shown."""

STANDS, RENEWABLE, EXPIRED, REVOKED = "stands", "renewable", "expired", "revoked"


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token as a list shows it: whether it stands, expired (and can be renewed, or not) or was revoked, and whether
    another took its place."""

    token: AccessToken
    state: str
    rotated: bool

    @property
    def over(self) -> bool:
        """Whether nobody can come with it any more, or with what renews it."""
        return self.state in {EXPIRED, REVOKED}


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace, as a client is let into it: the role it holds there itself, empty for none, ``more`` for grants that
    are no role's; and whether the reader may change that."""

    workspace: Workspace
    role: str
    manages: bool


@dataclass(frozen=True, slots=True)
class ClientLine:
    """A client as its person sees it."""

    client: Client
    own: bool
    tokens: Sequence[TokenLine]
    places: Sequence[Place]

    @property
    def inside(self) -> list[Place]:
        """The workspaces that it is let into."""
        return [place for place in self.places if place.role]

    @property
    def outside(self) -> list[Place]:
        """The workspaces that it is not let into."""
        return [place for place in self.places if not place.role]


def clients_of(person: Person) -> list[ClientLine]:
    """Return the clients of a person that are not disabled, oldest first, and those of nobody that act for them or are
    let into a workspace of theirs, with the tokens that act for the person."""
    workspaces = selectors.workspaces_of(person)
    manages = set(readable(Workspace.objects.all(), person, Action.MANAGE).values_list("pk", flat=True))
    lent = _held_by_nobodys(workspaces)
    theirs = Q(person=person.id) | Q(person=None, pk__in=lent) | Q(person=None, tokens__person=person.id)
    tokens = told(AccessToken.objects.filter(person=person.id)).prefetch_related("workspaces")
    newest = tokens.order_by(F("revoked_at").desc(nulls_first=True), "-expires_at", "-pk")[: MOST_TOKENS + OVER_SHOWN]
    listed = Prefetch("tokens", newest, to_attr="listed")
    found = Client.objects.filter(theirs, disabled_at=None).select_related("account").distinct().order_by("pk")
    rows = list(found.prefetch_related(listed))
    held = held_by([row.pk for row in rows])
    return [
        ClientLine(
            client=row,
            own=row.person_id == person.id,
            tokens=lines_of(vars(row)["listed"]),
            places=[
                _place(place, held.get((row.pk, place.id), set()), manages=place.id in manages) for place in workspaces
            ],
        )
        for row in rows
    ]


def told(tokens: QuerySet[AccessToken]) -> QuerySet[Any]:
    """Return tokens with what :func:`state_of` asks of each, and whether another took its place."""
    renewals = Refresh.objects.filter(token=OuterRef("pk"), used_at=None, expires_at__gt=AccordNow())
    found: QuerySet[Any] = tokens.annotate(
        now=AccordNow(),
        renewable=Exists(renewals),
        rotated=Exists(AccessToken.objects.filter(rotated_from=OuterRef("pk"))),
    )
    return found


def lines_of(tokens: Sequence[Any]) -> list[TokenLine]:
    """Return tokens of :func:`told` as a list shows them, a few of those that are over last."""
    lines = [TokenLine(token, state_of(token), token.rotated) for token in tokens]
    over = [line for line in lines if line.over]
    return [*(line for line in lines if not line.over), *over[:OVER_SHOWN]]


def state_of(token: Any) -> str:
    """Say whether one of the tokens of :func:`told` stands, by the database's clock."""
    if token.revoked_at is not None:
        return REVOKED
    if token.expires_at > token.now:
        return STANDS
    return RENEWABLE if token.renewable else EXPIRED


def held_by(accounts: Sequence[UUID]) -> Mapping[tuple[UUID, UUID], set[str]]:
    """Return what accounts hold themselves on workspaces, by account and workspace."""
    found: dict[tuple[UUID, UUID], set[str]] = {}
    rows = WorkspaceUserGrant.objects.filter(unexpired(), user__in=accounts)
    for account, workspace, codename in rows.values_list("user", "content_object", "permission__codename"):
        found.setdefault((account, workspace), set()).add(codename)
    return found


def _held_by_nobodys(workspaces: Sequence[Workspace]) -> Any:
    held = WorkspaceUserGrant.objects.filter(unexpired(), content_object__in=[place.pk for place in workspaces])
    return held.filter(user__client__person=None, user__client__isnull=False).values("user")


def _place(workspace: Workspace, held: set[str], *, manages: bool) -> Place:
    role: Role | None = role_of(held)
    return Place(workspace, role.value if role else "more" if held else "", manages)
