"""The admin site never makes anybody more than they are (FAILURES L2, L10)."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from collab.web import tries
from permissions.models import User
from tests.support.admin import listing, page, staffed, supered
from tests.support.cast import PASSWORD, someone

NEW = {"username": "mara", "display_name": "Mara", "email": "", "usable_password": "true"}
PASSWORDS = {"password1": "a long enough one 7", "password2": "a long enough one 7"}
SIGN_IN = "/admin/login/"


@pytest.fixture(autouse=True)
def no_tries_yet():
    cache.clear()
    yield
    cache.clear()


def form_of(user, **changed):
    return {"username": user.username, "display_name": user.display_name, "email": user.email, **changed}


def reread(user):
    return User.objects.get(pk=user.pk)


class TestStaffWhoAreNoSuperusers:
    def test_create_people_who_hold_nothing(self, ana):
        browser = staffed(ana)
        flags = {"is_staff": "on", "is_superuser": "on", "kind": "agent"}
        assert browser.post(reverse("admin:permissions_user_add"), {**NEW, **PASSWORDS, **flags}).status_code == 302
        made = User.objects.get(username="mara")
        assert (made.kind, made.is_staff, made.is_superuser, made.is_active) == ("person", False, False, True)
        assert made.check_password(PASSWORDS["password1"])

    def test_correct_names_and_nothing_that_gives_rights(self, ana, ben):
        permission = Permission.objects.first()
        group = Group.objects.create(name="Editors")
        sent = form_of(
            ben.user, display_name="Benjamin", username="ana2", is_staff="on", is_superuser="on", is_active="",
            kind="agent", groups=group.pk, user_permissions=permission.pk,
        )  # fmt: skip
        assert staffed(ana).post(page(ben.user), sent).status_code == 302
        found = reread(ben.user)
        assert (found.display_name, found.username, found.kind) == ("Benjamin", "ben", "person")
        assert (found.is_staff, found.is_superuser, found.is_active) == (False, False, True)
        assert not found.groups.exists()
        assert not found.user_permissions.exists()

    def test_do_not_make_themselves_superusers(self, ana):
        assert staffed(ana).post(page(ana.user), form_of(ana.user, is_superuser="on")).status_code == 302
        assert not reread(ana.user).is_superuser

    def test_do_not_change_superusers_or_other_staff(self, ana, ben, vera):
        supered(ben)
        staffed(vera)
        browser = staffed(ana)
        for other in (ben, vera):
            assert browser.get(page(other.user)).status_code == 200
            assert browser.post(page(other.user), form_of(other.user, display_name="Mine")).status_code == 403
            assert reread(other.user).display_name == other.name

    def test_read_no_password_hash(self, ana, ben):
        browser = staffed(ana)
        for account in (ana.user, ben.user):
            assert account.password.rpartition("$")[2][:6] not in browser.get(page(account)).content.decode()

    def test_set_nobodys_password(self, ana, ben):
        browser = staffed(ana)
        for account in (ana.user, ben.user):
            address = reverse("admin:auth_user_password_change", args=[account.pk])
            assert browser.get(address).status_code == 403
            assert browser.post(address, {**PASSWORDS, "usable_password": "true"}).status_code == 403
            assert reread(account).check_password(PASSWORD)

    def test_switch_nobody_off(self, ana, ben):
        sent = form_of(ben.user, permissions_user_deactivate="1")
        staffed(ana).post(page(ben.user), sent)
        assert reread(ben.user).is_active


class TestSuperusers:
    def test_make_staff_and_superusers(self, ana, ben):
        supered(ana).post(page(ben.user), form_of(ben.user, is_staff="on", is_superuser="on"))
        assert reread(ben.user).is_superuser

    def test_switch_people_off_and_on(self, studio, zoe):
        browser = supered(zoe)
        for pressed, active in (("deactivate", False), ("activate", True)):
            sent = form_of(studio.ben.user, **{f"permissions_user_{pressed}": "1"})
            assert browser.post(page(studio.ben.user), sent).status_code == 302
            assert reread(studio.ben.user).is_active is active

    def test_are_told_why_the_last_owner_stays(self, studio, zoe):
        sent = form_of(studio.ana.user, permissions_user_deactivate="1")
        with capture_logs() as logs:
            answer = supered(zoe).post(page(studio.ana.user), sent, follow=True)
        assert [line["person"] for line in logs if line["event"] == "form_refused"] == [str(zoe.id)]
        assert "The last owner stays" in answer.content.decode()
        assert reread(studio.ana.user).is_active

    def test_delete_nobody(self, ana, ben):
        browser = supered(ana)
        assert browser.post(page(ben.user, "delete"), {"post": "yes"}).status_code == 403
        sent = {"action": "delete_selected", "_selected_action": str(ben.id), "post": "yes"}
        browser.post(listing(User), sent)
        assert User.objects.filter(pk=ben.id).exists()

    def test_give_an_agent_or_a_client_neither_password_nor_rank(self, ana, robin, desk):
        browser = supered(ana)
        for account in (robin.user, desk.user):
            address = reverse("admin:auth_user_password_change", args=[account.pk])
            assert browser.post(address, {**PASSWORDS, "usable_password": "true"}).status_code == 403
            sent = form_of(account, is_staff="on", is_superuser="on", password="x")
            assert browser.post(page(account), sent).status_code == 302
            found = reread(account)
            assert (found.is_staff, found.is_superuser, found.has_usable_password()) == (False, False, False)


class TestSigningIn:
    def test_staff_come_in(self, ana):
        staffed(ana)
        browser = Client()
        answer = browser.post(SIGN_IN, {"username": "ana", "password": PASSWORD, "next": "/admin/"})
        assert answer.status_code == 302
        assert browser.get("/admin/").status_code == 200

    def test_who_is_no_staff_is_refused_as_a_wrong_password_is(self, ben):
        wrong = Client().post(SIGN_IN, {"username": "ben", "password": "wrong"})
        right = Client().post(SIGN_IN, {"username": "ben", "password": PASSWORD})
        said = [list(answer.context["form"].non_field_errors()) for answer in (wrong, right)]
        assert said[0] == said[1]
        assert "staff account" in said[0][0]
        browser = Client()
        browser.force_login(ben.user)
        assert browser.get(listing(User)).status_code == 302

    def test_after_ten_failed_tries_even_the_right_password_waits(self, ana):
        staffed(ana)
        for _ in range(tries.MOST):
            assert Client().post(SIGN_IN, {"username": "ana", "password": "wrong"}).status_code == 200
        browser = Client()
        answer = browser.post(SIGN_IN, {"username": "Ana", "password": PASSWORD})
        assert answer.status_code == 429
        assert "Too many tries" in answer.content.decode()
        assert browser.get("/admin/").status_code == 302

    @pytest.mark.parametrize("name", ["\uff41na", "\u1d43na", " ana", "ANA"])
    def test_a_name_written_in_other_letters_has_no_tries_of_its_own(self, ana, name):
        staffed(ana)
        for _ in range(tries.MOST):
            Client().post(SIGN_IN, {"username": "ana", "password": "wrong"})
        assert Client().post(SIGN_IN, {"username": name, "password": PASSWORD}).status_code == 429

    def test_tries_for_a_thousand_other_names_give_none_back(self):
        for _ in range(tries.MOST):
            tries.failed("ana", "192.0.2.1")
        for number in range(1_000):
            tries.failed(f"somebody{number}", "192.0.2.1")
        assert tries.left("ana", "192.0.2.1") == 0

    def test_one_ipv6_network_has_the_tries_of_one_address(self):
        for number in range(tries.MOST):
            tries.failed("ana", f"2001:db8::{number:x}")
        assert tries.left("ana", "2001:db8::ffff") == 0
        assert tries.left("ana", "2001:db8:0:1::1") == tries.MOST

    @pytest.mark.parametrize("door", [SIGN_IN, "/sign-in/"])
    def test_behind_a_proxy_nobody_uses_up_the_tries_of_others(self, ana, settings, door):
        staffed(ana)
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        for number in range(tries.MOST):
            forwarded = {"X-Forwarded-For": f"198.51.100.7, 192.0.2.{number}, 203.0.113.9"}
            Client().post(door, {"username": "ana", "password": "wrong"}, headers=forwarded)
        mine, theirs = (
            Client().post(door, {"username": "ana", "password": PASSWORD}, headers={"X-Forwarded-For": address})
            for address in ("198.51.100.7", "203.0.113.9")
        )
        assert (mine.status_code, theirs.status_code) == (302, 429)

    def test_without_a_proxy_nobody_says_where_they_come_from(self, ana):
        staffed(ana)
        for number in range(tries.MOST):
            forwarded = {"X-Forwarded-For": f"192.0.2.{number}"}
            Client().post(SIGN_IN, {"username": "ana", "password": "wrong"}, headers=forwarded)
        assert Client().post(SIGN_IN, {"username": "ana", "password": PASSWORD}).status_code == 429

    def test_the_tries_of_both_doors_are_counted_together(self, ana):
        staffed(ana)
        for _ in range(tries.MOST):
            Client().post(reverse("sign-in"), {"username": "ana", "password": "wrong"})
        assert Client().post(SIGN_IN, {"username": "ana", "password": PASSWORD}).status_code == 429

    def test_a_person_switched_off_is_out_at_once(self, ana):
        browser = staffed(ana)
        assert browser.get(listing(User)).status_code == 200
        User.objects.filter(pk=ana.id).update(is_active=False)
        assert browser.get(listing(User)).status_code == 302

    def test_who_is_staff_no_more_sees_nothing_more(self, db):
        mara = someone("Mara")
        browser = staffed(mara)
        User.objects.filter(pk=mara.id).update(is_staff=False)
        assert browser.get(page(mara.user)).status_code == 302
