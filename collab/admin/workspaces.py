"""Workspaces as staff see them."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import display
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from collab.models.documents import Document
from collab.models.threads import Thread
from permissions.admin.objects import GuardedAdmin


class WorkspaceAdmin(GuardedAdmin):
    """What people share."""

    heading = "Workspaces"
    list_display = ("name", "threads_number", "documents_number", "created_at")
    search_fields = ("name",)
    ordering = ("name",)
    shown = ("name", "id", "threads_number", "documents_number", "grants_epoch", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = found.annotate(
            threads_number=_number_of(Thread.objects.all()), documents_number=_number_of(Document.objects.all())
        )
        return counted

    @display(description="Threads", ordering="threads_number")
    def threads_number(self, obj: Any) -> int:
        """How many threads it has, archived ones too."""
        number: int = obj.threads_number
        return number

    @display(description="Documents", ordering="documents_number")
    def documents_number(self, obj: Any) -> int:
        """How many documents it has, archived ones too."""
        number: int = obj.documents_number
        return number


def _number_of(things: QuerySet[Any]) -> Coalesce:
    number = things.filter(workspace=OuterRef("pk")).order_by().values("workspace").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(number, output_field=IntegerField()), 0)
