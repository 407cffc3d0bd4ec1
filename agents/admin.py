"""Agents, their turns, calls and questions as staff see them.

A call's arguments and result are for the person its turn is for, superusers or not (DESIGN 6, What the model sees);
what a turn said and asked is for the thread's viewers. A turn's history, which holds calls, is shown to nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.admin import display
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.widgets import UnfoldAdminTextInputWidget

from agents.admin_clients import AccessTokenAdmin, ClientAdmin
from agents.admin_reading import reading_page
from agents.admin_replies import PhrasingAdmin, ReplyCountAdmin
from agents.admin_sources import DeliveryAdmin, SourceAdmin
from agents.admin_tools import ToolAdmin, WorkspaceToolAdmin
from agents.models.agents import Agent
from agents.models.clients import AccessToken, Client
from agents.models.replies import Phrasing, ReplyCount
from agents.models.sources import Delivery, Source
from agents.models.tools import Tool, WorkspaceTool
from agents.models.turns import Call, Question, Turn
from agents.reply_settings import HELP, SPEECH, examples_shown, kinds_field, settings_cleaned
from agents.services import agent_create
from collab.admin.site import site
from collab.admin.threads import OfAThread
from collab.canonical import canonical
from collab.models.grants import WorkspaceUserGrant
from permissions.actors import Person, same_author
from permissions.admin.base import StaffAdmin, actor_column, private, reader, superuser
from permissions.grants import unexpired
from permissions.models import Guarded
from permissions.roles import role_of

BUDGETS = (
    *("max_steps", "max_calls", "max_tokens", "max_seconds", "max_bytes"),
    *("history_tokens", "turns_a_day", "tokens_a_day"),
)

IN_FLIGHT = ("in_flight", "classify")
IN_FLIGHT_HELP = {
    "in_flight": (
        "What a message does that someone posts while the agent works for them. Merge: it joins at the next step. "
        "Queue: it waits until the turn has ended. Restart: the turn stops at the next step and starts over with all "
        "that was asked; calls it made already are not made again. Anyone else’s message always waits."
    ),
    "classify": (
        "The model first says whether such a message adds, is independent, revises or is unclear. Independent: it "
        "waits. Revises: the turn stops, and the next is told what it did. Unclear: its author is asked. "
        "Each message costs one short request more."
    ),
}


if TYPE_CHECKING:
    AgentModelForm = forms.ModelForm[Agent]
else:
    AgentModelForm = forms.ModelForm


class AgentForm(AgentModelForm):
    """An agent and the name of its account."""

    name = forms.CharField(max_length=100, widget=UnfoldAdminTextInputWidget())
    never_show = kinds_field()

    class Meta:
        model = Agent
        fields = ("instructions", "model", *SPEECH, *IN_FLIGHT, *BUDGETS)
        help_texts = {**HELP, **IN_FLIGHT_HELP}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.account_id:
            self.fields["name"].initial = self.instance.account.display_name

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        return found if self.errors else {**found, **settings_cleaned(found)}


class AgentAdmin(StaffAdmin):
    """The agents that threads work with."""

    heading = "Agents"
    form = AgentForm
    list_display = ("named", "model", "is_on", "turns_a_day", "tokens_a_day")
    list_select_related = ("account",)
    search_fields = ("account__display_name", "model")
    ordering = ("account__display_name",)

    @display(description="Name", ordering="account__display_name")
    def named(self, obj: Agent) -> str:
        """What people call it."""
        return obj.account.name

    @display(description="On", boolean=True, ordering="account__is_active")
    def is_on(self, obj: Agent) -> bool:
        """Whether its account is on; it is switched among the people."""
        return obj.account.is_active

    @display(description="Examples")
    def examples(self, obj: Agent) -> str:
        """What its reply settings, as they are saved, make of an example of each."""
        return examples_shown(obj)

    @display(description="Works in")
    def works_in(self, obj: Agent) -> str:
        """The workspaces it is enabled in, each with its role."""
        held: dict[Any, set[str]] = {}
        grants = WorkspaceUserGrant.objects.filter(unexpired(), user=obj.account)
        for grant in grants.select_related("content_object", "permission").order_by("content_object__name"):
            held.setdefault(grant.content_object, set()).add(grant.permission.codename)
        lines = [f"{workspace} ({role_of(codenames) or 'some grants'})" for workspace, codenames in held.items()]
        return "\n".join(lines) or "No workspace yet: its owner enables it on the workspace's page of people."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return superuser(request)

    def get_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        named = "name" if superuser(request) else "named"
        return (
            named,
            "instructions",
            "model",
            *SPEECH,
            *IN_FLIGHT,
            *BUDGETS,
            *(("examples", "works_in") if obj else ()),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return ("named", "examples", "works_in")

    def save_model(self, request: HttpRequest, obj: Agent, form: AgentForm, change: object) -> None:
        """Make the agent by its service, or change it and its name."""
        name = form.cleaned_data["name"]
        if not change:
            made = agent_create(actor=reader(request), name=name, instructions=obj.instructions, model=obj.model)
            obj.account = made.account
        elif obj.account.display_name != name:
            obj.account.display_name = name
            obj.account.save(update_fields=["display_name"])
        obj.save(force_update=True)


class TurnAdmin(OfAThread):
    """What the agents worked."""

    heading = "Turns"
    list_display = ("named", "thread", "status", "trigger", "whom", "started_at", "ended_at")
    list_filter = ("status", "trigger")
    id_fields = ("pk", "thread", "agent_id", "root_id")
    ordering = ("-started_at", "-pk")
    shown = (
        *("thread", "number", "seq", "status", "reason", "sentence", "trigger", "started_by", "whom", "agent_id"),
        *("root_id", "resumes", "continues", "restarts", "revises"),
        *("attempt", "steps", "lease_epoch", "input_tokens", "output_tokens"),
        *("stopped_by", "started_at", "ended_at", "said", "reading"),
    )

    started_by = actor_column("origin", "Origin")
    whom = actor_column("on_behalf_of", "For")
    stopped_by = actor_column("stop_asked_by", "Stop asked by")
    sentence = private("because", "Because")
    said = private("text", "Reply up to the last boundary")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer("history", "text", "known")

    @display(description="Turn", ordering="number")
    def named(self, obj: Turn) -> str:
        """Its number in the thread."""
        return str(obj)

    @display(description="How it is read")
    def reading(self, obj: Turn) -> str:
        """The way to the page that reads its reply."""
        return format_html('<a href="{}?turn={}">Read a reply</a>', reverse("admin:reading"), obj.pk)


class OfATurn(StaffAdmin):
    """Something of a turn; what is private in it is for the thread's viewers."""

    list_select_related = ("turn", "turn__thread")
    linked_by = ("turn",)
    id_fields = ("pk", "turn", "turn__thread")
    search_fields = ("turn__thread__title",)
    search_help_text = "A thread's title, or an id"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer("turn__history", "turn__text", "turn__known")

    @display(description="Thread")
    def thread(self, obj: Call | Question) -> str:
        """The thread it happened in."""
        return str(obj.turn.thread)

    def guarded(self, obj: Call | Question) -> tuple[Guarded, ...]:
        return (obj.turn.thread,)


