"""The inbox's page: what it lists and for whom, page by page, and what is done from it (DESIGN 5, 11)."""

from __future__ import annotations

import html
import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from agents.models.turns import Question
from collab import inbox
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.services.documents import document_create, document_edit
from collab.services.threads import thread_create
from collab.services.workspaces import workspace_create
from collab.web import pages
from permissions.actors import System
from permissions.services import grant_give
from tests.support.cast import Someone, Studio
from tests.support.scene import scene

pytestmark = pytest.mark.django_db

CARD = re.compile(r'href="(/t/[^"]+)" data-stop><b>(.*?)</b>')


def proposed(studio: Studio, amount: str = "950", whom: Someone | None = None, by: Someone | None = None) -> Proposal:
    """Have Robin propose, for Ana unless it is for someone else, or someone do so in person."""
    actor = by.actor if by else studio.robin.acting_for(whom or studio.ana, studio.thread)
    written = document_edit(
        actor=actor, document=studio.document.id, thread=studio.thread.id, propose=True,
        edits=[{"find": "900", "replace": amount}],
    )  # fmt: skip
    assert written.proposal is not None
    return written.proposal


def browser(someone: Someone) -> Client:
    client = Client()
    client.force_login(someone.user)
    return client


def page(someone: Someone, **query: str) -> str:
    answer = browser(someone).get(reverse("inbox"), query)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def cards(text: str) -> list[tuple[str, str]]:
    return CARD.findall(text)


def settles(someone: Someone, proposal: Proposal, act: str = "accept", **form: str) -> str:
    """Act on a proposal from the inbox and return what the page then says."""
    data = {"act": act, "proposal": str(proposal.id), "command": str(uuid4()), **form}
    answer = browser(someone).post(reverse("inbox"), data, follow=True)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_what_one_can_accept_links_to_its_card_and_says_why_one_may(studio: Studio) -> None:
    proposal = proposed(studio)
    text = page(studio.ana)
    assert cards(text) == [(f"/t/{studio.thread.id}/#p-{proposal.id}", "Change Launch plan: puts “950” for “900”")]
    assert "You can accept: Robin proposed it for you." in text
    assert "Launch dinner" in text
    assert "<title>(1) Inbox · Accord</title>" in text


def test_what_does_not_fit_any_more_says_so_and_is_not_accepted_here(studio: Studio) -> None:
    proposal = proposed(studio)
    document_edit(actor=studio.ana.actor, document=studio.document.id, edits=[{"find": "900", "replace": "800"}])
    text = page(studio.ana)
    assert cards(text) == [(f"/t/{studio.thread.id}/#p-{proposal.id}", "Change Launch plan: puts “950” for “900”")]
    assert "It was made on version 1; Launch plan is at version 2. It does not fit any more." in text
    assert "You can accept: Robin" not in text
    assert 'value="accept"' not in text


def test_what_one_proposed_waits_for_someone_else_who_is_named(studio: Studio) -> None:
    proposed(studio, by=studio.ana)
    text = page(studio.ana)
    assert "Yours, waiting for someone else" in text
    assert "You proposed it: someone else must accept. Ben can." in text
    assert "(1)" not in text
    assert 'value="accept"' not in text


def test_a_question_links_to_its_card(studio: Studio) -> None:
    played = scene(studio)
    text = page(studio.ben)
    thread = Question.objects.get(pk=played.ids["question"]).turn.thread_id
    assert (f"/t/{thread}/#q-{played.ids['question']}", "Which day?") in cards(text)
    assert "You can answer: Robin waits" in text


def test_who_may_only_view_has_an_empty_inbox(studio: Studio) -> None:
    scene(studio)
    text = page(studio.vera)
    assert cards(text) == []
    assert "Nothing waits for you" in text


def test_who_sees_nothing_has_no_inbox(studio: Studio, zoe: Someone) -> None:
    proposed(studio)
    assert browser(zoe).get(reverse("inbox"))["Location"] == reverse("home")


def test_grants_on_one_thread_and_document_show_what_is_there_and_no_more(studio: Studio, zoe: Someone) -> None:
    there = proposed(studio)
    other = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Secret budget")
    made = document_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title="Secret menu", kind="markdown", thread=other.id,
        propose=True,
    )  # fmt: skip
    assert made.proposal is not None
    grant_give(by=System(), holder=zoe.user, codename="view", obj=studio.thread)
    for codename in ("view", "review_document", "change_document"):
        grant_give(by=System(), holder=zoe.user, codename=codename, obj=studio.document)
    text = page(zoe)
    assert [href for href, _ in cards(text)] == [f"/t/{studio.thread.id}/#p-{there.id}"]
    assert "Secret" not in text
    assert studio.workspace.name not in text


def test_accepting_makes_the_change_and_empties_the_inbox(studio: Studio) -> None:
    text = settles(studio.ben, proposed(studio))
    assert "Accepted. Launch plan is at version 2." in text
    assert cards(text) == []
    assert "950" in str(Document.objects.get(pk=studio.document.pk).data)


def test_the_same_form_sent_twice_accepts_once_and_says_the_same(studio: Studio) -> None:
    proposal, command = proposed(studio), str(uuid4())
    first, second = (settles(studio.ben, proposal, command=command) for _ in range(2))
    assert "Launch plan is at version 2." in first
    assert "Launch plan is at version 2." in second
    assert Document.objects.get(pk=studio.document.pk).version == 2


