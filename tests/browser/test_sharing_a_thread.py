"""Several people in one thread: whom the agent works for, who is next, and that all see the same."""

from __future__ import annotations

import re
from difflib import unified_diff

import pytest
from playwright.sync_api import expect

from tests.browser.test_accessibility import NARROW
from tests.support.stage import Tab, Wire, until

FIRST_WORDS = "I look at the plan before I tell it."
UNREAD = re.compile("• Launch dinner · Accord")

WATCH_WHAT_IS_SAID = """() => {
  window.said = [];
  const look = () => {
    const words = document.querySelector("article.turn[aria-busy='true'] .turn__body > .prose");
    if (words) window.said.push(words.innerText);
  };
  const changes = { subtree: true, childList: true, characterData: true };
  new MutationObserver(look).observe(document.getElementById("entries"), changes);
  look();
}"""


def test_robin_works_for_ana_then_for_ben_and_everyone_sees_for_whom(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in ("ana", "ben", "vera"))
    expect(vera.page.locator("#barred")).to_have_text("You can read along, not write: you may only view Launch dinner.")
    expect(vera.box).to_be_hidden()

    ana.says("add book the venue to the plan")
    expect(ana.strip).to_contain_text("Robin works for you now.")
    ana.says("and order the flowers")
    ben.says("and rename it")

    expect(ben.strip).to_contain_text("Robin works for Ana now; you are next.")
    expect(ana.strip).to_contain_text("Robin works for you now; Ben is next.")
    expect(vera.strip).to_contain_text("Robin works for Ana now; Ben is next.")
    expect(ben.waiting("and rename it").get_by_role("button", name="Cancel")).to_be_visible()
    for tab in (ana, vera):
        expect(tab.waiting("and rename it")).to_have_count(1)
        expect(tab.waiting("and rename it").get_by_role("button")).to_have_count(0)
    for tab in (ana, ben, vera):
        expect(tab.message("and rename it")).to_have_count(0)
        expect(tab.rail("for Ben")).to_have_count(0)

    for tab in (ana, ben, vera):
        tab.comes_to_rest()
        expect(tab.message("and order the flowers")).to_contain_text("joined the running turn")
        expect(tab.rail("for Ana")).to_have_count(1)
        expect(tab.rail("for Ana")).to_contain_text("The flowers are noted.")
        expect(tab.rail("for Ben")).to_have_count(1)
        expect(tab.rail("for Ben").locator("article.msg")).to_contain_text("and rename it")
        expect(tab.pane.get_by_role("heading", name="Spring launch")).to_be_visible()
        expect(tab.pane.locator("#doc-now")).to_contain_text("book the venue")
    hues = [tab.rail("for Ben").get_attribute("data-hue") for tab in (ana, ben, vera)]
    assert len(set(hues)) == 1
    assert hues[0] != ana.rail("for Ana").get_attribute("data-hue")


@pytest.mark.parametrize("away", ["offline", "cut"])
def test_pages_that_lived_through_it_equal_pages_just_loaded(stage, studio, away):
    wire = Wire()
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    again = stage.tab("ben", studio.thread_path, wire=wire)
    tabs = {"ana": ana, "ben": ben, "ben again": again}

    ana.says("tell the story")
    for tab in tabs.values():
        expect(tab.running).to_contain_text(FIRST_WORDS)
    if away == "offline":
        again.page.context.set_offline(True)
        expect(again.line).to_contain_text("Offline.")
    else:
        wire.cut()  # it may be back before anyone could see the line
        until(lambda: again.page.wait_for_timeout(50) or wire.connections > 1, "the tab connects again")
    missed = len(ana.running.inner_text())
    until(lambda: len(ana.running.inner_text()) > missed, "Robin says more while a tab is away")
    ben.says("quickly add a lamp")
    if away == "offline":
        again.page.context.set_offline(False)
    expect(again.line).not_to_contain_text("Offline.")
    expect(again.waiting("quickly add a lamp")).to_have_count(1)
    expect(ana.running).to_be_visible()

    for tab in tabs.values():
        tab.comes_to_rest()
        expect(tab.pane.locator("#doc-now")).to_contain_text("a lamp")
    for name, tab in tabs.items():
        equals_a_fresh_page(stage, studio, name.split()[0], tab)