class CallAdmin(OfATurn):
    """What turns did with tools."""

    heading = "Calls"
    list_display = ("tool", "thread", "turn", "outcome", "reason", "sent_at", "finished_at")
    list_filter = ("tool", "outcome", "effect")
    ordering = ("-sent_at", "-pk")
    shown = (
        *("tool", "called_as", "thread", "turn", "step", "number", "effect", "outcome", "reason", "sentence"),
        *("key", "model_call_id", "sent_at", "finished_at", "arguments", "returned"),
    )

    arguments = private("args", "Arguments")
    returned = private("result", "Result")
    sentence = private("because", "Because")

    def may_read(self, actor: Person, obj: Call) -> bool:
        """Its turn's own person, while they may view the thread."""
        principal = obj.turn.principal
        return principal is not None and same_author(actor, principal) and super().may_read(actor, obj)


class QuestionAdmin(OfATurn):
    """What turns asked people."""

    heading = "Questions"
    list_display = ("named", "thread", "turn", "state", "answerer", "asked_at")
    list_filter = ("dismissed",)
    ordering = ("-asked_at", "-pk")
    shown = (
        *("thread", "turn", "seq", "state", "asked_at", "answered_at", "answerer"),
        *("asked", "offered", "answered"),
    )

    answerer = actor_column("answered_by", "Answered by")
    asked = private("text", "Question")
    offered = private("choices", "Choices", canonical)
    answered = private("answer", "Answer")

    @display(description="Question", ordering="seq")
    def named(self, obj: Question) -> str:
        """Where the log records it."""
        return str(obj)

    @display(description="State")
    def state(self, obj: Question) -> str:
        """Whether it still waits for an answer."""
        return "answered" if obj.answered_at else "dismissed" if obj.dismissed else "open"


site.add_page("Reading", "read-a-reply/", reading_page)
REGISTERED: dict[type[Model], type[StaffAdmin]] = {
    Agent: AgentAdmin,
    Turn: TurnAdmin,
    Call: CallAdmin,
    Question: QuestionAdmin,
    Phrasing: PhrasingAdmin,
    ReplyCount: ReplyCountAdmin,
    Tool: ToolAdmin,
    WorkspaceTool: WorkspaceToolAdmin,
    Source: SourceAdmin,
    Delivery: DeliveryAdmin,
    Client: ClientAdmin,
    AccessToken: AccessTokenAdmin,
}
for model, shown_by in REGISTERED.items():
    site.register(model, shown_by)
