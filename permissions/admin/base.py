"""What every page of the admin site keeps to: staff see metadata, nobody changes what its admin does not say.

Rights are grants on objects (DESIGN 5), so Django's own model permissions are never asked. A query string filters and
sorts by nothing but what a list shows: a filter on a hidden column would tell its text letter by letter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.contrib.admin import display
from django.contrib.admin.views.main import ERROR_FLAG
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from permissions.actors import Actor, Person
from permissions.decisions import Action, Level
from permissions.fields import ActorField
from permissions.gate import decide_on
from permissions.grants import names_of
from permissions.models import Guarded, User
from permissions.phrases import told

HIDDEN = "Shown only to those who may view it."
NAMES, READABLE = "accord_names", "accord_readable"
"""What a page puts on the rows it shows: the names of their actors, and whether its reader may view what is private."""

COMPARISONS = ("exact", "isnull", "gte", "gt", "lte", "lt", "year", "month", "day", "id__exact")

Column = Callable[[Any, Any], str]


def staff(request: HttpRequest) -> User | None:
    """Return the signed-in person when they are active staff, else None."""
    user = request.user
    return user if isinstance(user, User) and user.is_active and user.is_staff else None


def superuser(request: HttpRequest) -> bool:
    """Say whether the signed-in person is an active superuser."""
    user = staff(request)
    return user is not None and user.is_superuser


def reader(request: HttpRequest) -> Person:
    """Return the signed-in person as an actor. The admin site has checked that there is one."""
    return Person(UUID(str(request.user.pk)))


def actor_column(field: str, label: str) -> Column:
    """Return a column that shows who an actor is, and for whom: ``Robin for Ana``."""

    def shown(_: Any, obj: Model) -> str:
        actor: Actor | None = getattr(obj, field)
        return "" if actor is None else told(actor, vars(obj).get(NAMES, {}))

    return display(description=label)(shown)


def private(field: str, label: str, text: Callable[[Any], str] = str) -> Column:
    """Return a column that shows a field only to a reader who may view it; everywhere else it says why not."""

    def shown(_: Any, obj: Model) -> str:
        return text(getattr(obj, field)) if vars(obj).get(READABLE, False) else HIDDEN

    return display(description=label)(shown)


class NamedChangeList(ChangeList):
    """A list whose rows know the names they show, read in a number of queries that does not grow with them."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        self.model_admin.prepare(rows)
        self.result_list = rows


class StaffAdmin(ModelAdmin):
    """A model whose metadata staff may read and nobody may change."""

    heading = ""
    shown: tuple[str, ...] = ()
    """What a row's own page shows."""
    linked_by: tuple[str, ...] = ()
    """What other pages filter this list by."""
    id_fields: tuple[str, ...] = ("pk",)
    """Where an id typed into the search is looked for."""

    list_per_page = 50
    show_full_result_count = False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return staff(request) is not None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return staff(request) is not None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        known = [*self.linked_by, *(named for named in self.list_filter if isinstance(named, str))]
        if self.date_hierarchy:
            known.append(self.date_hierarchy)
        return any(lookup in {name, *(f"{name}__{how}" for how in COMPARISONS)} for name in known)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return NamedChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by what a list shows, or by an id as logs and addresses show it."""
        try:
            wanted = UUID(search_term.strip())
        except ValueError:
            found: tuple[QuerySet[Any], bool] = super().get_search_results(request, queryset, search_term)
            return found
        matches = Q()
        for field in self.id_fields:
            matches |= Q(**{field: wanted})
        return queryset.filter(matches), False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        # PostgreSQL refuses to compare anything with a NUL, so nothing is called that.
        obj = None if "\0" in object_id else super().get_object(request, object_id, from_field)
        if obj is not None:
            self.prepare([obj])
            vars(obj)[READABLE] = self.may_read(reader(request), obj)
        return obj

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        # PostgreSQL takes no NUL; a filter that holds one is answered as any other that cannot be.
        if any("\0" in value for _, values in request.GET.lists() for value in values):
            return redirect(f"{request.path}?{ERROR_FLAG}=1")
        response: HttpResponse = super().changelist_view(request, {"title": self.heading, **(extra_context or {})})
        return response

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        # What nobody changes here has no history of changes made here.
        context = {"show_history": self.has_change_permission(request), **(extra_context or {})}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return response

    def prepare(self, rows: Sequence[Any]) -> None:
        """Put on rows what they show of others: the names of their actors, in one query."""
        fields = [field.attname for field in self.model._meta.concrete_fields if isinstance(field, ActorField)]
        actors = [actor for row in rows for field in fields if (actor := getattr(row, field)) is not None]
        names = names_of(*actors) if actors else {}
        for row in rows:
            vars(row)[NAMES] = names

    def guarded(self, obj: Any) -> Sequence[Guarded]:
        """Return the objects whose viewers may read what is private on a row; none: nobody may."""
        return ()

    def may_read(self, actor: Person, obj: Any) -> bool:
        """Say whether someone may read what is private on a row: by the same decision as everywhere (DESIGN 5)."""
        guarded = self.guarded(obj)
        return bool(guarded) and all(decide_on(actor, Action.VIEW, one).level is Level.ALLOW for one in guarded)
