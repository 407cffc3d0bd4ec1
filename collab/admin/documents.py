"""Documents and proposals as staff see them: their text only to those who may view it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest

from collab.canonical import canonical
from collab.kind import BadData, UnknownKind
from collab.kinds import KINDS
from collab.models.proposals import Proposal
from permissions.admin.base import HIDDEN, READABLE, StaffAdmin, actor_column, private
from permissions.admin.objects import GuardedAdmin
from permissions.models import Guarded


class DocumentAdmin(GuardedAdmin):
    """What a workspace's threads work on."""

    heading = "Documents"
    list_display = ("title", "workspace", "kind", "version", "write_policy", "archived_at", "created_at")
    list_filter = ("kind", "write_policy", "archived_at")
    list_select_related = ("workspace",)
    linked_by = ("workspace",)
    id_fields = ("pk", "workspace")
    search_fields = ("title", "workspace__name")
    ordering = ("title", "pk")
    shown = (
        *("title", "id", "workspace", "kind", "version", "write_policy", "archived_at", "created_at"),
        "content",
    )

    content = private("text", "Text")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer("data", "text")


class ProposalAdmin(StaffAdmin):
    """Suggested changes. What they say is for those who may view the thread and the document."""

    heading = "Proposals"
    list_display = ("named", "thread", "who", "state", "resolved_by", "proposed_at")
    list_filter = ("state", "change")
    list_select_related = ("thread", "document")
    linked_by = ("thread", "document", "workspace")
    id_fields = ("pk", "thread", "document", "workspace", "turn_id")
    search_fields = ("title", "thread__title")
    ordering = ("-proposed_at", "-pk")
    shown = (
        *("title", "change", "kind", "workspace", "thread", "document", "base_version", "turn_id", "who"),
        *("proposed_at", "state", "resolved_by", "resolved_at", "said_why", "why", "text", "asked_for"),
    )

    who = actor_column("proposer", "Proposer")
    resolved_by = actor_column("resolver", "Resolved by")
    why = private("rationale", "Why")
    said_why = private("reason", "Reason given")
    asked_for = private("edits", "Edits", canonical)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer("data", "base_data", "edits", "resolver_edits", "document__data", "document__text")

    @display(description="Proposal", ordering="title")
    def named(self, obj: Proposal) -> str:
        """What it would change."""
        return str(obj)

    @display(description="What the document would be")
    def text(self, obj: Proposal) -> str:
        """The document with the change made."""
        return _text(obj.kind, obj.data) if vars(obj).get(READABLE, False) else HIDDEN

    def guarded(self, obj: Proposal) -> Sequence[Guarded]:
        return (obj.thread,) if obj.document is None else (obj.thread, obj.document)


def _text(kind: str, data: object) -> str:
    try:
        return KINDS.named(kind).to_text(data)
    except (BadData, UnknownKind):
        return canonical(data)
