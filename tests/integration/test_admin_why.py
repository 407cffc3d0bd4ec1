"""The admin's "why?", access report and search of the grant history (DESIGN 11, FAILURES L4, M3)."""

from __future__ import annotations

import pytest
from django.urls import reverse

from permissions.actors import System
from permissions.models import GrantChange, User
from permissions.services import grant_give, grant_take
from tests.support.admin import listing, page, staffed, supered

pytestmark = pytest.mark.django_db


def why(**asked: str) -> str:
    return f"{reverse('admin:why')}?{'&'.join(f'{name}={value}' for name, value in asked.items())}"


def text(answer) -> str:
    return answer.content.decode()


ASKED = {"who": "vera", "whom": "", "action": "change_document", "obj": "document:Launch plan", "thread": "", "at": ""}


class TestWhy:
    def test_staff_ask_about_anyone_and_anything(self, studio, zoe):
        browser = staffed(zoe)
        assert browser.get(reverse("admin:why")).status_code == 200
        shown = text(browser.get(why(**ASKED)))
        assert "Vera may only view Launch plan." in shown
        assert "Give Vera change document on Launch plan or its workspace. Then: allow." in shown

    def test_the_past_is_asked_about_too(self, studio, zoe):
        shown = text(staffed(zoe).get(why(**{**ASKED, "at": "2001-01-01T00:00"})))
        assert "Vera may not change Launch plan." in shown
        assert "What the record does not show" in shown

    @pytest.mark.parametrize(
        "wrong",
        [
            *({"who": "nobody"}, {"obj": "x"}, {"obj": ""}, {"action": "fly"}, {"at": "9999-01-01T00:00"}),
            *({"who": "x" * 300}, {"who": "%00"}, {"thread": "Roses"}, {"whom": "ben"}),
        ],
    )
    def test_what_names_nothing_is_told_in_the_form(self, studio, zoe, wrong):
        assert staffed(zoe).get(why(**{**ASKED, **wrong})).status_code == 400

    def test_it_is_in_the_index(self, zoe):
        assert reverse("admin:why") in text(staffed(zoe).get(reverse("admin:index")))


class TestAccess:
    @pytest.mark.parametrize("kind", ["workspace", "thread", "document"])
    def test_it_is_for_staff_who_manage_the_object(self, studio, zoe, kind):
        address = page(getattr(studio, kind), "reach")
        assert staffed(zoe).get(address).status_code == 404
        assert "Vera" in text(staffed(studio.ana).get(address))

    def test_its_table_runs_nothing(self, studio, zoe):
        User.objects.filter(pk=zoe.id).update(display_name="@SUM(1)")
        grant_give(by=System(), holder=zoe.user, codename="view", obj=studio.document)
        answer = supered(studio.ana).get(f"{page(studio.document, 'reach')}?as=csv")
        assert "'@SUM(1)" in b"".join(answer.streaming_content).decode()

    def test_who_manages_a_document_alone_is_not_shown_its_workspace(self, studio, zoe):
        for codename in ("view", "manage"):
            grant_give(by=System(), holder=zoe.user, codename=codename, obj=studio.document)
        answer = staffed(zoe).get(f"{page(studio.document, 'reach')}?as=csv")
        assert b"Ben" not in b"".join(answer.streaming_content)


class TestHistory:
    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ("Ana", True),
            ("system", False),
            ("Launch plan", True),
            ("dinner", False),
            ("for a day", True),
            ("Zoe", True),
        ],
    )
    def test_it_is_searched_by_who_did_it_and_on_what(self, studio, zoe, words, found):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="comment", obj=studio.document, reason="for a day")
        shown = text(supered(studio.ben).get(f"{listing(GrantChange)}?q={words}"))
        assert ("for a day" in shown) is found

    def test_since_and_until_narrow_it(self, studio, zoe):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename="comment", obj=studio.document, reason="for a day")
        grant_take(by=studio.ana.actor, holder=zoe.user, codename="comment", obj=studio.document)
        browser = supered(studio.ben)
        assert "for a day" in text(browser.get(f"{listing(GrantChange)}?at__gte=2001-01-01T00:00Z"))
        assert "for a day" not in text(browser.get(f"{listing(GrantChange)}?at__lt=2001-01-01T00:00Z"))
