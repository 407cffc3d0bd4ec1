"""The addresses of the pages."""

from __future__ import annotations

from django.urls import path

from collab.asking import KINDS
from collab.web import documents, grant_history, grants, inbox, reach, search, sessions, views, why, workspaces

urlpatterns = [
    path("", workspaces.home, name="home"),
    path("sign-in/", sessions.sign_in, name="sign-in"),
    path("sign-out/", sessions.sign_out, name="sign-out"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("account/", sessions.account, name="account"),
    path("search/", search.search, name="search"),
    path("join/<str:token>/", workspaces.join, name="join"),
    path("w/new/", workspaces.workspace_new, name="workspace-new"),
    path("w/<uuid:id>/", workspaces.workspace, name="workspace"),
    path("w/<uuid:id>/people/", workspaces.people, name="people"),
    path("w/<uuid:id>/history/", grant_history.grant_history, name="grant-history"),
    path("w/<uuid:id>/threads/", views.thread_new, name="thread-new"),
    path("w/<uuid:id>/documents/", views.document_new, name="document-new"),
    path("t/<uuid:id>/", views.thread, name="thread"),
    path("t/<uuid:id>/items/", views.thread_items, name="thread-items"),
    path("t/<uuid:id>/timeline/", views.thread_timeline, name="timeline"),
    path("t/<uuid:id>/timeline/<int:seq>/why/", why.why_event, name="why-event"),
    path("documents/<uuid:id>/", documents.document, name="document"),
    path("documents/<uuid:id>/pane/", documents.document_pane, name="document-pane"),
    path("documents/<uuid:id>/save/", documents.document_saved, name="document-save"),
    path("documents/<uuid:id>/history/", documents.document_history, name="document-history"),
    path("documents/<uuid:id>/compare/", documents.document_compare, name="document-compare"),
    path("documents/<uuid:id>/version/", documents.document_version, name="document-version"),
    path("documents/<uuid:id>/download/", documents.document_download, name="document-download"),
    path("documents/<uuid:id>/act/", documents.document_act, name="document-act"),
    *(path(f"grants/{kind}/<uuid:id>/", grants.grants, {"kind": kind}, name=f"grants-{kind}") for kind in KINDS),
    *(path(f"why/{kind}/<uuid:id>/", why.why, {"kind": kind}, name=f"why-{kind}") for kind in KINDS),
    *(path(f"access/{kind}/<uuid:id>/", reach.access, {"kind": kind}, name=f"access-{kind}") for kind in KINDS),
]
