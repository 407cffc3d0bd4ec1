"""How actors are shown: names and hues, read for many at once (docs/protocol.md, actor)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never
from uuid import UUID

from django.db.models import OuterRef, Subquery

from collab.models.workspaces import Membership
from collab.selectors import hue_of
from permissions.actors import Actor, Agent, Client, Person, Source, System, chain
from permissions.models import User
from permissions.phrases import GONE_NAME, SOURCE_NAME, SYSTEM_NAME
from permissions.senders import Sender, senders_of

ActorJson = dict[str, Any]


class Book:
    """The names and hues of actors in one workspace, read in one query; and the names of sources, where there are."""

    def __init__(self, workspace_id: UUID | None, actors: Iterable[Actor | None]) -> None:
        parties = [party for actor in actors if actor is not None for party in chain(actor)]
        ids = {party.id for party in parties if isinstance(party, Person | Client | Agent)}
        self._names: dict[UUID, str] = {}
        self._hues: dict[UUID, int] = {}
        self._senders = senders_of(party.id for party in parties if isinstance(party, Source))
        if ids:
            members = Membership.objects.filter(user_id=OuterRef("pk"))
            place = (members.filter(workspace_id=workspace_id) if workspace_id else members.none()).values("place")
            for user in User.objects.filter(pk__in=ids).annotate(place=Subquery(place)):
                self._names[user.pk] = user.name
                self._hues[user.pk] = hue_of(user.place)

    @property
    def names(self) -> Mapping[UUID, str]:
        """The name of every account and source in the book."""
        return self._names | {id: sender.name for id, sender in self._senders.items()}

    def name(self, account: UUID) -> str:
        """Return an account's name."""
        return self._names.get(account, GONE_NAME)

    def hue(self, account: UUID) -> int:
        """Return an account's hue in the workspace; 0 for who is no member."""
        return self._hues.get(account, 0)

    def json(self, actor: Actor | None) -> ActorJson | None:
        """Return an actor as frames and items show it, with whom it acts for; None for None."""
        match actor:
            case None:
                return None
            case Person(id=id):
                return _json("person", id, self.name(id), self.hue(id), None)
            case Client(id=id, person=owner):
                acts_for = None if owner is None else self.json(Person(owner))
                return _json("client", id, self.name(id), acts_for["hue"] if acts_for else 0, acts_for)
            case Agent(id=id, on_behalf_of=principal):
                return _json("agent", id, self.name(id), 0, self.json(principal))
            case Source(id=id):
                sender = self._senders.get(id, _UNKNOWN)
                return {**_json("source", id, sender.name, 0, None), "verified": sender.verified}
            case System():
                return _json("system", None, SYSTEM_NAME, 0, None)
            case _:
                assert_never(actor)


_UNKNOWN = Sender(SOURCE_NAME, "")


def _json(kind: str, id: UUID | None, name: str, hue: int, acts_for: ActorJson | None) -> ActorJson:
    return {"kind": kind, "id": None if id is None else str(id), "name": name, "hue": hue, "for": acts_for}
