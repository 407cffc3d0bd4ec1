"""Whose a socket is, what they may do in its thread, and whether that still holds (DESIGN 5, Live connections)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from collab.models.threads import Thread
from collab.web.actors import Book
from permissions.actors import Person
from permissions.decisions import Action, Level, Standing, decide
from permissions.errors import NotFound
from permissions.grants import facts
from permissions.models import User
from permissions.roles import VIEW, role_of

SHOWN = tuple(action for action in Action if action not in {Action.VIEW, Action.USE_TOOL})
"""The actions a viewer is told about."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """The session a socket was opened in: its key, whose it is, and what it was signed with (their password)."""

    key: str
    person: UUID
    auth_hash: str

    @property
    def digest(self) -> str:
        """The name the doorbell knows the session by."""
        return session_digest(self.key)


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person who reads a thread.

    Attributes:
        person: their account.
        whole: they may see the whole workspace; if not, each document has to be asked about.
    """

    person: UUID
    whole: bool

    @property
    def actor(self) -> Person:
        return Person(self.person)


@dataclass(frozen=True, slots=True)
class Admission:
    """A viewer, and what they are told about themselves."""

    viewer: Viewer
    json: dict[str, Any]


def admission(person: UUID, thread: Thread) -> Admission:
    """Return what a person may do in a thread, as the database stands (two queries).

    Raises:
        NotFound: they may not see it.
    """
    actor = Person(person)
    known = facts(actor, thread)
    if decide(actor, Action.VIEW, known).level < Level.ALLOW:
        raise NotFound
    standing = known.standings[person]
    decisions = {action: decide(actor, action, known) for action in SHOWN}
    json = {
        "id": str(person),
        "name": standing.name,
        "hue": Book(thread.workspace_id, [actor]).hue(person),
        "role": _role(standing),
        "may": {
            action.value: {"ok": decision.level is Level.ALLOW, "because": decision.because}
            for action, decision in decisions.items()
        },
    }
    return Admission(Viewer(person, whole=standing.superuser or VIEW in _on_workspace(standing)), json)


def admitted(thread_id: UUID, people: Collection[UUID]) -> dict[UUID, Admission]:
    """Return the admissions of those among these people who may see the thread."""
    found: dict[UUID, Admission] = {}
    thread = Thread.objects.get(pk=thread_id)
    for person in people:
        try:
            found[person] = admission(person, thread)
        except NotFound:
            continue
    return found


def session_digest(key: str) -> str:
    """Return the name the doorbell knows a session by (:func:`collab.doorbell.session_over`)."""
    return hashlib.sha256(key.encode()).hexdigest()


def sessions_over(sessions: Iterable[SignIn]) -> set[str]:
    """Return the keys of those sessions that are over: signed out, expired, account inactive, password changed."""
    asked = list(sessions)
    alive = set(
        Session.objects.filter(
            session_key__in=[session.key for session in asked], expire_date__gt=timezone.now()
        ).values_list("session_key", flat=True)
    )
    people = User.objects.in_bulk({session.person for session in asked})
    return {session.key for session in asked if session.key not in alive or not _holds(session, people)}


def _holds(session: SignIn, people: dict[UUID, User]) -> bool:
    user = people.get(session.person)
    return (
        user is not None and user.is_active and constant_time_compare(session.auth_hash, user.get_session_auth_hash())
    )


def _on_workspace(standing: Standing) -> set[str]:
    return {held.codename for held in standing.grants if held.on_scope}


def _role(standing: Standing) -> str | None:
    role = role_of(_on_workspace(standing))
    return None if role is None else role.value
