"""Threads, their logs and their messages as staff see them: who and when to all staff, what was said to its viewers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from unfold.decorators import action

from collab.models.threads import Event, Message, Thread
from collab.selectors import names_of
from permissions.admin.base import StaffAdmin, actor_column, private
from permissions.admin.objects import MANAGERS_ONLY, GuardedAdmin
from permissions.models import Guarded

AGENT = "accord_agent"
"""What a page puts on the threads it shows: the name of the agent."""
LOG, MESSAGES = "log", "messages"


class ThreadAdmin(GuardedAdmin):
    """Conversations of people and one agent."""

    heading = "Threads"
    list_display = ("title", "workspace", "agent", "mode", "answers", "head_seq", "archived_at", "created_at")
    list_filter = ("mode", "answers", "archived_at")
    list_select_related = ("workspace",)
    linked_by = ("workspace",)
    id_fields = ("pk", "workspace", "agent_id")
    search_fields = ("title", "workspace__name")
    ordering = ("-created_at", "-pk")
    actions_detail = (LOG, MESSAGES, *MANAGERS_ONLY)
    shown = (
        *("title", "id", "workspace", "agent", "mode", "answers", "focus", "archived_at", "created_at"),
        *("head_seq", "head_hash", "turn_count"),
        *("lease_holder", "lease_epoch", "lease_until"),
    )

    @display(description="Agent")
    def agent(self, obj: Thread) -> str:
        """The name of the agent that answers in it."""
        name: str = vars(obj).get(AGENT, "")
        return name

    @action(description="Log", url_path=LOG)
    def log(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Go to the thread's log."""
        return self._to(Event, object_id)

    @action(description="Messages", url_path=MESSAGES)
    def messages(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Go to the thread's messages."""
        return self._to(Message, object_id)

    def prepare(self, rows: Sequence[Thread]) -> None:
        super().prepare(rows)
        names = names_of(row.agent_id for row in rows if row.agent_id)
        for row in rows:
            vars(row)[AGENT] = names.get(row.agent_id, "") if row.agent_id else ""

    def _to(self, model: type[Event | Message], object_id: str) -> HttpResponse:
        address = reverse(f"{self.admin_site.name}:collab_{model._meta.model_name}_changelist")
        return redirect(f"{address}?{urlencode({'thread__id__exact': object_id})}")


class OfAThread(StaffAdmin):
    """Something of a thread; what is private in it is for the thread's viewers."""

    list_select_related: Sequence[str] = ("thread",)
    linked_by = ("thread",)
    id_fields: tuple[str, ...] = ("pk", "thread", "turn_id")
    search_fields = ("thread__title",)
    search_help_text = "A thread's title, or an id"

    def guarded(self, obj: Any) -> tuple[Guarded, ...]:
        return (obj.thread,)


class EventAdmin(OfAThread):
    """The log: it can only be appended to, and not from here."""

    heading = "Log"
    list_display = ("named", "thread", "who", "turn_id", "at")
    list_filter = ("type",)
    ordering = ("-at", "-seq")
    shown = (
        *("thread", "seq", "type", "who", "turn_id", "at", "lease_epoch", "grants_epoch", "facts"),
        *("prev_hash", "hash"),
    )

    who = actor_column("actor", "Actor")
    facts = private("data", "Data")

    @display(description="Event", ordering="seq")
    def named(self, obj: Event) -> str:
        """Its place in the log, and its type."""
        return str(obj)


class MessageAdmin(OfAThread):
    """What was posted."""

    heading = "Messages"
    list_display = ("named", "thread", "who", "state", "posted_at")
    list_filter = ("kind", "waits", "interrupted")
    ordering = ("-posted_at", "-seq")
    shown = (
        *("thread", "seq", "kind", "who", "posted_at", "state", "text", "why_passed_over"),
        *("taken_by", "taken_as", "cancelled_at", "turn_id", "interrupted", "client_id"),
    )

    who = actor_column("author", "Author")
    text = private("content", "Text")
    why_passed_over = private("passed_over", "Why it was passed over", lambda reason: reason or "")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer("content", "salt")

    @display(description="Message", ordering="seq")
    def named(self, obj: Message) -> str:
        """Its kind, and its place in the log."""
        return str(obj)

    @display(description="State")
    def state(self, obj: Message) -> str:
        """What became of it."""
        if obj.cancelled_at:
            return "cancelled"
        if obj.passed_over is not None:
            return "passed over"
        return "waits" if obj.waits else f"taken as {obj.taken_as}" if obj.taken_by else "posted"
