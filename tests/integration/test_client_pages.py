"""The account page's clients, and clients and tokens in the admin: what they show, to whom, and a secret once."""

from __future__ import annotations

import re

import pytest
from django.test import Client as Browser
from django.urls import reverse

from agents.clients.services import client_register
from agents.clients.tokens import bearer
from agents.models.clients import AccessToken
from agents.models.clients import Client as ClientRow
from collab.services.workspaces import workspace_create
from permissions.actors import Client, System
from permissions.models import User
from tests.support.admin import listing, page, staffed, supered
from tests.support.clients import connected

pytestmark = pytest.mark.django_db

SECRET = re.compile(r"accord_[A-Za-z0-9_-]{49}")


def browsing(someone) -> Browser:
    browser = Browser()
    browser.force_login(someone.user)
    return browser


def sends(browser: Browser, **form):
    return browser.post(reverse("clients"), form)


def said(answer) -> str:
    return " ".join(str(message) for message in answer.wsgi_request._messages)


class TestAccountPage:
    def test_the_account_page_leads_to_it(self, studio, ben):
        assert reverse("clients") in browsing(ben).get(reverse("account")).content.decode()

    def test_from_nothing_to_a_token_that_works(self, studio, ana):
        browser = browsing(ana)
        assert sends(browser, act="register", name="Laptop script").status_code == 302
        row = ClientRow.objects.get()
        sends(browser, act="enable", client=row.pk, workspace=studio.workspace.id, role="contributor")
        answer = sends(browser, act="issue", client=row.pk, name="Laptop", workspaces=studio.workspace.id, days=30)
        secret = SECRET.search(answer.content.decode())[0]
        assert bearer(secret).actor == Client(row.pk, ana.id)
        assert answer["Cache-Control"].startswith("max-age=0, no-cache, no-store")

    def test_a_secret_is_shown_once(self, studio, ana):
        browser = browsing(ana)
        desk = connected(studio, ana)
        answer = sends(browser, act="rotate", token=desk.token.pk)
        assert SECRET.search(answer.content.decode())
        assert not SECRET.search(browser.get(reverse("clients")).content.decode())

    def test_a_person_sees_their_own_and_what_of_nobodys_reaches_them(self, studio, ana, ben):
        connected(studio, ben, name="Bens script")
        connected(studio, ana, name="Anas script")
        connected(studio, None, name="Shared")
        client_register(actor=System(), name="Elsewhere only")
        shown = browsing(ben).get(reverse("clients")).content.decode()
        assert "Bens script" in shown
        assert "Shared" in shown
        assert "Anas script" not in shown
        assert "Elsewhere only" not in shown

    def test_it_shows_expiry_scope_and_last_use(self, studio, ben):
        desk = connected(studio, ben)
        shown = browsing(ben).get(reverse("clients")).content.decode()
        assert "never used" in shown
        assert "in Studio launch" in shown
        assert f"{desk.token.prefix}…" in shown
        bearer(desk.secret)
        assert "last used" in browsing(ben).get(reverse("clients")).content.decode()

    def test_who_does_not_manage_a_workspace_is_told_how_their_client_is_let_in(self, studio, ana, ben):
        desk = client_register(actor=ben.actor, name="Desk", person=ben.id)
        browser = browsing(ben)
        shown = browser.get(reverse("clients")).content.decode()
        assert desk.account.username in shown
        assert 'name="role"' not in shown
        given = browsing(ana).post(
            reverse("grants-workspace", args=[studio.workspace.id]),
            {"act": "give", "username": desk.account.username, "what": "role:editor"},
        )
        assert given.status_code == 302
        assert "<small>editor</small>" in browser.get(reverse("clients")).content.decode()

    def test_a_revoked_token_says_who_revoked_it_and_offers_nothing(self, studio, ben):
        desk = connected(studio, ben)
        sends(browsing(ben), act="revoke", token=desk.token.pk)
        shown = browsing(ben).get(reverse("clients")).content.decode()
        assert "Ben revoked this token." in shown
        assert 'value="rotate"' not in shown

    def test_a_disabled_client_is_gone_from_the_page(self, studio, ben):
        desk = connected(studio, ben)
        sends(browsing(ben), act="disable", client=desk.row.pk)
        assert 'id="h-' + str(desk.row.pk) not in browsing(ben).get(reverse("clients")).content.decode()
        assert not User.objects.get(pk=desk.row.pk).is_active

    @pytest.mark.parametrize(
        "form",
        [
            {"act": "issue", "name": "x", "days": "0"},
            {"act": "issue", "name": "x", "days": "1e9"},
            {"act": "issue", "name": "\x00", "days": "7"},
            {"act": "issue", "name": "x" * 101, "days": "7"},
            {"act": "issue", "name": "x", "days": "7", "workspaces": "nonsense"},
            {"act": "issue", "name": "x", "days": "7", "workspaces": ""},
            {"act": "rotate", "token": "nonsense"},
            {"act": "register", "name": ""},
            {"act": "nonsense"},
            {},
        ],
        ids=str,
    )
    def test_what_cannot_be_is_refused_and_changes_nothing(self, studio, ana, form):
        desk = client_register(actor=ana.actor, name="Desk", person=ana.id)
        answer = sends(browsing(ana), client=desk.pk, **form)
        assert answer.status_code in {302, 404}
        assert not AccessToken.objects.exists()

    def test_the_page_costs_the_same_whatever_there_is(self, studio, ana, queries):
        browser = browsing(ana)
        connected(studio, ana)
        browser.get(reverse("clients"))
        with queries() as few:
            browser.get(reverse("clients"))
        other = workspace_create(actor=ana.actor, name="Other")
        for number in range(4):
            connected(studio, ana, name=f"Desk {number}", within=[studio.workspace, other])
        with queries() as many:
            browser.get(reverse("clients"))
        assert len(many) <= len(few), str(many)


