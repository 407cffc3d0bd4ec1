"""The addresses of the pages."""

from __future__ import annotations

from django.urls import path

from collab.web import sessions, views, workspaces

urlpatterns = [
    path("", workspaces.home, name="home"),
    path("sign-in/", sessions.sign_in, name="sign-in"),
    path("sign-out/", sessions.sign_out, name="sign-out"),
    path("account/", sessions.account, name="account"),
    path("join/<str:token>/", workspaces.join, name="join"),
    path("w/new/", workspaces.workspace_new, name="workspace-new"),
    path("w/<uuid:id>/", workspaces.workspace, name="workspace"),
    path("w/<uuid:id>/people/", workspaces.people, name="people"),
    path("w/<uuid:id>/threads/", views.thread_new, name="thread-new"),
    path("w/<uuid:id>/documents/", views.document_new, name="document-new"),
    path("t/<uuid:id>/", views.thread, name="thread"),
    path("t/<uuid:id>/items/", views.thread_items, name="thread-items"),
    path("t/<uuid:id>/timeline/", views.thread_timeline, name="timeline"),
    path("documents/<uuid:id>/", views.document, name="document"),
    path("documents/<uuid:id>/pane/", views.document_pane, name="document-pane"),
    path("documents/<uuid:id>/save/", views.document_saved, name="document-save"),
]
