"""Finding what someone names in words: an account, an object, a thread (``manage.py why``, the admin's page).

They name it to an administrator of the installation, so nothing is hidden from them.
"""

from __future__ import annotations

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from collab.asking import CALLED, KINDS, NAMES, Object
from collab.models.documents import Document
from collab.models.threads import Thread
from permissions.actors import Actor
from permissions.decisions import AccountKind
from permissions.models import User
from permissions.reach import NOWHERE, party_of

FOUND = TypeVar("FOUND", bound=Model)

LISTED = 5
"""How many of several that fit an error names."""


class Unnamed(LookupError):
    """Words that name nothing, or several things; its text is a sentence that says which."""


def actor_named(name: str, person: str | None, thread: Thread | None) -> Actor:
    """Return the actor that an account is, for a person or for no one, in a thread or in none in particular.

    Raises:
        Unnamed: either names nothing, or several accounts; or a person is to act for another.
    """
    account = _account(name, User.objects.all())
    whom = _account(person, User.objects.filter(kind=AccountKind.PERSON.value)) if person else None
    try:
        kind = AccountKind(account.kind)
        return party_of(account.pk, kind, whom.pk if whom else None, thread.pk if thread else NOWHERE)
    except ValueError:
        raise Unnamed(f"{account.name} is a person, and acts for nobody else.") from None


def _account(name: str, among: QuerySet[User]) -> User:
    id = _id(name)
    fits = Q(pk=id) if id else Q(username=name)
    if id is None and not among.filter(fits).exists():
        fits = Q(display_name=name)
    return _one(among.filter(fits), f"account called {name!r}")


def object_named(text: str) -> Object:
    """Return the object of an id, or of ``document:TITLE`` and the like.

    Raises:
        Unnamed: it names nothing, or several objects.
    """
    kind, _, name = text.partition(":")
    if kind in KINDS and name:
        return _named(kind, name)
    if (id := _id(text)) is None:
        if (bare := _bare(text)) is not None:
            return bare
        forms = "an id, workspace:NAME, thread:TITLE, document:TITLE, or the name of an enabled tool"
        raise Unnamed(f"{text!r} is no object: give {forms}.")
    found: list[Object] = [row for model in KINDS.values() for row in _all(model).filter(pk=id)]
    if not found:
        raise Unnamed(f"There is no {', '.join([*KINDS][:-1])} or {[*KINDS][-1]} with the id {id}.")
    return found[0]


def thread_named(text: str | None, obj: Object) -> Thread | None:
    """Return the thread in which something is done to an object; without words the object, where it is a thread.

    Raises:
        Unnamed: it names nothing in the object's workspace, or several threads.
    """
    if not text:
        return obj if isinstance(obj, Thread) else None
    name = text.removeprefix("thread:")
    id, here = _id(name), Thread.objects.filter(workspace=obj.scope_id)
    return _one(here.filter(pk=id) if id else here.filter(title=name), f"thread called {name!r} in its workspace")


def _named(kind: str, name: str) -> Object:
    model, id = KINDS[kind], _id(name)
    named = NAMES[kind](name) if kind in NAMES else Q(**{CALLED[kind]: name})
    found: Object = _one(_all(model).filter(Q(pk=id) if id else named), f"{kind} called {name!r}")
    return found


def _bare(text: str) -> Object | None:
    """Find what needs no word before its name, since no person chose that."""
    for kind, named in NAMES.items():
        rows = _all(KINDS[kind]).filter(named(text))
        if rows.exists():
            found: Object = _one(rows, f"{kind} called {text!r}")
            return found
    return None


def _all(model: type[Object]) -> QuerySet[Any]:
    rows: QuerySet[Any] = model._default_manager.all()
    return rows.defer("data") if model is Document else rows


def _one(rows: QuerySet[FOUND], what: str) -> FOUND:
    found = list(rows.order_by("pk")[: LISTED + 1])
    if not found:
        raise Unnamed(f"There is no {what}.")
    if len(found) > 1:
        ids = ", ".join(str(row.pk) for row in found[:LISTED])
        raise Unnamed(f"There is more than one {what}; name its id: {ids}.")
    return found[0]


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
