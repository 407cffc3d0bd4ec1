"""The history of grants: who gave or took what, on what, when and why. Read-only for everyone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.admin import display
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from permissions.admin.base import StaffAdmin, actor_column
from permissions.admin.standing import named_apart
from permissions.history import by_name
from permissions.models import GrantChange, Guarded

OBJECTS = "accord_objects"
"""What a page puts on the rows it shows: the objects they are about, by kind and id."""


class HistoryAdmin(StaffAdmin):
    """Every grant given and taken."""

    heading = "Grant history"
    list_display = ("at", "who", "did", "whom", "on", "until", "reason")
    list_filter = ("given", "codename", "object_kind")
    list_select_related = ("account", "group")
    linked_by = ("object_id", "scope_id", "account", "group")
    id_fields = ("pk", "object_id", "scope_id", "account")
    search_fields = ("account__username", "account__display_name", "group__name", "codename", "through", "reason")
    search_help_text = "Who did it or holds it, on what, a grant, a reason, or an id"
    date_hierarchy = "at"
    ordering = ("-at", "-pk")
    shown = ("at", "who", "did", "whom", "through", "on", "object_id", "until", "reason", "epoch")

    who = actor_column("by", "By")

    @display(description="Change", ordering="codename")
    def did(self, obj: GrantChange) -> str:
        """What was done: ``gave view``."""
        return f"{'gave' if obj.given else 'took'} {obj.codename.replace('_', ' ')}"

    @display(description="To or from")
    def whom(self, obj: GrantChange) -> str:
        """Who holds it since, or no longer, and by which group."""
        holder = named_apart(obj.account) if obj.account else f"group {obj.group}"
        return f"{holder}, through group {obj.through}" if obj.through else holder

    @display(description="On")
    def on(self, obj: GrantChange) -> str:
        """The object, by the name it has."""
        found = vars(obj).get(OBJECTS, {}).get((obj.object_kind, obj.object_id))
        return f"{obj.object_kind.rpartition('.')[2]} {found or obj.object_id}"

    @display(description="Until", empty_value="for good", ordering="expires_at")
    def until(self, obj: GrantChange) -> Any:
        """When it expires."""
        return obj.expires_at

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find also by who did it, and by what the object is called."""
        found, doubled = super().get_search_results(request, queryset, search_term)
        if not (words := search_term.strip()):
            return found, doubled
        matches = Q(pk__in=found.order_by().values("pk")) | by_name(words)
        for called in self._called(words):
            matches |= Q(object_id__in=called)
        return queryset.filter(matches), doubled

    def _called(self, words: str) -> Iterator[QuerySet[Any]]:
        """Yield the objects of each kind whose name, which its own list is searched by first, has these words."""
        for model in apps.get_models():
            if issubclass(model, Guarded) and self.admin_site.is_registered(model):
                name = self.admin_site.get_model_admin(model).search_fields[0]
                yield model._default_manager.filter(**{f"{name}__icontains": words}).order_by().values("pk")

    def prepare(self, rows: Sequence[GrantChange]) -> None:
        super().prepare(rows)
        objects = _objects(rows)
        for row in rows:
            vars(row)[OBJECTS] = objects


def _objects(rows: Sequence[GrantChange]) -> dict[tuple[str, UUID], Any]:
    """Read what the rows are about, in one query a kind; what is gone is not in it."""
    wanted: dict[str, set[UUID]] = {}
    for row in rows:
        wanted.setdefault(row.object_kind, set()).add(row.object_id)
    return {
        (kind, id): found
        for kind, ids in wanted.items()
        for id, found in apps.get_model(kind)._default_manager.in_bulk(ids).items()
    }
