"""Every page of the admin site opens, costs the same however many rows it has, and runs nobody's markup."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from agents.models.agents import Agent
from agents.models.clients import AccessToken
from agents.models.clients import Client as ClientRow
from agents.models.replies import ReplyCount
from agents.models.sources import Delivery, Source
from agents.models.tools import Tool, WorkspaceTool
from agents.models.turns import Call, Question, Turn
from agents.services import agent_create
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message, Thread
from collab.models.workspaces import Workspace
from collab.services.documents import document_edit
from collab.services.workspaces import workspace_create
from permissions.actors import System
from permissions.models import GrantChange, User
from permissions.services import grant_give, group_join
from tests.support.admin import call, listing, message, page, question, staffed, supered, turn
from tests.support.clients import connected
from tests.support.deliveries import delivered, source

MODELS = [
    *(User, Group, GrantChange, Workspace, Thread, Event, Message, Document, Proposal),
    *(Tool, WorkspaceTool, Source, Delivery, ClientRow, AccessToken),
    *(Agent, Turn, Call, Question, ReplyCount),
]
ROWS = 50
MARKUP = '<img src=x onerror="alert(1)">'


def budgets(agent, **changed):
    kept = (
        *("instructions", "model", "max_steps", "max_calls", "max_tokens", "max_seconds", "max_bytes"),
        *("history_tokens", "turns_a_day", "tokens_a_day", "composer", "derived"),
        *("in_flight", "reader", "on_unread", "region"),
    )
    return {"name": agent.account.name, **{name: getattr(agent, name) for name in kept}, **changed}


def one_more(studio, number):
    """Add a row to every list."""
    name = f"number {number}"
    account = User.objects.create_user(f"person-{number}", display_name=name)
    group = Group.objects.create(name=name)
    group_join(by=System(), account=account, group=group)
    workspace = Workspace.objects.create(name=name)
    thread = Thread.objects.create(workspace=workspace, title=name, agent_id=studio.robin.id)
    Document.objects.create(workspace=workspace, title=name, kind="markdown", data={"text": name})
    grant_give(by=System(), holder=account, codename="view", obj=thread)
    agent = agent_create(actor=System(), name=name).account_id
    ReplyCount.objects.create(day="2026-01-01", agent_id=agent, rule="values", tool=name, action="replaced", number=1)
    enabled = Tool.objects.create(name=f"tool_{number}", label=name, pack="tests", effect="read")
    WorkspaceTool.objects.create(workspace=workspace, tool=enabled, enabled_by=System())
    delivered(source(studio, f"number-{number}", label=name))
    connected(studio, studio.ben, name=name)
    question(call(turn(studio, studio.ben.actor, number)))
    message(studio, studio.ana, name)
    document_edit(
        actor=studio.ben.actor, document=studio.document.id, thread=studio.thread.id, edits=[{"append": name}],
        propose=True,
    )  # fmt: skip


@pytest.mark.corrupts
class TestOpening:
    def test_the_index_lists_everything_in_its_order(self, zoe):
        shown = supered(zoe).get("/admin/")
        names = [model["name"] for section in shown.context["app_list"] for model in section["models"]]
        first = ["People", "Groups", "Workspaces", "Threads", "Documents", "Agents", "Clients", "Tokens"]
        assert names[: len(first)] == first
        sidebar = [item["title"] for section in shown.context["sidebar_navigation"] for item in section["items"]]
        assert sidebar == names
        assert len(names) == len([*MODELS, "Phrasings", "Why?", "Read a reply"])

    @pytest.mark.parametrize("someone_is", [staffed, supered])
    def test_every_list_and_every_row_opens_for_staff_and_superusers(self, studio, zoe, someone_is):
        one_more(studio, 1)
        browser = someone_is(zoe)
        for model in MODELS:
            assert browser.get(listing(model)).status_code == 200, model
            for row in model.objects.all():
                assert browser.get(page(row)).status_code == 200, row

    def test_what_is_added_here_has_a_form(self, zoe):
        browser = supered(zoe)
        for name in ("permissions_user_add", "auth_group_add", "agents_agent_add"):
            assert browser.get(reverse(f"admin:{name}")).status_code == 200

    def test_what_is_not_there_leads_to_the_index(self, zoe):
        browser = supered(zoe)
        for id in (uuid4(), "x", "1"):
            assert browser.get(f"/admin/collab/thread/{id}/change/").status_code == 302
            assert browser.get(f"/admin/collab/thread/{id}/grants/").status_code == 404

    def test_a_password_is_changed_on_the_account_page(self, zoe):
        assert supered(zoe).get("/admin/password_change/").url == reverse("account")

    def test_nobody_comes_in_without_signing_in(self, studio):
        for model in MODELS:
            assert Client().get(listing(model)).status_code == 302


@pytest.mark.corrupts
class TestCost:
    def test_no_list_costs_more_with_fifty_rows_than_fifteen_statements(self, studio, zoe, queries):
        for number in range(1, ROWS + 1):
            one_more(studio, number)
        browser = supered(zoe)
        for model in MODELS:
            browser.get(listing(model))
            with queries() as sent:
                shown = browser.get(listing(model))
            assert len(shown.context["cl"].result_list) == ROWS, model
            sent.at_most(15)

    def test_the_page_of_grants_costs_the_same_however_many_hold_one(self, studio, queries):
        browser = staffed(studio.ana)
        costs = []
        for number in range(12):
            with queries() as sent:
                assert browser.get(page(studio.thread, "grants")).status_code == 200
            costs.append(len(sent))
            account = User.objects.create_user(f"person-{number}")
            group = Group.objects.create(name=f"group {number}")
            group_join(by=System(), account=account, group=group)
            for holder in (account, group):
                grant_give(by=System(), holder=holder, codename="view", obj=studio.thread)
        assert costs[-1] <= costs[1]


@pytest.mark.corrupts
class TestMarkup:
    def test_in_names_and_titles_is_shown_as_text(self, studio, zoe):
        browser = supered(zoe)
        User.objects.filter(pk=studio.ben.id).update(display_name=MARKUP)
        Workspace.objects.update(name=MARKUP)
        Thread.objects.update(title=MARKUP)
        Document.objects.update(title=MARKUP)
        message(studio, studio.ana, MARKUP)
        group = Group.objects.create(name=MARKUP)
        grant_give(by=System(), holder=group, codename="view", obj=studio.thread, reason=MARKUP)
        question(call(turn(studio, studio.ben.actor)))
        lists = [listing(model) for model in MODELS]
        pages = [page(row) for model in MODELS for row in model.objects.all()]
        grants = [page(studio.thread, "grants"), page(group, "members")]
        for address in (*lists, *pages, *grants):
            shown = browser.get(address).content.decode()
            assert "<img src=x" not in shown, address
            assert MARKUP not in shown, address

    def test_in_what_a_page_says_of_a_change_is_shown_as_text(self, studio):
        User.objects.filter(pk=studio.ben.id).update(display_name=MARKUP)
        sent = {"give": "1", "account": str(studio.ben.id), "codename": "view"}
        shown = staffed(studio.ana).post(page(studio.thread, "grants"), sent, follow=True).content.decode()
        assert "&lt;img src=x" in shown
        assert "<img src=x" not in shown

    def test_could_run_nothing_that_is_not_a_file_of_ours(self, zoe):
        browser = supered(zoe)
        for address in ("/admin/", listing(User)):
            policy = browser.get(address).headers["Content-Security-Policy"]
            scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
            assert scripts == "script-src 'self' 'unsafe-eval'"
            assert "object-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy

    def test_elsewhere_may_do_no_more_than_before(self, zoe):
        browser = supered(zoe)
        for address in (reverse("account"), reverse("home")):
            assert "unsafe" not in browser.get(address, follow=True).headers["Content-Security-Policy"]


class TestAgents:
    def test_are_made_by_superusers(self, ana, ben):
        sent = {"name": "Wren", "instructions": "Be brief.", "model": "", **_defaults()}
        assert staffed(ana).post(reverse("admin:agents_agent_add"), sent).status_code == 403
        assert supered(ben).post(reverse("admin:agents_agent_add"), sent).status_code == 302
        made = Agent.objects.get()
        assert (made.account.name, made.account.kind, made.max_steps) == ("Wren", "agent", 7)
        assert not made.account.has_usable_password()

    def test_are_changed_by_superusers_only(self, studio, zoe):
        agent = Agent.objects.get()
        sent = budgets(agent, name="Wren", max_calls=3, composer="template", derived="strict")
        assert staffed(studio.ana).post(page(agent), sent).status_code == 403
        assert supered(zoe).post(page(agent), sent).status_code == 302
        agent = Agent.objects.select_related("account").get()
        assert (agent.account.display_name, agent.max_calls) == ("Wren", 3)
        assert (agent.composer, agent.derived) == ("template", "strict")

    def test_say_with_an_example_how_their_replies_are_made(self, studio, zoe):
        shown = supered(zoe).get(page(Agent.objects.get())).content.decode()
        assert "people read the phrasings of its calls alone, as in “Launch plan is at version 2.”" in shown
        assert "a reply may state, with arithmetic, “15.00 in total”" in shown

    def test_show_where_they_work(self, studio, zoe):
        workspace_create(actor=studio.ana.actor, name="Elsewhere")
        shown = staffed(zoe).get(page(Agent.objects.get())).content.decode()
        assert "Studio launch (editor)" in shown
        assert "Elsewhere" not in shown


def _defaults():
    return {
        "max_steps": 7, "max_calls": 1, "max_tokens": 1, "max_seconds": 1, "max_bytes": 1, "history_tokens": 1,
        "turns_a_day": 1, "tokens_a_day": 1, "composer": "model", "derived": "arithmetic",
        "in_flight": "merge", "reader": "off", "on_unread": "model", "region": "GB",
    }  # fmt: skip
