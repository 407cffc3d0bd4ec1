"""Where a program begins: what there is, and who it is here."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from ninja import Router

from agents.clients.rest.asking import Asked
from agents.clients.rest.shapes import Me, Start
from agents.errors import Unauthenticated
from collab.kinds import KINDS
from collab.selectors import names_of
from permissions.phrases import GONE_NAME

router = Router(tags=["Start"])


@router.get("/", auth=None, response=Start)
def start(request: HttpRequest) -> dict[str, object]:
    """Say what this API is, and where to go on. It needs no token."""
    return {
        "version": "1",
        "openapi": reverse("api:openapi-json"),
        "docs": reverse("api:openapi-view"),
        "me": reverse("api:me"),
        "document_kinds": list(KINDS.names()),
    }


@router.get("/me", response=Me)
def me(request: Asked) -> dict[str, object]:
    """Say who asks: the client, whom it acts for, and what its token is for."""
    bearer = request.auth.bearer
    if bearer is None:
        raise Unauthenticated
    client, person = bearer.actor.id, bearer.actor.person
    names = names_of([client, *([person] if person else [])])
    return {
        "client": {"id": str(client), "name": names.get(client, GONE_NAME)},
        "person": {"id": str(person), "name": names.get(person, GONE_NAME)} if person else None,
        "workspaces": sorted(map(str, bearer.actor.within or ())),
        "expires_at": bearer.expires_at.isoformat(),
    }
