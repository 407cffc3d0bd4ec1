"""Pages lead on to one another for who may go there, tell changes apart, and keep what somebody wrote."""

from __future__ import annotations

import html
import re
from typing import Any

from django.test import Client
from django.urls import reverse

from collab.services.documents import document_edit
from collab.services.proposals import proposal_accept
from collab.services.threads import thread_mode_set
from permissions.services import grant_give
from tests.support.cast import PLAN, Someone, Studio


def page(someone: Someone, name: str, *args: Any, **form: Any) -> str:
    browser = Client()
    browser.force_login(someone.user)
    url = reverse(name, args=args)
    answer = browser.post(url, form, follow=True) if form else browser.get(url)
    return html.unescape(answer.content.decode())


def links(text: str) -> set[str]:
    return set(re.findall(r'href="([^"?#]+)', text))


def suggested(studio: Studio, **change: Any) -> Any:
    robin = studio.robin.acting_for(studio.ana, studio.thread)
    return document_edit(actor=robin, document=studio.document.id, propose=True, **change)


def test_a_documents_menu_leads_who_manages_it_to_its_grants_and_its_access_report(studio: Studio) -> None:
    document = studio.document.id
    rights = {reverse("grants-document", args=[document]), reverse("access-document", args=[document])}
    grant_give(by=studio.ana.actor, holder=studio.ben.user, codename="manage", obj=studio.document)
    for someone, leads in ((studio.ana, True), (studio.ben, True), (studio.vera, False)):
        shown = links(page(someone, "document", document))
        assert rights <= shown if leads else not rights & shown
        assert reverse("why-document", args=[document]) in shown


def test_pages_of_rights_lead_to_one_another(studio: Studio) -> None:
    workspace = studio.workspace.id
    names = ("grants-workspace", "access-workspace", "grant-history", "why-workspace")
    addresses = {reverse(name, args=[workspace]) for name in names}
    for name in (*names, "people"):
        assert addresses <= links(page(studio.ana, name, workspace))
    assert not addresses - {reverse("why-workspace", args=[workspace])} & links(page(studio.vera, "people", workspace))


def test_two_changes_to_one_document_are_told_apart_in_the_inbox(studio: Studio) -> None:
    thread_mode_set(actor=studio.ana.actor, thread=studio.thread.id, mode="suggest")
    for text in ("- a lamp", "- a rug"):
        suggested(studio, edits=[{"append": text}])
    shown = page(studio.ben, "inbox")
    for text in ("a lamp", "a rug"):
        assert f'Accept<span class="vh"> Change Launch plan: adds “{text}”</span>' in shown


def test_what_an_agent_suggested_waits_for_a_person_not_for_someone_else(studio: Studio) -> None:
    written = suggested(studio, edits=[{"append": "- a lamp"}])
    assert written.summary == "A change to Launch plan was suggested; a person must accept it."
    proposal_accept(actor=studio.ana.actor, proposal=written.proposal.id)


def test_the_timeline_tells_an_acceptance_with_edits_from_a_plain_one(studio: Studio) -> None:
    plain, edited = (suggested(studio, edits=[{"append": text}]).proposal for text in ("- a lamp", "- a rug"))
    proposal_accept(actor=studio.ana.actor, proposal=plain.id)
    proposal_accept(actor=studio.ana.actor, proposal=edited.id, text=f"{PLAN}- a lamp\n- a red rug\n")
    shown = page(studio.vera, "timeline", studio.thread.id)
    assert shown.count("accepted the proposal to edit Launch plan") == 2
    assert shown.count("accepted the proposal to edit Launch plan, with edits") == 1


def test_a_text_that_may_not_be_saved_any_more_is_still_in_the_page(studio: Studio) -> None:
    shown = page(studio.vera, "document-save", studio.document.id, text="All I wrote.", base_version=1)
    assert "Not saved: " in shown
    assert "All I wrote.</textarea>" in shown
    assert "data-save" not in shown
    assert "You suggest the change" not in shown
