"""Grants are given and taken by whoever manages the object, and never beyond what they hold (FAILURES Z13, L1, L4)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from structlog.testing import capture_logs

from collab.models.grants import DocumentUserGrant, WorkspaceUserGrant
from permissions.actors import Person, System
from permissions.decisions import Action, Level
from permissions.gate import decide_on
from permissions.models import GrantChange
from permissions.services import grant_give, grant_take, group_join
from tests.support.admin import listing, page, staffed, supered


def gives(holder, codename, **more):
    kind = "group" if isinstance(holder, Group) else "account"
    return {"give": "1", kind: str(holder.pk), "codename": codename, "reason": "", **more}


def takes(holder, codename, **more):
    kind = "group" if isinstance(holder, Group) else "account"
    return {"take": f"{kind}:{holder.pk}:{codename}", **more}


def may(someone, action, obj):
    return decide_on(someone.actor, action, obj).level is Level.ALLOW


def text(answer):
    return answer.content.decode()


@pytest.fixture
def managed(studio, zoe):
    """A document that Zoe may view and manage, and nothing else."""
    for codename in ("view", "manage"):
        grant_give(by=System(), holder=zoe.user, codename=codename, obj=studio.document)
    return studio.document


class TestStaffWhoDoNotManage:
    @pytest.mark.parametrize("kind", ["workspace", "thread", "document"])
    def test_are_not_shown_the_grants_on_an_object(self, studio, zoe, kind):
        obj = getattr(studio, kind)
        browser = staffed(zoe)
        for name in ("grants", "grant_history"):
            address = page(obj, f"{name}")
            assert browser.get(address).status_code == 404
            assert address not in text(browser.get(page(obj)))

    @pytest.mark.parametrize("kind", ["workspace", "thread", "document"])
    def test_neither_give_nor_take(self, studio, zoe, kind):
        obj = getattr(studio, kind)
        browser = staffed(zoe)
        before = GrantChange.objects.count()
        for sent in (gives(zoe.user, "view"), gives(zoe.user, "manage"), takes(studio.vera.user, "view")):
            assert browser.post(page(obj, "grants"), sent).status_code == 404
        assert GrantChange.objects.count() == before
        assert not may(zoe, Action.VIEW, obj)

    def test_do_not_by_viewing_either(self, studio):
        browser = staffed(studio.vera)
        assert browser.post(page(studio.workspace, "grants"), gives(studio.vera.user, "manage")).status_code == 404
        assert not may(studio.vera, Action.MANAGE, studio.workspace)

    def test_are_told_the_same_of_what_is_not_there(self, studio, zoe):
        address = page(studio.document, "grants").replace(str(studio.document.pk), str(studio.thread.pk))
        assert staffed(zoe).get(address).status_code == 404


class TestWhoManages:
    def test_gives_what_they_hold(self, studio, zoe):
        answer = staffed(studio.ana).post(
            page(studio.document, "grants"), gives(zoe.user, "comment", reason="she asked"), follow=True
        )
        assert "Zoe holds comment on Launch plan." in text(answer)
        assert may(zoe, Action.COMMENT, studio.document)
        written = GrantChange.objects.get(account=zoe.id)
        assert (written.by, written.reason, written.given) == (studio.ana.actor, "she asked", True)

    def test_does_not_give_what_they_lack_and_is_told_so_at_the_form(self, managed, zoe, ben):
        for holder in (ben.user, zoe.user):
            answer = staffed(zoe).post(page(managed, "grants"), gives(holder, "change_document"))
            assert answer.status_code == 403
            assert "Zoe may not change Launch plan" in text(answer)
        assert not DocumentUserGrant.objects.filter(permission__codename="change_document").exists()

    def test_gives_for_a_while(self, studio, zoe):
        browser = staffed(studio.ana)
        until = timezone.now() + timedelta(days=2)
        sent = gives(zoe.user, "view", expires_at=f"{until:%Y-%m-%dT%H:%M}")
        assert browser.post(page(studio.document, "grants"), sent).status_code == 302
        held = DocumentUserGrant.objects.get(user=zoe.user)
        assert held.expires_at == until.replace(second=0, microsecond=0)
        assert f"until {until:%Y-%m-%d}" in text(browser.get(page(studio.document, "grants")))

    def test_gives_nothing_that_has_expired_already(self, studio, zoe):
        sent = gives(zoe.user, "view", expires_at="2020-01-01T10:00")
        answer = staffed(studio.ana).post(page(studio.document, "grants"), sent)
        assert answer.status_code == 400
        assert "This moment has passed." in text(answer)
        assert not DocumentUserGrant.objects.exists()

    def test_names_exactly_one_holder(self, studio, zoe):
        group = Group.objects.create(name="Editors")
        browser = staffed(studio.ana)
        both = gives(zoe.user, "view", group=str(group.pk))
        for sent in (both, {"give": "1", "codename": "view"}):
            answer = browser.post(page(studio.document, "grants"), sent)
            assert answer.status_code == 400
            assert "Choose one holder" in text(answer)

    def test_gives_no_agent_manage(self, studio):
        answer = staffed(studio.ana).post(page(studio.workspace, "grants"), gives(studio.robin.user, "manage"))
        assert answer.status_code == 403
        assert "Agents and clients never manage." in text(answer)

    def test_takes(self, studio):
        sent = takes(studio.vera.user, "view", reason="left")
        answer = staffed(studio.ana).post(page(studio.workspace, "grants"), sent, follow=True)
        assert "Vera no longer holds view on Studio launch." in text(answer)
        assert not may(studio.vera, Action.VIEW, studio.workspace)
        assert GrantChange.objects.filter(account=studio.vera.id, given=False, reason="left").exists()

    def test_keeps_the_last_owner(self, studio):
        answer = staffed(studio.ana).post(page(studio.workspace, "grants"), takes(studio.ana.user, "manage"))
        assert answer.status_code == 403
        assert "The last owner stays" in text(answer)
        assert WorkspaceUserGrant.objects.filter(user=studio.ana.user, permission__codename="manage").exists()

    @pytest.mark.parametrize("ref", ["", "account", "account:x:view", "group:x:view", "other:1:view", "group:99:view"])
    def test_is_told_when_a_form_names_no_grant(self, studio, ref):
        answer = staffed(studio.ana).post(page(studio.workspace, "grants"), {"take": ref})
        assert answer.status_code == 400
        assert "Nothing was taken" in text(answer)

    def test_loses_the_page_with_the_right(self, studio, ben):
        grant_give(by=System(), holder=ben.user, codename="manage", obj=studio.workspace)
        browser = staffed(studio.ben)
        assert browser.get(page(studio.thread, "grants")).status_code == 200
        grant_take(by=System(), holder=ben.user, codename="manage", obj=studio.workspace)
        assert browser.post(page(studio.thread, "grants"), gives(ben.user, "view")).status_code == 404

    def test_changes_nothing_without_the_token_of_the_form_or_by_a_link(self, studio, zoe):
        strict = Client(enforce_csrf_checks=True)
        staffed(studio.ana)
        strict.force_login(studio.ana.user)
        address = page(studio.document, "grants")
        assert strict.post(address, gives(zoe.user, "view")).status_code == 403
        assert strict.get(address, gives(zoe.user, "view")).status_code == 200
        assert not may(zoe, Action.VIEW, studio.document)

    def test_sees_who_holds_what_through_what(self, studio, zoe):
        group = Group.objects.create(name="Press")
        group_join(by=System(), account=zoe.user, group=group)
        grant_give(by=System(), holder=group, codename="comment", obj=studio.thread)
        grant_give(by=System(), holder=studio.vera.user, codename="start_turn", obj=studio.thread)
        shown = staffed(studio.ana).get(page(studio.thread, "grants"))
        lines = {str(line.holder): line for line in shown.context["lines"]}
        assert [grant.codename for grant in lines["Vera"].grants] == ["start_turn"]
        assert lines["Press"].detail == "group of Zoe"
        inherited = {str(line.holder) for line in shown.context["scope_lines"]}
        assert inherited == {"Ana", "Ben", "Vera", "Robin"}

    def test_of_a_document_only_is_not_shown_the_grants_on_its_workspace(self, managed, zoe):
        shown = staffed(zoe).get(page(managed, "grants"))
        assert shown.context["scope_lines"] is None
        assert "Vera" not in text(shown)


class TestGroups:
    def test_who_lacks_what_a_group_grants_adds_nobody_to_it(self, managed, studio, zoe, vera):
        group = Group.objects.create(name="Editors")
        grant_give(by=System(), holder=group, codename="change_document", obj=managed)
        answer = staffed(zoe).post(page(group, "members"), {"add": "1", "account": str(zoe.id)})
        assert answer.status_code == 403
        assert "Zoe may not change Launch plan" in text(answer)
        stranger = staffed(vera).post(page(group, "members"), {"add": "1", "account": str(vera.id)})
        assert stranger.status_code == 403
        assert not group.user_set.exists()

    def test_a_form_that_is_refused_is_logged_with_who_and_whom(self, managed, studio, zoe, vera):
        group = Group.objects.create(name="Editors")
        grant_give(by=System(), holder=group, codename="change_document", obj=managed)
        group_join(by=System(), account=vera.user, group=group)
        with capture_logs() as logs:
            for sender, sent in ((zoe, {"add": "1", "account": str(zoe.id)}), (studio.ben, {"remove": str(vera.id)})):
                assert staffed(sender).post(page(group, "members"), sent).status_code == 403
            assert staffed(zoe).post(page(group, "members"), {"add": "1"}).status_code == 400
        refused = [line for line in logs if line["event"] == "form_refused"]
        assert [line["person"] for line in refused] == [str(zoe.id), str(studio.ben.id)]
        assert (refused[0]["account"], refused[1]["remove"]) == (str(zoe.id), str(vera.id))
        assert {line["path"] for line in refused} == {page(group, "members")}
        assert group.user_set.count() == 1

    def test_who_holds_all_of_it_adds_and_takes_out(self, studio, zoe):
        group = Group.objects.create(name="Editors")
        grant_give(by=System(), holder=group, codename="change_document", obj=studio.workspace)
        browser = staffed(studio.ana)
        browser.post(page(group, "members"), {"add": "1", "account": str(zoe.id), "reason": "helps"})
        assert may(zoe, Action.CHANGE_DOCUMENT, studio.document)
        browser.post(page(group, "members"), {"remove": str(zoe.id)})
        assert not may(zoe, Action.CHANGE_DOCUMENT, studio.document)
        assert [line.given for line in GrantChange.objects.filter(account=zoe.id).order_by("at")] == [True, False]

    def test_what_a_group_holds_is_shown_to_who_manages_it(self, studio, zoe):
        group = Group.objects.create(name="Editors")
        grant_give(by=System(), holder=group, codename="view", obj=studio.document)
        assert staffed(studio.ana).get(page(group, "members")).context["held"] == ["view on Launch plan"]
        assert staffed(zoe).get(page(group, "members")).context["held"] == []

    def test_only_superusers_make_and_name_groups_and_nobody_deletes_them(self, ana, ben):
        group = Group.objects.create(name="Editors")
        add = reverse("admin:auth_group_add")
        assert staffed(ana).post(add, {"name": "Mine"}).status_code == 403
        assert staffed(ana).post(page(group), {"name": "Mine"}).status_code == 403
        browser = supered(ben)
        assert browser.post(add, {"name": "Press", "permissions": "1"}).status_code == 302
        assert not Group.objects.get(name="Press").permissions.exists()
        assert browser.post(page(group, "delete"), {"post": "yes"}).status_code == 403
        assert set(Group.objects.values_list("name", flat=True)) == {"Editors", "Press"}


class TestHistory:
    def test_says_who_gave_what_to_whom_on_what(self, studio, zoe):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="comment", obj=studio.thread, reason="she asked")
        shown = text(staffed(zoe).get(listing(GrantChange), {"q": "she asked"}))
        for words in ("Ana", "gave comment", "Zoe (zoe)", "thread Launch dinner", "she asked"):
            assert words in shown

    def test_is_found_by_person_and_by_object(self, studio, zoe):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="comment", obj=studio.thread)
        browser = staffed(zoe)
        for wanted in ("zoe", str(studio.thread.id), str(zoe.id)):
            assert browser.get(listing(GrantChange), {"q": wanted}).context["cl"].result_count == 1
        changes = browser.get(listing(GrantChange), {"object_id__exact": str(studio.thread.id)})
        assert changes.context["cl"].result_count == 1

    def test_is_changed_and_deleted_by_nobody(self, studio, zoe):
        browser = supered(zoe)
        change = GrantChange.objects.first()
        before = GrantChange.objects.count()
        assert browser.post(page(change), {"reason": "another"}).status_code == 403
        assert browser.post(page(change, "delete"), {"post": "yes"}).status_code == 403
        assert browser.get(reverse("admin:permissions_grantchange_add")).status_code == 403
        assert (GrantChange.objects.count(), GrantChange.objects.get(pk=change.pk).reason) == (before, change.reason)

    def test_shows_a_superuser_of_nothing_as_a_person(self, studio, zoe):
        browser = supered(zoe)
        browser.post(page(studio.document, "grants"), gives(studio.vera.user, "comment"))
        assert GrantChange.objects.order_by("-at").first().by == Person(zoe.id)
