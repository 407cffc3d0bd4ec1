"""Clients in tests: registered and let in through the services, with the token they come with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agents.clients.services import client_enable, client_register, token_issue
from agents.clients.tokens import bearer
from agents.models.clients import AccessToken
from agents.models.clients import Client as ClientRow
from collab.models.workspaces import Workspace
from permissions.actors import Client, System
from permissions.roles import Role
from tests.support.cast import Someone, Studio


@dataclass(frozen=True, slots=True)
class Connected:
    """A client with a token: its row, the token and the secret that is shown once."""

    row: ClientRow
    token: AccessToken
    secret: str

    @property
    def actor(self) -> Client:
        """Who comes with the token."""
        return bearer(self.secret).actor

    @property
    def header(self) -> dict[str, str]:
        """The header of its requests."""
        return {"Authorization": f"Bearer {self.secret}"}


def connected(
    studio: Studio, person: Someone | None, *, name: str = "Desk", role: Role | None = Role.EDITOR,
    within: Iterable[Workspace] = (), **token: Any,
) -> Connected:  # fmt: skip
    """Register a client of a person (or one that acts for no one), let it into the studio and issue it a token.

    Args:
        role: the most that it may do in the studio; None lets it in nowhere.
        within: the workspaces of its token; none is the studio's.
    """
    by = person.actor if person else System()
    acts_for = person.id if person else None
    row = client_register(actor=by, name=name, person=acts_for)
    if role is not None:
        client_enable(actor=studio.ana.actor, workspace=studio.workspace.id, client=row.pk, role=role)
    places = [place.id for place in within] or [studio.workspace.id]
    issued, secret = token_issue(actor=by, client=row.pk, name="Tests", workspaces=places, person=acts_for, **token)
    return Connected(row, issued, secret)


def reissued(client: Connected, studio: Studio, person: Someone) -> Connected:
    """Issue another token of a client, for the studio."""
    issued, secret = token_issue(
        actor=person.actor, client=client.row.pk, name="More tests", workspaces=[studio.workspace.id], person=person.id
    )
    return Connected(client.row, issued, secret)
