"""The admin site: its address, its order, its policy for the browser (DESIGN 11, Admin)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from csp.decorators import csp_update
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from unfold.sites import UnfoldAdminSite

from collab.admin.documents import DocumentAdmin, ProposalAdmin
from collab.admin.sign_in import StaffSignInForm
from collab.admin.threads import EventAdmin, MessageAdmin, ThreadAdmin
from collab.admin.why import why_page
from collab.admin.workspaces import WorkspaceAdmin
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message, Thread
from collab.models.workspaces import Workspace
from permissions.admin.base import StaffAdmin
from permissions.admin.groups import GroupsAdmin
from permissions.admin.history import HistoryAdmin
from permissions.admin.people import PeopleAdmin
from permissions.admin.picking import PickerView
from permissions.models import GrantChange, User

View = Callable[..., Any]

POLICY = {"script-src": ["'self'", "'unsafe-eval'"], "style-src": ["'self'", "'unsafe-inline'"]}
"""What the admin's pages may do beyond all others: unfold sets its colours in a style element, and Alpine evaluates
the attributes it is driven by. Scripts still come from files of ours alone."""

ORDER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("User", "People"),
        ("Group", "Groups"),
        ("Workspace", "Workspaces"),
        ("Thread", "Threads"),
        ("Document", "Documents"),
        ("Agent", "Agents"),
        ("Client", "Clients"),
        ("AccessToken", "Tokens"),
        ("WorkspaceTool", "Enabled tools"),
        ("Tool", "Tools"),
        ("Source", "Sources"),
        ("GrantChange", "Grant history"),
        ("Phrasing", "Phrasings"),
        ("Why", "Why?"),
        ("Reading", "Read a reply"),
    ),
    "Records": (
        ("Event", "Log"),
        ("Message", "Messages"),
        ("Proposal", "Proposals"),
        ("Turn", "Turns"),
        ("Call", "Calls"),
        ("Question", "Questions"),
        ("Delivery", "Deliveries"),
        ("ReplyCount", "Reply counts"),
    ),
}
"""The models by the names of their classes, and what the index calls them; ``Why`` and ``Reading`` have no model."""

ICONS = {
    "User": "person",
    "Group": "group",
    "Workspace": "workspaces",
    "Thread": "forum",
    "Document": "description",
    "Agent": "smart_toy",
    "Client": "cable",
    "AccessToken": "key",
    "WorkspaceTool": "build",
    "Tool": "handyman",
    "Source": "webhook",
    "GrantChange": "history",
    "Phrasing": "record_voice_over",
    "Why": "help",
    "Reading": "spellcheck",
}


class AccordAdminSite(UnfoldAdminSite):
    """Accord's admin site."""

    login_form = StaffSignInForm
    index_title = "Administration"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pages: dict[str, tuple[str, View]] = {}

    def add_page(self, known_as: str, address: str, view: View) -> None:
        """Add a page without a model; ``ORDER`` says where it stands.

        Args:
            known_as: its name in ``ORDER``, and in small letters the name of its address.
            view: takes the site and the request.
        """
        self._pages[known_as] = (address, view)

    def admin_view(self, view: View, *args: Any, **kwargs: Any) -> View:
        guarded: View = csp_update(POLICY)(super().admin_view(view, *args, **kwargs))
        return guarded

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        sign_in: View = csp_update(POLICY)(super().login)
        response: HttpResponse = sign_in(request, extra_context)
        form = getattr(response, "context_data", {}).get("form")
        if isinstance(form, StaffSignInForm) and form.throttled:
            response.status_code = 429
        return response

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Go to the account's own page: a password is changed in one place, which also ends the other sessions."""
        return redirect("account")

    def get_urls(self) -> list[Any]:
        pages = [
            path(address, self.admin_view(partial(view, self)), name=known_as.lower())
            for known_as, (address, view) in self._pages.items()
        ]
        return [*pages, *super().get_urls()]

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        picker: View = PickerView.as_view(admin_site=self)
        response: HttpResponse = picker(request)
        return response

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        apps: list[dict[str, Any]] = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        models = {model["object_name"]: model for app in apps for model in app["models"]}
        for known_as in self._pages:
            address = reverse(f"{self.name}:{known_as.lower()}")
            models[known_as] = {"object_name": known_as, "admin_url": address, "view_only": True}
        return [
            {
                "name": section or self.index_title,
                "app_label": "accord",
                "app_url": reverse(f"{self.name}:index"),
                "has_module_perms": True,
                "models": [{**models[known], "name": called} for known, called in order if known in models],
            }
            for section, order in ORDER.items()
        ]


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar: the same sections in the same order as the index."""
    return [
        {
            "title": section,
            "separator": bool(section),
            "items": [
                {"title": model["name"], "icon": ICONS.get(model["object_name"], "list"), "link": model["admin_url"]}
                for model in listed["models"]
            ],
        }
        for section, listed in zip(ORDER, site.get_app_list(request), strict=True)
    ]


REGISTERED: Mapping[type[Model], type[StaffAdmin]] = {
    User: PeopleAdmin,
    Group: GroupsAdmin,
    GrantChange: HistoryAdmin,
    Workspace: WorkspaceAdmin,
    Thread: ThreadAdmin,
    Event: EventAdmin,
    Message: MessageAdmin,
    Document: DocumentAdmin,
    Proposal: ProposalAdmin,
}

site = AccordAdminSite()
site.add_page("Why", "why/", why_page)
for model, shown_by in REGISTERED.items():
    site.register(model, shown_by)