def test_an_open_question_and_an_open_proposal_look_the_same_on_a_fresh_page(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.lets_robin_only_suggest()
    ana.says("quickly add a lamp")
    expect(ben.button("Accept")).to_be_visible()
    ana.comes_to_rest()
    ana.says("ask us")
    for who, tab in (("ana", ana), ("ben", ben)):
        expect(tab.button("On Friday")).to_be_visible()
        expect(tab.pane).to_contain_text("Open proposal")
        equals_a_fresh_page(stage, studio, who, tab)


def test_every_text_seen_while_streaming_is_the_beginning_of_the_reply(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.page.evaluate(WATCH_WHAT_IS_SAID)
    ben.page.evaluate(WATCH_WHAT_IS_SAID)
    ana.says("tell the story")
    expect(ana.running).to_contain_text("The studio")
    late = stage.tab("vera", studio.thread_path)
    late.page.evaluate(WATCH_WHAT_IS_SAID)
    expect(late.running).to_contain_text(FIRST_WORDS)
    for tab in (ana, ben, late):
        tab.comes_to_rest()
        posted = words(tab.replies.inner_text())
        seen = [words(text) for text in tab.page.evaluate("window.said")]
        assert [text for text in seen if not posted.startswith(text)] == []
        assert seen == sorted(seen, key=len), "what was said was taken back"
        assert len(set(seen)) > 3, "it came at once"
        assert posted.endswith("It ends with a dinner.")


def test_who_reads_further_up_keeps_their_place_and_is_offered_the_latest(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("say " + "\n\n".join(f"Line {number}." for number in range(60)))
    expect(ana.replies.get_by_text("Line 59.")).to_be_in_viewport()
    expect(ana.button("Latest")).to_have_count(0)
    ana.page.get_by_text("Line 30.").first.scroll_into_view_if_needed()
    place = ana.page.evaluate("document.getElementById('log').scrollTop")
    ben.says("quickly add a lamp")
    expect(ana.rail("for Ben").locator(".reply")).to_have_count(1)
    assert ana.page.evaluate("document.getElementById('log').scrollTop") == place
    ana.button("Latest").click()
    expect(ana.rail("for Ben").locator(".reply")).to_be_in_viewport()


def test_who_looks_at_the_document_on_a_small_screen_keeps_their_place_and_has_read_nothing_meanwhile(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("say " + "\n\n".join(f"Line {number}." for number in range(60)))
    expect(ana.replies.get_by_text("Line 59.")).to_be_in_viewport()
    ana.page.set_viewport_size(NARROW)
    ana.page.get_by_text("Line 30.").first.scroll_into_view_if_needed()
    expect(ana.button("Latest")).to_be_visible()
    place = ana.page.evaluate("document.getElementById('log').scrollTop")
    ana.button("Document").click()
    expect(ana.log).to_be_hidden()
    ben.says("quickly add a lamp")
    expect(ana.page).to_have_title(UNREAD)
    ana.button("Thread").click()
    expect(ana.rail("for Ben").locator(".reply")).to_have_count(1)
    assert ana.page.evaluate("document.getElementById('log').scrollTop") == place
    expect(ana.page).to_have_title(UNREAD)


def test_an_open_timeline_follows_what_happens_and_counts_it(stage, studio):
    page = stage.window("ben", studio.timeline_path)
    before = page.locator(".ev").count()
    ana = stage.tab("ana", studio.thread_path)
    ana.says("good morning")
    ana.comes_to_rest()
    expect(page.locator("#events")).to_contain_text("wrote: “good morning”")
    expect(page.locator("#events")).to_contain_text("Ended")
    after = page.locator(".ev").count()
    assert after > before
    expect(page.locator("#count")).to_have_text(f"{after} events, each in its place")


def equals_a_fresh_page(stage, studio, who: str, tab: Tab) -> None:
    fresh = stage.tab(who, studio.thread_path)
    expect(fresh.log.locator("section.exchange")).not_to_have_count(0)
    until(lambda: fresh.drawn() == tab.drawn() or settled(tab, fresh), "two pages come to rest")
    assert list(unified_diff(fresh.drawn(), tab.drawn(), "fresh", "lived", n=1)) == []


def settled(tab: Tab, fresh: Tab) -> bool:
    """Whether two pages have stopped changing, so that a difference between them stays."""
    before = (tab.drawn(), fresh.drawn())
    for page in (tab.page, fresh.page):
        page.evaluate("new Promise((done) => setTimeout(done, 500))")
    return before == (tab.drawn(), fresh.drawn())


def words(text: str) -> str:
    return " ".join(text.split())
