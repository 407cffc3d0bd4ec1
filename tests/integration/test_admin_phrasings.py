"""The admin's page of phrasings: what is said of each tool's calls, how it reads, and its versions (DESIGN 11)."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models.replies import Phrasing
from agents.models.turns import Call, Turn
from agents.phrasing import phrasing_set
from agents.replies.phrasings import LANGUAGES
from agents.replies.record import OUTCOMES
from agents.tools.registry import SETTING
from collab.services.workspaces import member_remove
from permissions.actors import System
from tests.support.admin import SECRET, listing, page, staffed, supered, turn
from tests.support.cast import Someone, Studio

DONE = ("edit_document", "done", "en")
HERE = reverse("admin:agents_phrasing_edit", args=DONE)
MADE_UP = "It is read on a call that was made up"
PACKS = "{result.title} is at version {result.version}."

pytestmark = [pytest.mark.django_db, pytest.mark.corrupts]


def shown(browser: Client, address: str = HERE, **sent: str) -> str:
    answer = browser.post(address, sent, follow=True) if sent else browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def stand(text: str, tool: str = "edit_document") -> Phrasing:
    saved = phrasing_set(actor=System(), tool=tool, outcome="done", language="en", text=text)
    assert saved is not None
    return saved


def edit(of: Turn, number: int = 1, **more: Any) -> Call:
    """Make an edit that was done in a turn."""
    return Call.objects.create(
        turn=of, step=1, number=number, tool="edit_document", called_as="edit_document",
        args=json.dumps({"document": SECRET}), key=str(uuid4()), effect="write", outcome=Call.Outcome.DONE,
        result=json.dumps({"title": SECRET, "version": number}), model_call_id="1", sent_at=timezone.now(), **more,
    )  # fmt: skip


class TestTheList:
    def test_shows_every_tool_outcome_and_language_and_where_its_text_comes_from(self, zoe: Someone) -> None:
        stand("It was changed.")
        stand("Archived.", "archive_document")
        stand("", "archive_document")
        answer = staffed(zoe).get(listing(Phrasing))
        lines = {(said.tool, said.outcome, said.language): said for said, *_ in answer.context["lines"]}
        assert len(lines) == len(SETTING.words.tools) * len(OUTCOMES) * len(LANGUAGES)
        found = {of: (said.text, said.source, said.by) for of, said in lines.items()}
        assert found[DONE] == ("It was changed.", "edited", System())
        assert found["create_document", "done", "en"] == (PACKS, "pack", None)
        assert found["archive_document", "done", "en"] == ("{result.title} was archived.", "pack", System())
        assert found["edit_document", "undone", "en"] == ("Reversed: {action}{with}.", "default", None)
        told = answer.content.decode()
        assert "Edited: The system, " in told
        assert "The tool&#x27;s pack again: The system, " in told

    def test_costs_the_same_however_many_were_edited(self, zoe: Someone, queries) -> None:
        browser = staffed(zoe)
        costs = []
        for tool in ("edit_document", "archive_document", "create_document"):
            stand("It is done.", tool)
            stand("All is done.", tool)
            with queries() as sent:
                shown(browser, listing(Phrasing))
            costs.append(len(sent))
        assert len(set(costs)) == 1

    def test_is_for_staff(self, ana: Someone) -> None:
        browser = Client()
        browser.force_login(ana.user)
        for address in (listing(Phrasing), HERE):
            assert browser.get(address).url.startswith("/admin/login/")

    def test_of_what_there_is_not_is_a_page_that_is_not_there(self, zoe: Someone) -> None:
        browser = supered(zoe)
        for of in (("pay", "done", "en"), ("edit_document", "paid", "en"), ("edit_document", "done", "xx")):
            assert browser.get(reverse("admin:agents_phrasing_edit", args=of)).status_code == 404


class TestSaving:
    def test_makes_a_version_that_the_page_shows_with_who_and_when(self, zoe: Someone) -> None:
        told = shown(supered(zoe), text="Changed {argument.document}.", save="1")
        assert "Changed {argument.document}." in told
        assert "Version 1, Zoe" in told
        (row,) = Phrasing.objects.all()
        assert (row.tool, row.outcome, row.language, row.by) == (*DONE, zoe.actor)
        assert shown(supered(zoe), page(row))

    def test_restores_an_earlier_version(self, zoe: Someone) -> None:
        first = stand("Changed.")
        stand("Edited.")
        shown(supered(zoe), restore=str(first.pk))
        assert [row.text for row in Phrasing.objects.order_by("version")] == ["Changed.", "Edited.", "Changed."]

    def test_explains_the_placeholders_and_the_arguments_of_the_tool(self, zoe: Someone) -> None:
        told = shown(staffed(zoe))
        for name in ("{action}", "{with}", "{because}", "{result.NAME}", "{argument.document}", "{argument.edits}"):
            assert f"<code>{name}</code>" in told

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("Paid {amount}.", "no placeholder is called {amount}"),
            ("a" * 501, "at most 500 characters"),
            ("a\0b", "Null characters are not allowed."),
        ],
    )
    @pytest.mark.parametrize("how", ["save", "preview"])
    def test_says_what_is_wrong_with_a_text(self, zoe: Someone, text: str, says: str, how: str) -> None:
        answer = supered(zoe).post(HERE, {"text": text, how: "1"})
        assert answer.status_code == 400
        assert says in answer.content.decode()
        assert not Phrasing.objects.exists()

    @pytest.mark.parametrize("id", ["1", "", "\0", "018f0000-0000-7000-8000-000000000000", "of another"])
    def test_restores_nothing_that_is_no_version_of_it(self, zoe: Someone, id: str) -> None:
        other = stand("Archived.", "archive_document")
        answer = supered(zoe).post(HERE, {"restore": str(other.pk) if id == "of another" else id})
        assert answer.status_code == 403
        assert "There is no such thing" in answer.content.decode()
        assert Phrasing.objects.count() == 1

    def test_is_for_superusers(self, studio: Studio) -> None:
        old = stand("Changed.")
        stand("Edited.")
        browser = staffed(studio.ana)
        for sent in ({"text": "Mine.", "save": "1"}, {"restore": str(old.pk)}):
            answer = browser.post(HERE, sent)
            assert answer.status_code == 403
            assert "Only an administrator may edit phrasings." in answer.content.decode()
        told = shown(browser)
        assert 'name="save"' not in told
        assert 'name="restore"' not in told
        assert Phrasing.objects.count() == 2

    def test_leaves_a_version_itself_as_it_is(self, zoe: Someone) -> None:
        old = stand("Changed.")
        browser = supered(zoe)
        assert browser.post(page(old), {"text": "Mine."}).status_code == 403
        assert browser.post(page(old, "delete"), {"post": "yes"}).status_code == 403
        assert Phrasing.objects.get().text == "Changed."


class TestThePreview:
    def test_reads_on_the_newest_call_that_one_may_read(self, studio: Studio) -> None:
        edit(turn(studio, studio.ben.actor), 7)
        newest = edit(turn(studio, studio.ben.actor, 2), 8)
        edit(turn(studio, studio.ana.actor, 3), 9)
        told = shown(staffed(studio.ben), text="{result.title}, {result.version}.", preview="1")
        assert f"{SECRET}, 8." in told
        assert page(newest) in told
        assert MADE_UP not in told
        assert not Phrasing.objects.exists()

    def test_is_made_up_for_who_may_read_none_superusers_too(self, studio: Studio, zoe: Someone) -> None:
        edit(turn(studio, studio.ben.actor))
        for browser in (staffed(studio.vera), supered(zoe)):
            told = shown(browser)
            assert SECRET not in told
            assert MADE_UP in told
            assert "‹title› is at version ‹version›." in told

    def test_is_made_up_again_once_the_thread_is_no_longer_theirs(self, studio: Studio) -> None:
        edit(turn(studio, studio.ben.actor))
        browser = staffed(studio.ben)
        assert SECRET in shown(browser)
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
        assert SECRET not in shown(browser)

    def test_reads_on_what_others_shared_in_a_thread_one_may_view(self, studio: Studio, zoe: Someone) -> None:
        edit(turn(studio, studio.ben.actor), shared_by=studio.ben.actor, shared_at=timezone.now())
        assert SECRET in shown(staffed(studio.vera))
        assert SECRET not in shown(staffed(zoe))

    def test_makes_up_what_every_placeholder_asks_for(self, zoe: Someone) -> None:
        text = "{Action}{with}: {argument.edits}, {result.a.b}, {result.a.c}, {reason}{because}."
        address = reverse("admin:agents_phrasing_edit", args=("edit_document", "refused", "en"))
        told = shown(staffed(zoe), address, text=text, preview="1")
        assert "‹edits›, ‹b›, ‹c›, the reason it was given: the reason it was given." in told

    def test_of_every_default_and_pack_opens(self, zoe: Someone) -> None:
        browser = staffed(zoe)
        for tool in SETTING.words.tools:
            for outcome in OUTCOMES:
                assert MADE_UP in shown(browser, reverse("admin:agents_phrasing_edit", args=(tool, outcome, "pt")))

    def test_runs_nobodys_markup(self, zoe: Someone) -> None:
        stand('<img src=x onerror="alert(1)">')
        browser = supered(zoe)
        for address in (HERE, listing(Phrasing)):
            told = shown(browser, address)
            assert "&lt;img src=x" in told
            assert "<img src=x" not in told
