"""The pages: who sees what, what each form does, and that nobody sees anything they may not (DESIGN 11, promise 10)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from collab import selectors
from collab.models.documents import Document
from collab.models.threads import Thread
from collab.services.documents import document_create, document_edit
from collab.services.messages import message_post
from collab.services.threads import thread_archive, thread_mode_set
from collab.services.workspaces import invite_create
from permissions.roles import Role
from permissions.services import grant_give
from tests.support import cast
from tests.support.queries import Queries

PASSWORD = "the cast signs in with this"
INLINE = re.compile(r"\sstyle=|\son[a-z]+=|<script(?![^>]*(\ssrc=|type=\"application/json\"))", re.IGNORECASE)


@pytest.fixture(autouse=True)
def no_tries_yet() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def signed_in(someone: cast.Someone) -> Client:
    browser = Client()
    browser.force_login(someone.user)
    return browser


def text_of(answer: Any) -> str:
    content: bytes = answer.content
    return content.decode()


def embedded(answer: Any) -> dict[str, Any]:
    found = re.search(r'<script id="thread-data" type="application/json">(.*?)</script>', text_of(answer), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def pages_of(studio: cast.Studio) -> list[str]:
    thread, document, workspace = studio.thread.id, studio.document.id, studio.workspace.id
    return [
        reverse("workspace", args=[workspace]),
        reverse("people", args=[workspace]),
        reverse("thread", args=[thread]),
        reverse("thread-items", args=[thread]),
        reverse("timeline", args=[thread]),
        reverse("document", args=[document]),
        reverse("document-pane", args=[document]),
    ]


def test_every_page_asks_who_is_not_signed_in_to_sign_in(studio: cast.Studio) -> None:
    for page in pages_of(studio):
        answer = Client().get(page)
        assert (answer.status_code, answer["Location"].split("?")[0]) == (302, reverse("sign-in"))


def test_a_stranger_is_told_the_same_of_what_is_there_and_of_what_is_not(
    studio: cast.Studio, zoe: cast.Someone
) -> None:
    browser = signed_in(zoe)
    nothing = browser.get(reverse("thread", args=[uuid4()]))
    for page in pages_of(studio):
        answer = browser.get(page)
        assert (answer.status_code, text_of(answer)) == (404, text_of(nothing))


@pytest.mark.parametrize("who", ["ana", "ben", "vera"])
def test_every_member_sees_every_page(studio: cast.Studio, request: pytest.FixtureRequest, who: str) -> None:
    browser = signed_in(request.getfixturevalue(who))
    assert [browser.get(page).status_code for page in pages_of(studio)] == [200] * len(pages_of(studio))


def test_no_page_needs_a_weaker_content_security_policy(studio: cast.Studio, ana: cast.Someone) -> None:
    for page in [*pages_of(studio), reverse("account"), reverse("workspace-new"), reverse("home") + "?all=1"]:
        answer = signed_in(ana).get(page)
        assert INLINE.search(text_of(answer)) is None, page
        assert "unsafe" not in answer["Content-Security-Policy"]


def test_signing_in_says_how_many_tries_are_left_and_then_makes_one_wait(ana: cast.Someone) -> None:
    ana.user.set_password(PASSWORD)
    ana.user.save()
    browser = Client()

    def tried(password: str) -> HttpResponse:
        answer: Any = browser.post(reverse("sign-in"), {"username": ana.user.username, "password": password})
        return answer

    assert "You have 9 more tries." in text_of(tried("wrong"))
    for _ in range(8):
        tried("wrong")
    assert "Wait ten minutes" in text_of(tried("wrong"))
    refused = tried(PASSWORD)
    assert (refused.status_code, "sessionid" in browser.cookies) == (429, False)


def test_the_right_password_leads_where_one_was_going(studio: cast.Studio, ana: cast.Someone) -> None:
    ana.user.set_password(PASSWORD)
    ana.user.save()
    wanted = reverse("thread", args=[studio.thread.id])
    body = {"username": ana.user.username, "password": PASSWORD}
    assert Client().post(reverse("sign-in"), {**body, "next": wanted})["Location"] == wanted
    assert Client().post(reverse("sign-in"), {**body, "next": "https://elsewhere.example/"})["Location"] == "/"


def test_an_agent_never_signs_in(robin: cast.Robin) -> None:
    answer = Client().post(reverse("sign-in"), {"username": robin.user.username, "password": "!"})
    assert "match" in text_of(answer)


def test_home_leads_to_the_workspace_that_was_open_last(studio: cast.Studio, ana: cast.Someone) -> None:
    assert signed_in(ana).get("/")["Location"] == reverse("workspace", args=[studio.workspace.id])


def test_who_is_in_no_workspace_is_offered_to_make_one(zoe: cast.Someone) -> None:
    browser = signed_in(zoe)
    assert "You are in no workspace yet" in text_of(browser.get("/"))
    made = browser.post(reverse("workspace-new"), {"name": "Zoe’s own"})
    assert "Start your first thread" in text_of(browser.get(made["Location"]))


def test_a_first_message_opens_a_thread_named_after_it(studio: cast.Studio, ben: cast.Someone) -> None:
    answer = signed_in(ben).post(reverse("thread-new", args=[studio.workspace.id]), {"text": "Plan the party\nplease"})
    thread = Thread.objects.get(title="Plan the party")
    assert answer["Location"] == reverse("thread", args=[thread.id])
    assert thread.messages.get().content == "Plan the party\nplease"


def test_a_viewer_is_told_why_they_may_not_open_a_thread(studio: cast.Studio, vera: cast.Someone) -> None:
    answer = signed_in(vera).post(reverse("thread-new", args=[studio.workspace.id]), {"title": "Mine"}, follow=True)
    assert "Vera may only view" in text_of(answer)
    assert not Thread.objects.filter(title="Mine").exists()


def test_the_thread_page_embeds_what_its_scripts_draw(
    studio: cast.Studio, ana: cast.Someone, ben: cast.Someone
) -> None:
    message_post(actor=ben.actor, thread=studio.thread.id, content="</script><b>hi</b>", client_id="1", kind="comment")
    data = embedded(signed_in(ana).get(reverse("thread", args=[studio.thread.id])))
    posted = [item for item in data["items"] if item["item"] == "message"]
    assert [item["text"] for item in posted] == ["</script><b>hi</b>"]
    assert data["viewer"]["may"]["manage"]["ok"] is True
    assert data["head_seq"] == Thread.objects.get(pk=studio.thread.id).head_seq
    assert {person["name"] for person in data["people"]} == {"Ana", "Ben", "Vera"}


def test_what_a_viewer_may_not_do_is_said_in_advance(studio: cast.Studio, vera: cast.Someone) -> None:
    may = embedded(signed_in(vera).get(reverse("thread", args=[studio.thread.id])))["viewer"]["may"]
    assert {name: right["ok"] for name, right in may.items()} == dict.fromkeys(may, False)
    assert all(right["because"] for right in may.values())


def test_older_items_come_a_step_at_a_time(studio: cast.Studio, ana: cast.Someone) -> None:
    for number in range(3):
        message_post(
            actor=ana.actor, thread=studio.thread.id, content=f"{number}", client_id=f"{number}", kind="comment"
        )
    head = Thread.objects.get(pk=studio.thread.id).head_seq
    answer = signed_in(ana).get(reverse("thread-items", args=[studio.thread.id]), {"before": head}).json()
    assert [item["text"] for item in answer["items"] if item["item"] == "message"] == ["0", "1"]
    assert answer["first_seq"] == 1


@pytest.mark.parametrize("page", ["thread", "timeline"])
def test_a_thread_of_many_costs_the_queries_of_one_of_few(
    studio: cast.Studio,
    ana: cast.Someone,
    ben: cast.Someone,
    page: str,
    queries: Callable[[], AbstractContextManager[Queries]],
) -> None:
    browser = signed_in(ana)

    def cost() -> int:
        with queries() as sent:
            assert browser.get(reverse(page, args=[studio.thread.id])).status_code == 200
        return len(sent)

    message_post(actor=ben.actor, thread=studio.thread.id, content="one", client_id="one", kind="comment")
    few = cost()
    for number in range(30):
        message_post(
            actor=ben.actor, thread=studio.thread.id, content=f"{number}", client_id=f"{number}", kind="comment"
        )
    assert cost() == few


def test_the_timeline_tells_each_event_in_a_sentence(studio: cast.Studio, ana: cast.Someone, ben: cast.Someone) -> None:
    message_post(actor=ben.actor, thread=studio.thread.id, content="<i>Hello</i> all", client_id="1", kind="comment")
    thread_mode_set(actor=ana.actor, thread=studio.thread.id, mode="suggest")
    shown = text_of(signed_in(ana).get(reverse("timeline", args=[studio.thread.id])))
    assert "<b>Ben</b> commented: “&lt;i&gt;Hello&lt;/i&gt; all”" in shown
    assert "<b>Ana</b> set the thread to suggest" in shown


def test_a_persons_save_on_an_old_version_keeps_their_text_and_says_who_was_first(
    studio: cast.Studio, ana: cast.Someone, ben: cast.Someone
) -> None:
    document = studio.document
    document_edit(actor=ana.actor, document=document.id, edits=[{"append": "By Ana\n"}])
    body = {"text": "All mine", "base_version": document.version}
    answer = signed_in(ben).post(reverse("document-save", args=[document.id]), body)
    assert answer.status_code == 400
    assert "by Ana" in text_of(answer)
    assert "All mine</textarea>" in text_of(answer)
    assert "By Ana" in Document.objects.get(pk=document.id).data["text"]


def test_a_save_on_the_current_version_is_the_next_version(studio: cast.Studio, ben: cast.Someone) -> None:
    body = {"text": "All mine\r\n", "base_version": studio.document.version}
    signed_in(ben).post(reverse("document-save", args=[studio.document.id]), body)
    saved = Document.objects.get(pk=studio.document.id)
    assert (saved.data["text"], saved.version) == ("All mine\n", studio.document.version + 1)


def test_who_may_only_view_a_document_gets_no_form(studio: cast.Studio, vera: cast.Someone) -> None:
    assert "<form" not in text_of(signed_in(vera).get(reverse("document-pane", args=[studio.document.id])))


def test_what_a_thread_shows_is_not_named_to_who_may_not_view_it(studio: cast.Studio, zoe: cast.Someone) -> None:
    made = document_create(
        actor=studio.ana.actor, workspace=studio.workspace.id, title="Menu", kind="markdown", thread=studio.thread.id
    )
    assert made.document is not None
    for codename, obj in (("view", studio.thread), ("start_turn", studio.thread), ("view", made.document)):
        grant_give(by=studio.ana.actor, holder=zoe.user, codename=codename, obj=obj)
    address = reverse("document-pane", args=[made.document.id])
    beside = {"thread": str(studio.thread.id)}
    assert "This thread shows Launch plan." in text_of(signed_in(studio.ben).get(address, beside))
    shown = text_of(signed_in(zoe).get(address, beside))
    assert "This thread shows another document." in shown
    assert "Launch plan" not in shown


def test_a_new_document_is_shown_in_the_thread_it_was_made_in(studio: cast.Studio, ben: cast.Someone) -> None:
    body = {"title": "Guest list", "kind": "checklist", "thread": str(studio.thread.id)}
    answer = signed_in(ben).post(reverse("document-new", args=[studio.workspace.id]), body)
    assert answer["Location"] == reverse("thread", args=[studio.thread.id])
    assert "Guest list" in [document.title for document in selectors.followed_by(ben.actor, studio.thread.id)]


def test_an_invite_is_shown_once_and_joins_only_when_the_button_is_pressed(
    studio: cast.Studio, ana: cast.Someone, zoe: cast.Someone
) -> None:
    people = reverse("people", args=[studio.workspace.id])
    made = signed_in(ana).post(people, {"act": "invite", "role": "viewer", "days": "7"})
    link = re.search(r'value="(http://[^"]+/join/[^"]+)"', text_of(made))
    assert link is not None
    assert link.group(1) not in text_of(signed_in(ana).get(people))
    browser = signed_in(zoe)
    assert browser.get(link.group(1)).status_code == 200
    assert zoe.id not in {member.id for member in selectors.people_of(studio.workspace.id)}
    browser.post(link.group(1))
    assert zoe.id in {member.id for member in selectors.people_of(studio.workspace.id)}


def test_an_invite_that_was_used_is_a_plain_sentence(studio: cast.Studio, ana: cast.Someone, zoe: cast.Someone) -> None:
    _, token = invite_create(actor=ana.actor, workspace=studio.workspace.id, role=Role.VIEWER, days=1)
    signed_in(zoe).post(reverse("join", args=[token]))
    other = cast.someone("Olga")
    answer = signed_in(other).post(reverse("join", args=[token]))
    assert (answer.status_code, "Not joined" in text_of(answer)) == (409, True)


def test_an_owner_changes_roles_adds_and_removes(studio: cast.Studio, ana: cast.Someone, zoe: cast.Someone) -> None:
    browser, people = signed_in(ana), reverse("people", args=[studio.workspace.id])
    browser.post(people, {"act": "add", "username": zoe.user.username, "role": "viewer"})
    browser.post(people, {"act": "role", "user": str(zoe.id), "role": "editor"})
    roles = {member.id: member.role for member in selectors.people_of(studio.workspace.id)}
    assert roles[zoe.id] is Role.EDITOR
    browser.post(people, {"act": "remove", "user": str(zoe.id)})
    assert zoe.id not in {member.id for member in selectors.people_of(studio.workspace.id)}


def test_the_last_owner_stays_and_is_told_why(studio: cast.Studio, ana: cast.Someone) -> None:
    people = reverse("people", args=[studio.workspace.id])
    answer = signed_in(ana).post(people, {"act": "remove", "user": str(ana.id)}, follow=True)
    assert "last owner stays" in text_of(answer)


def test_an_editor_can_manage_nobody(studio: cast.Studio, ben: cast.Someone, vera: cast.Someone) -> None:
    browser, people = signed_in(ben), reverse("people", args=[studio.workspace.id])
    assert "Remove…" not in text_of(browser.get(people))
    browser.post(people, {"act": "role", "user": str(vera.id), "role": "editor"})
    roles = {member.id: member.role for member in selectors.people_of(studio.workspace.id)}
    assert roles[vera.id] is Role.VIEWER


def test_an_agent_is_enabled_and_disabled_by_who_manages(
    studio: cast.Studio, ana: cast.Someone, robin: cast.Robin
) -> None:
    browser, people = signed_in(ana), reverse("people", args=[studio.workspace.id])
    browser.post(people, {"act": "agent", "agent": str(robin.id), "role": ""})
    assert selectors.agents_of(studio.workspace.id) == []
    browser.post(people, {"act": "agent", "agent": str(robin.id), "role": "contributor"})
    assert [agent.role for agent in selectors.agents_of(studio.workspace.id)] == [Role.CONTRIBUTOR]


def test_forms_from_elsewhere_are_refused_in_a_sentence(studio: cast.Studio, ana: cast.Someone) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ana.user)
    answer = browser.post(reverse("workspace", args=[studio.workspace.id]), {"name": "Taken"})
    assert (answer.status_code, "Nothing was done" in text_of(answer)) == (403, True)


def test_a_changed_password_signs_in_and_the_old_one_does_not(ana: cast.Someone) -> None:
    ana.user.set_password(PASSWORD)
    ana.user.save()
    browser = Client()
    browser.post(reverse("sign-in"), {"username": ana.user.username, "password": PASSWORD})
    new = "quite another long one"
    browser.post(reverse("account"), {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert browser.get(reverse("account")).status_code == 200
    assert Client().login(username=ana.user.username, password=new)
    assert not Client().login(username=ana.user.username, password=PASSWORD)


@pytest.mark.parametrize("name", ["home", "sign-in"])
def test_signing_out_ends_the_session(ana: cast.Someone, name: str) -> None:
    browser = signed_in(ana)
    browser.post(reverse("sign-out"))
    answer = browser.get(reverse(name), follow=True)
    assert "Sign in" in text_of(answer)


def test_an_address_that_is_none_is_a_plain_page() -> None:
    answer = Client().get("/nowhere/")
    assert (answer.status_code, "There is no such thing" in text_of(answer)) == (404, True)


def test_an_archived_thread_offers_no_form_for_its_document(studio: cast.Studio, ana: cast.Someone) -> None:
    pane = reverse("document-pane", args=[studio.document.id])
    assert "<form" in text_of(signed_in(ana).get(pane, {"thread": str(studio.thread.id)}))
    thread_archive(actor=ana.actor, thread=studio.thread.id, archived=True)
    assert "<form" not in text_of(signed_in(ana).get(pane, {"thread": str(studio.thread.id)}))


def test_who_may_see_one_thread_is_shown_neither_its_workspace_nor_its_people(studio, zoe):
    grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
    client = Client()
    client.force_login(zoe.user)
    page = client.get(f"/t/{studio.thread.id}/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "Launch dinner" in text
    assert "Studio launch" not in text
    assert "Vera" not in text
