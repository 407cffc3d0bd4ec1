"""The search page: a form that needs no scripts, results that lead where they say, and no text that becomes markup."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from collab.services.documents import document_archive, document_create
from collab.services.messages import message_post
from collab.services.threads import thread_create, thread_rename
from collab.services.workspaces import workspace_create
from collab.web.frames import PAGE_EVENTS
from collab.web.search import message_address
from permissions.ids import new_id
from permissions.services import grant_give
from tests.support import cast
from tests.support.cast import Studio
from tests.support.turns import posts

pytestmark = pytest.mark.django_db


def page(someone: cast.Someone, status: int = 200, **asks: object) -> str:
    browser = Client()
    browser.force_login(someone.user)
    answer: Any = browser.get(f"/search/?{urlencode(asks)}")
    assert answer.status_code == status
    found: str = answer.content.decode()
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", found)


def results(html: str) -> list[str]:
    """Return the words of each result, what hits in brackets."""
    rows = re.findall(r"<a href=\"[^\"]*\" data-stop>(.*?)</a>", html, re.DOTALL)
    marked = [row.replace("<mark>", "[").replace("</mark>", "]").replace("<small>", " | ") for row in rows]
    return [unescape(" ".join(re.sub(r"<[^>]*>", " ", row).split())) for row in marked]


def comments(studio: Studio, text: str) -> None:
    message_post(actor=studio.ana.actor, thread=studio.thread.id, content=text, client_id=str(new_id()), kind="comment")


def addresses(html: str) -> list[str]:
    return [unescape(found) for found in re.findall(r"<a href=\"([^\"]*)\" data-stop>", html)]


def test_results_say_who_and_when_and_which_version_and_mark_what_hits(studio: Studio):
    message = posts(studio.ana, studio.thread, "Which launch music?")
    html = page(studio.vera, q="launch")
    threads, document, said = results(html)
    assert threads.startswith("[Launch] dinner | Begun")
    assert re.fullmatch(r"\[Launch\] plan # \[Launch\] plan Dinner .* \| Version 1", document)
    assert said.startswith("Launch dinner Which [launch] music? | Ana, ")
    assert addresses(html) == [
        f"/t/{studio.thread.id}/", f"/documents/{studio.document.id}/", f"/t/{studio.thread.id}/#m-{message.id}",
    ]  # fmt: skip


def test_one_kind_is_shown_alone_and_older_results_are_one_page_further(studio: Studio):
    for number in range(23):
        posts(studio.ana, studio.thread, f"candle {number}")
    first = page(studio.ben, q="candle", **{"in": "messages"})
    assert len(results(first)) == 20
    assert ">23<" in first
    older = unescape(re.search(r'href="(/search/[^"]*before=[^"]*)"', first)[1])
    browser = Client()
    browser.force_login(studio.ben.user)
    second = browser.get(older).content.decode()
    assert [found.split(" | ")[0] for found in results(second)] == [
        f"Launch dinner [candle] {number}" for number in (2, 1, 0)
    ]
    assert "before=" not in second
    assert "h-threads" not in second


def test_what_is_archived_is_shown_when_asked_for(studio: Studio):
    document_archive(actor=studio.ana.actor, document=studio.document.id)
    assert results(page(studio.vera, q="budget")) == []
    html = page(studio.vera, q="budget", archived=1)
    assert len(results(html)) == 1
    assert ">archived</span>" in html


def test_no_text_becomes_markup(studio: Studio):
    evil = '<img src=x onerror=alert(1)> <mark>candle</mark> "&amp;'
    thread_rename(actor=studio.ana.actor, thread=studio.thread.id, title=evil)
    posts(studio.ana, studio.thread, evil)
    document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=evil, kind="markdown", text=evil)
    html = page(studio.vera, q="img cand")
    assert len(results(html)) == 3
    assert "<img" not in html
    shown = '<[img] src=x onerror=alert(1)> <mark>[candle]</mark> "&amp;'
    assert [found.count(shown) for found in results(html)] == [1, 2, 1]


def test_nothing_typed_shows_no_result_and_no_word_says_so(studio: Studio):
    assert "What are you looking for?" in page(studio.vera)
    assert "No word to search for" in page(studio.vera, q='"*" ()')
    assert page(studio.vera, q="tea").count("Nothing you may view has these words") == 1


def test_a_question_that_is_too_long_is_refused_on_the_page(studio: Studio):
    html = page(studio.vera, status=400, q="a" * 10_000)
    assert "The search has 10,000 characters; at most 200 fit." in html


@pytest.mark.parametrize("asks", [{"in": "grants"}, {"before": "x"}, {"before": "1 OR 1"}, {"in": "messages'"}])
def test_an_address_that_nothing_leads_to_is_not_there(studio: Studio, asks: dict[str, str]):
    page(studio.vera, status=404, q="launch", **asks)


def test_who_may_view_nothing_has_nothing_to_search(studio: Studio, zoe: cast.Someone):
    page(zoe, status=302, q="launch")


def test_a_workspace_is_named_only_to_who_may_view_it(studio: Studio, zoe: cast.Someone):
    workspace_create(actor=zoe.actor, name="Zoe's own")
    before = page(zoe, q="launch")
    grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.document)
    html = page(zoe, q="launch")
    assert results(before) == []
    (found,) = results(html)
    assert found.endswith("| Version 1 · Shared with you")
    assert studio.workspace.name not in html
    assert studio.thread.title not in html


def test_a_hit_one_may_not_view_leaves_the_page_as_it_was_to_the_byte(studio: Studio, zoe: cast.Someone):
    for number in range(25):
        posts(studio.ana, studio.thread, f"candles {number}")
    grant_give(by=studio.ana.actor, holder=zoe.user, codename="view", obj=studio.thread)
    before = [page(someone, q="cand") for someone in (zoe, studio.vera)]
    place = workspace_create(actor=studio.ana.actor, name="Candles")
    thread = thread_create(actor=studio.ana.actor, workspace=place.id, title="Candles")
    message_post(actor=studio.ana.actor, thread=thread.id, content="candles", client_id="1")
    assert [page(someone, q="cand") for someone in (zoe, studio.vera)] == before
    hidden = thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Candles too")
    message_post(actor=studio.ana.actor, thread=hidden.id, content="candles", client_id="1")
    assert page(zoe, q="cand") == before[0]


def test_an_old_message_is_shown_in_the_timeline_where_it_stands(studio: Studio):
    message = posts(studio.ana, studio.thread, "candles")
    thread = studio.thread
    thread.refresh_from_db()
    assert message_address(thread, message).endswith(f"#m-{message.id}")
    thread.head_seq = message.seq + PAGE_EVENTS
    address = message_address(thread, message)
    assert address == f"/t/{thread.id}/timeline/?before={message.seq + 50}#e{message.seq}"
    browser = Client()
    browser.force_login(studio.vera.user)
    assert f'id="e{message.seq}"' in browser.get(address.split("#")[0]).content.decode()


def test_the_page_sends_as_many_statements_however_much_it_finds(studio: Studio, queries):
    browser = Client()
    browser.force_login(studio.vera.user)
    counts = set()
    for _ in range(2):
        for number in range(25):
            comments(studio, f"candles {number}")
        for number in range(6):
            title = f"Candles {number}"
            thread_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=title)
            document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title=title, kind="markdown")
        with queries() as sent:
            browser.get("/search/?q=candles")
        counts.add(len(sent))
    assert counts == {22}
