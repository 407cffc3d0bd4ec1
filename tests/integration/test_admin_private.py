"""Staff see who did what and when; what was said they see only where they may view it (DESIGN 1, promise 10)."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from agents.models.turns import Call, Question, Turn
from collab.admin.site import site
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Event, Message
from collab.services.documents import document_create, document_edit
from collab.services.workspaces import member_remove
from permissions.actors import Client, System
from permissions.admin.base import HIDDEN
from permissions.models import User
from permissions.services import grant_give, grant_take
from tests.support.admin import SECRET, call, listing, message, page, question, staffed, supered, turn

pytestmark = pytest.mark.corrupts

PRIVATE = ("message", "document", "proposal", "turn", "question")


def text(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def note(studio):
    made = document_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title="Note", kind="markdown", text=SECRET
    )
    return Document.objects.get(pk=made.document.id)


def proposal(studio):
    return document_edit(
        actor=studio.ben.actor,
        document=studio.document.id,
        thread=studio.thread.id,
        edits=[{"append": SECRET}],
        rationale=SECRET,
        propose=True,
    ).proposal


@pytest.fixture
def kept(studio):
    """One row of everything that holds something private; the call is of a turn for Ben."""
    made = turn(studio, studio.ben.actor)
    asked = call(made)
    return {
        "message": message(studio, studio.ana),
        "document": note(studio),
        "proposal": proposal(studio),
        "turn": made,
        "call": asked,
        "question": question(asked),
    }


def test_no_column_of_a_page_is_named_as_a_field_which_would_be_shown_in_its_place():
    shadowed = [
        f"{admin}.{name}"
        for model, admin in site._registry.items()
        for name in {*getattr(admin, "shown", ()), *admin.list_display}
        if hasattr(getattr(admin, name, None), "short_description")
        and name in {field.name for field in model._meta.get_fields()}
    ]
    assert not shadowed


class TestWhatWasSaid:
    @pytest.mark.parametrize("name", [*PRIVATE, "call"])
    def test_is_hidden_from_staff_who_may_not_view_it(self, kept, zoe, name):
        shown = text(staffed(zoe).get(page(kept[name])))
        assert SECRET not in shown
        assert HIDDEN in shown

    @pytest.mark.parametrize("name", PRIVATE)
    def test_is_shown_to_staff_who_may_view_it(self, kept, studio, name):
        shown = text(staffed(studio.vera).get(page(kept[name])))
        assert SECRET in shown
        assert HIDDEN not in shown

    @pytest.mark.parametrize("name", PRIVATE)
    def test_is_hidden_again_when_the_right_is_taken(self, kept, studio, name):
        browser = staffed(studio.vera)
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.vera.id)
        assert SECRET not in text(browser.get(page(kept[name])))

    @pytest.mark.parametrize("name", PRIVATE)
    def test_is_shown_to_superusers_who_hold_every_right(self, kept, zoe, name):
        assert SECRET in text(supered(zoe).get(page(kept[name])))

    def test_in_a_proposal_is_for_viewers_of_both_thread_and_document(self, kept, studio, zoe):
        browser = staffed(zoe)
        grant_give(by=System(), holder=zoe.user, codename="view", obj=studio.thread)
        assert SECRET not in text(browser.get(page(kept["proposal"])))
        grant_give(by=System(), holder=zoe.user, codename="view", obj=studio.document)
        assert SECRET in text(browser.get(page(kept["proposal"])))


class TestACall:
    def test_is_shown_to_the_person_its_turn_is_for(self, kept, studio):
        assert SECRET in text(staffed(studio.ben).get(page(kept["call"])))

    def test_is_hidden_from_everyone_else_superusers_and_viewers_too(self, kept, studio, zoe):
        for browser in (staffed(studio.vera), supered(studio.ana), supered(zoe)):
            shown = text(browser.get(page(kept["call"])))
            assert SECRET not in shown
            assert "read_document" in shown

    def test_is_hidden_from_its_person_once_they_may_not_view_the_thread(self, kept, studio):
        browser = staffed(studio.ben)
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
        assert SECRET not in text(browser.get(page(kept["call"])))

    def test_for_a_client_of_someone_is_not_theirs(self, studio, desk):
        for number, person in enumerate((studio.ben.id, None), 2):
            asked = call(turn(studio, Client(desk.user.pk, person), number))
            assert SECRET not in text(staffed(studio.ben).get(page(asked)))


class TestLists:
    @pytest.mark.parametrize("model", [Message, Document, Proposal, Turn, Call, Question, Event])
    def test_hold_nothing_of_what_was_said_even_for_superusers(self, kept, zoe, model):
        shown = text(supered(zoe).get(listing(model)))
        assert SECRET not in shown
        assert "Launch" in shown

    @pytest.mark.parametrize("model", [Message, Document, Proposal, Turn, Call, Question])
    def test_are_not_searched_by_what_was_said(self, kept, zoe, model):
        found = staffed(zoe).get(listing(model), {"q": SECRET})
        assert found.context["cl"].result_count == 0

    @pytest.mark.parametrize(
        ("model", "lookup"),
        [
            (Message, "content__startswith"),
            (Message, "thread__messages__content__startswith"),
            (Document, "data__text__startswith"),
            (Document, "revisions__title__startswith"),
            (Proposal, "rationale__startswith"),
            (Turn, "history__startswith"),
            (Turn, "calls__args__contains"),
            (Call, "args__contains"),
            (Call, "turn__text__startswith"),
            (Question, "text__startswith"),
            (Event, "data__contains"),
            (User, "password__startswith"),
            (User, "email__startswith"),
        ],
    )
    def test_cannot_be_filtered_by_what_they_do_not_show(self, kept, zoe, model, lookup):
        answers = [staffed(zoe).get(listing(model), {lookup: tried}) for tried in (SECRET[:3], "nothing like it")]
        assert {answer.status_code for answer in answers} == {400}

    def test_can_be_filtered_by_what_they_show(self, kept, studio, zoe):
        browser = staffed(zoe)
        found = browser.get(listing(Message), {"thread__id__exact": str(studio.thread.id), "kind__exact": "comment"})
        assert found.context["cl"].result_count == 1
        log = browser.get(page(studio.thread, "log"), follow=True)
        assert log.context["cl"].result_count == Event.objects.filter(thread=studio.thread).count() > 0
        assert browser.get(listing(Turn), {"q": str(studio.thread.id)}).context["cl"].result_count == 1

    def test_of_accounts_to_choose_from_are_for_staff(self, studio, zoe):
        address = reverse("admin:autocomplete")
        asked = {"app_label": "permissions", "model_name": "grantchange", "field_name": "account", "term": "ver"}
        assert [found["text"] for found in staffed(zoe).get(address, asked).json()["results"]] == ["Vera (vera)"]
        User.objects.filter(pk=zoe.id).update(is_staff=False)
        assert staffed(studio.ben).get(address, {**asked, "field_name": "by"}).status_code == 403


class TestTheRecord:
    @pytest.mark.parametrize("name", [*PRIVATE, "call", "thread", "workspace"])
    def test_is_changed_and_deleted_by_no_superuser(self, kept, studio, zoe, name):
        rows = {**kept, "thread": studio.thread, "workspace": studio.workspace}
        _refuses_everything(supered(zoe), rows[name])

    def test_of_events_is_changed_and_deleted_by_no_superuser(self, studio, zoe):
        _refuses_everything(supered(zoe), Event.objects.first())

    def test_of_events_keeps_every_event_against_bulk_actions(self, studio, zoe):
        before = Event.objects.count()
        ids = [str(id) for id in Event.objects.values_list("id", flat=True)]
        sent = {"action": "delete_selected", "_selected_action": ids, "post": "yes", "select_across": "1"}
        supered(zoe).post(listing(Event), sent)
        assert Event.objects.count() == before > 0

    def test_of_the_admin_site_itself_quotes_nothing_private(self, kept, zoe):
        browser = supered(zoe)
        for name in (*PRIVATE, "call"):
            browser.get(page(kept[name]))
            assert SECRET not in text(browser.get(page(kept[name], "history")))
        assert not LogEntry.objects.exists()


def _refuses_everything(browser, row):
    before = type(row).objects.filter(pk=row.pk).values().get()
    sent = dict.fromkeys(before, "changed")
    assert browser.post(page(row), sent).status_code == 403
    assert browser.post(page(row, "delete"), {"post": "yes"}).status_code == 403
    assert browser.get(listing(type(row)) + "add/").status_code == 403
    assert browser.post(listing(type(row)) + "add/", sent).status_code == 403
    assert type(row).objects.filter(pk=row.pk).values().get() == before


def test_a_grant_that_was_taken_between_two_looks_is_seen_by_the_second(studio, zoe):
    posted, browser = message(studio, studio.ana), staffed(zoe)
    grant_give(by=System(), holder=zoe.user, codename="view", obj=studio.thread)
    assert SECRET in text(browser.get(page(posted)))
    grant_take(by=System(), holder=zoe.user, codename="view", obj=studio.thread)
    assert SECRET not in text(browser.get(page(posted)))
