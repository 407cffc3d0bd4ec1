"""The inbox's page: everything that waits for a person, in every thread they see, and what they do about it there."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from collab import commands
from collab import inbox as waiting
from collab.errors import Invalid
from collab.web import inbox_rows, pages
from collab.web.answers import actor, filled, id_in, page, reader, tried
from collab.web.forms import SettleForm
from collab.web.workspaces import LAST
from permissions.actors import Person
from permissions.errors import NotFound


@page
def inbox(request: HttpRequest) -> HttpResponse:
    """Show what waits for a person, newest first of each kind; settle one."""
    by = actor(request)
    if request.method == "POST":
        tried(request, lambda: _settled(by, request.POST))
        return redirect(_here(request.GET))
    beside = inbox_rows.workspace_beside(by, request.session.get(LAST, ""))
    if beside is None:
        return redirect("home")
    workspace = id_in(request.GET.get("in", ""))
    side = pages.side(reader(request), beside, at="inbox")
    names = inbox_rows.workspace_names(by, side.waits.workspaces)
    if workspace is not None and workspace not in names:
        raise NotFound
    after = inbox_rows.read(request.GET["after"]) if request.GET.get("after") else None
    found = waiting.page_of(by, workspace=workspace, after=after, count=side.waits)
    listed = inbox_rows.shown(found, names)
    shown = {
        "side": side,
        "inbox": listed,
        "choices": inbox_rows.choices(side.waits, names),
        "narrowed": workspace,
        "here": _here(request.GET),
        "more": _here(request.GET, after=listed.next),
        "later": after is not None,
    }
    return render(request, "inbox.html", shown)


def _settled(by: Person, posted: QueryDict) -> str:
    form = filled(SettleForm(posted))
    found = waiting.act_called(form["act"])
    thing = id_in(posted.get(found[0].argument, "")) if found else None
    if found is None or thing is None:
        raise Invalid("That is nothing to do about what waits here.")
    settling, act = found
    reason = {"reason": form["reason"]} if act is settling.no else {}
    return act.said(commands.run(by, act.command, str(form["command"]), {settling.argument: str(thing), **reason}))


def _here(query: QueryDict, **more: str) -> str:
    """Return the inbox's address, narrowed to the workspace that it was narrowed to."""
    kept = {"in": query.get("in", ""), **more}
    asked = urlencode({name: value for name, value in kept.items() if value})
    return f"{reverse('inbox')}?{asked}" if asked else reverse("inbox")
