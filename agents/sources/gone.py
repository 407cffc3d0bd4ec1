"""Recording that what a call did is gone, as a source reports it (DESIGN 8)."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from agents.models.sources import Route, Source
from agents.models.turns import Call
from collab.events import EffectGone
from collab.log import append, thread_locked
from permissions.actors import Source as SourceActor
from permissions.actors import person


def effects_gone(*, source: Source, delivery: UUID, subjects: Collection[str]) -> int:
    """Record, of each subject that a call of ours made, that it is gone; return of how many. Once recorded, saying it
    again changes nothing."""
    if not subjects:
        return 0
    routes = Route.objects.filter(source=source, subject__in=subjects, call__isnull=False, call__gone_at=None)
    return sum(_gone(route, delivery) for route in routes.order_by("thread_id", "pk"))


def _gone(route: Route, delivery: UUID) -> bool:
    call_id = route.call_id
    if call_id is None:
        return False
    owner = person(route.owner) if route.owner else None
    with thread_locked(route.thread_id) as locked:
        if not Call.objects.filter(pk=call_id, gone_at=None).update(gone_at=locked.now):
            return False
        actor = SourceActor(route.source_id, owner.id if owner else None)
        append(locked, EffectGone(call=call_id, delivery=delivery), actor=actor)
        return True