def test_rejecting_keeps_the_reason_and_changes_nothing(studio: Studio) -> None:
    proposal = proposed(studio)
    assert "Rejected. Nothing was changed." in settles(studio.ben, proposal, "reject", reason="Too much.")
    proposal.refresh_from_db()
    assert (proposal.state, proposal.reason) == ("rejected", "Too much.")


def test_what_was_settled_meanwhile_says_by_whom(studio: Studio) -> None:
    proposal = proposed(studio)
    settles(studio.ben, proposal, "reject")
    assert "Ben rejected it at" in settles(studio.ana, proposal)


def test_ones_own_is_not_accepted_through_a_form_either(studio: Studio) -> None:
    proposal = proposed(studio, by=studio.ben)
    assert "someone else must accept" in settles(studio.ben, proposal)
    proposal.refresh_from_db()
    assert proposal.state == "open"


def test_a_form_without_its_token_does_nothing(studio: Studio) -> None:
    proposal = proposed(studio)
    client = Client(enforce_csrf_checks=True)
    client.force_login(studio.ben.user)
    form = {"act": "accept", "proposal": str(proposal.id), "command": str(uuid4())}
    assert client.post(reverse("inbox"), form).status_code == 403
    proposal.refresh_from_db()
    assert proposal.state == "open"


@pytest.mark.parametrize("form", [{}, {"act": "burn"}, {"act": "accept", "proposal": "x", "command": "y"}])
def test_a_form_that_says_nothing_sensible_is_told_so(studio: Studio, form: dict[str, str]) -> None:
    answer = browser(studio.ben).post(reverse("inbox"), form, follow=True)
    assert answer.status_code == 200
    assert b'role="alert"' in answer.content


@pytest.mark.parametrize("after", ["x", "proposal", "proposal.1", "proposal.1.x", "nobody.1.0", f"own.{'9' * 17}.0"])
def test_a_cursor_that_is_none_leads_nowhere(studio: Studio, after: str) -> None:
    assert browser(studio.ben).get(reverse("inbox"), {"after": after}).status_code == 404


def test_page_after_page_shows_everything_once(studio: Studio) -> None:
    for amount in range(7):
        proposed(studio, str(1000 + amount), by=studio.ana if amount % 2 else None)
    scene(studio)
    whole = inbox.page_of(studio.ana.actor, size=1000)
    expected = [row.id for section in whole.sections for row in section.waiting]
    for size in (1, 2, 3, 4, 50):
        seen, after = [], None
        while True:
            found = inbox.page_of(studio.ana.actor, size=size, after=after)
            seen += [row.id for section in found.sections for row in section.waiting]
            after = found.next
            if after is None:
                break
        assert seen == expected


def test_a_long_inbox_goes_on_on_a_page_of_its_own(studio: Studio) -> None:
    for amount in range(inbox.PAGE + 2):
        proposed(studio, str(1000 + amount))
    text = page(studio.ana)
    assert len(cards(text)) == inbox.PAGE
    found = re.search(r"after=([^\"]+)", text)
    assert found is not None
    assert len(cards(page(studio.ana, after=found[1]))) == 2


def test_it_is_narrowed_to_one_workspace(studio: Studio) -> None:
    proposed(studio)
    garden = workspace_create(actor=studio.ana.actor, name="Garden")
    assert len(cards(page(studio.ana, **{"in": str(studio.workspace.id)}))) == 1
    assert cards(page(studio.ana, **{"in": str(garden.id)})) == []


def test_a_workspace_one_may_not_see_is_not_there(studio: Studio, zoe: Someone) -> None:
    garden = workspace_create(actor=zoe.actor, name="Garden")
    for text in (str(garden.id), str(uuid4()), "x"):
        assert browser(studio.ana).get(reverse("inbox"), {"in": text}).status_code == 404


def test_the_number_stands_in_every_page_beside_the_inbox_and_the_thread(studio: Studio) -> None:
    proposed(studio)
    for path in (reverse("workspace", args=[studio.workspace.id]), reverse("thread", args=[studio.thread.id])):
        text = browser(studio.ben).get(path).content.decode()
        assert text.count('1<span class="vh"> waiting for you</span>') == 2
        assert "<title>(1) " in text


def test_the_sidebar_stays_short_and_leads_to_the_rest(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST", 2)
    for number in range(3):
        thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=f"Thread {number}")
    text = page(studio.ana)
    assert text.count('data-go="Thread ') == 2
    assert "All threads" in text
    assert "All documents" not in text
    whole = browser(studio.ana).get(reverse("workspace", args=[studio.workspace.id])).content.decode()
    assert whole.count('data-go="Thread ') == 3


def test_the_number_of_statements_does_not_grow_with_what_waits(studio: Studio, queries) -> None:
    def made(first: int, number: int) -> None:
        for amount in range(first, first + number):
            proposed(studio, str(amount), by=studio.ana if amount % 2 else None)
            thread = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=f"Thread {amount}")
            document_create(
                actor=studio.ben.actor, workspace=studio.workspace.id, title=f"Menu {amount}", kind="markdown",
                thread=thread.id, propose=True,
            )  # fmt: skip

    def statements() -> int:
        client = browser(studio.ana)
        with queries() as sent:
            assert client.get(reverse("inbox")).status_code == 200
        return len(sent)

    made(1000, 2)
    few = statements()
    made(2000, 12)
    assert statements() == few
    assert few <= 25
