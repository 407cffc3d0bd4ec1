"""Routes: what a call's result names, so that what a source says of it later finds its thread and owner (DESIGN 8)."""

from __future__ import annotations

from uuid import UUID

import structlog
from pydantic import JsonValue, TypeAdapter

from agents.models.sources import Route, Source
from agents.models.turns import Call, Turn
from agents.tools.contract import Routes
from permissions.actors import person

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)

log = structlog.get_logger(__name__)

MOST = 20
"""Subjects that one result names, at most."""

LONGEST = 200
"""Characters of a subject."""


def routes_stored(turn: Turn, workspace: UUID, call: Call, routes: Routes) -> None:
    """Store the routes that a call's result names, in the transaction of its outcome; a subject that has one already
    goes to the newer call. What names a source that this workspace has not is left out, and logged."""
    try:
        named = list(routes(_json(call)))[:MOST]
    except Exception:
        log.exception("routes_not_read", tool=call.tool, call=str(call.id))
        return
    names = {name for name, _ in named}
    sources = dict(Source.objects.filter(workspace_id=workspace, name__in=names).values_list("name", "id"))
    owner = person(turn.principal) if turn.principal else None
    for name, subject in named:
        if name not in sources or not subject or len(subject) > LONGEST:
            log.warning("route_left_out", tool=call.tool, source=name, call=str(call.id))
            continue
        Route.objects.update_or_create(
            source_id=sources[name],
            subject=subject,
            defaults={"thread_id": turn.thread_id, "owner": owner, "call": call},
        )


def _json(call: Call) -> JsonValue:
    return _JSON.validate_json(call.result or "null")