class TestAdmin:
    def test_staff_read_which_there_are_and_no_secret(self, studio, ben, vera):
        desk = connected(studio, ben)
        browser = staffed(vera)
        assert "Desk" in browser.get(listing(ClientRow)).content.decode()
        for address in (listing(AccessToken), page(desk.token), page(desk.row)):
            shown = browser.get(address).content.decode()
            assert not SECRET.search(shown)
            assert desk.token.digest not in shown

    def test_staff_who_administer_nothing_change_nothing(self, studio, ben, vera):
        desk = connected(studio, ben)
        browser = staffed(vera)
        assert browser.get(reverse("admin:agents_client_add")).status_code == 403
        for obj, what in ((desk.row, "tokens_page"), (desk.token, "act_page")):
            assert browser.post(page(obj, what), {"act": "revoke"}).status_code == 404
        assert bearer(desk.secret)

    def test_an_administrator_registers_a_client_that_is_nobodys_and_issues_its_token(self, studio, vera):
        browser = supered(vera)
        answer = browser.post(reverse("admin:agents_client_add"), {"name": "Nightly import"})
        assert answer.status_code == 302
        row = ClientRow.objects.get()
        assert (row.person, row.account.name, row.registered_by) == (None, "Nightly import", vera.actor)
        sent = {"act": "issue", "name": "Server", "workspaces": studio.workspace.id, "days": 30}
        answer = browser.post(page(row, "tokens_page"), sent)
        secret = SECRET.search(answer.content.decode())[0]
        assert bearer(secret).actor == Client(row.pk)
        assert not SECRET.search(browser.get(page(row, "tokens_page")).content.decode())

    def test_a_persons_client_gets_no_token_there(self, studio, ben, vera):
        desk = connected(studio, ben)
        sent = {"act": "issue", "name": "x", "workspaces": studio.workspace.id, "days": 30}
        answer = supered(vera).post(page(desk.row, "tokens_page"), sent)
        assert answer.status_code == 403
        assert AccessToken.objects.count() == 1

    def test_an_administrator_rotates_what_acts_for_no_one_and_revokes_any(self, studio, ben, vera):
        alone, desk = connected(studio, None, name="Alone"), connected(studio, ben)
        browser = supered(vera)
        answer = browser.post(page(alone.token, "act_page"), {"act": "rotate"})
        assert bearer(SECRET.search(answer.content.decode())[0]).actor == Client(alone.row.pk)
        assert browser.post(page(desk.token, "act_page"), {"act": "rotate"}).status_code == 403
        assert browser.post(page(desk.token, "act_page"), {"act": "revoke"}).status_code == 302
        assert AccessToken.objects.get(pk=desk.token.pk).revoked_because == "Vera revoked this token."

    def test_an_administrator_disables_a_client(self, studio, ben, vera):
        desk = connected(studio, ben)
        assert supered(vera).post(page(desk.row, "tokens_page"), {"act": "disable"}).status_code == 302
        assert not User.objects.get(pk=desk.row.pk).is_active

    @pytest.mark.parametrize("name", ["", "\x00", "x" * 101], ids=repr)
    def test_a_name_that_cannot_be_is_told_on_the_form(self, vera, name):
        assert supered(vera).post(reverse("admin:agents_client_add"), {"name": name}).status_code == 200
        assert not ClientRow.objects.exists()
