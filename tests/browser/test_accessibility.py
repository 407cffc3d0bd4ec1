"""Every page passes an accessibility checker, wide and narrow, light and dark, and never scrolls sideways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.support.site import Site, Studio
from tests.support.stage import Stage, Tab

WIDE, NARROW, NARROWEST = {"width": 1280, "height": 800}, {"width": 390, "height": 844}, {"width": 320, "height": 640}

SIDEWAYS = """() => [document.scrollingElement, ...document.querySelectorAll(".log, .sheet, .tl, .doc__body, dialog")]
  .filter((node) => node.clientWidth && node.scrollWidth > node.clientWidth)
  .map((node) => `${node.localName}.${node.className} is ${node.scrollWidth} wide in ${node.clientWidth}`)"""

BEHIND = """() => {
  const { scrollHeight, clientHeight } = document.scrollingElement;
  return document.body.classList.contains("app") ? scrollHeight - clientHeight : 0;
}"""
"""How far the page behind what scrolls would scroll too: a link to a part of it would then push its head away."""

Path = Callable[[Studio], str]


@dataclass(frozen=True, slots=True)
class Place:
    """A page: who opens it, where, and what they do first."""

    who: str | None
    path: Path
    first: Callable[[Tab], None] = lambda tab: None


def _is_idle(tab: Tab) -> None:
    tab.says("quickly add a lamp")
    tab.comes_to_rest()
    tab.says("say | A | B |\n| --- | --- |\n| `one` | [two](https://example.org) |")
    tab.comes_to_rest()


def _runs(tab: Tab) -> None:
    tab.says("hold on")
    expect(tab.running).to_contain_text("I hold on until someone stops me.")


def _asks(tab: Tab) -> None:
    tab.says("ask us")
    expect(tab.button("On Friday")).to_be_visible()


def _suggests(tab: Tab) -> None:
    tab.lets_robin_only_suggest()
    tab.says("quickly add a lamp")
    expect(tab.button("Accept")).to_be_visible()
    tab.comes_to_rest()


def _has_something_waiting(tab: Tab) -> None:
    _suggests(tab)
    tab.page.goto("/inbox/")
    tab.page.locator("#inbox summary").first.click()


def _is_offline(tab: Tab) -> None:
    tab.page.context.set_offline(True)
    expect(tab.line).to_contain_text("Offline.")


def _opens(button: str) -> Callable[[Tab], None]:
    def opens(tab: Tab) -> None:
        tab.button(button).click()
        expect(tab.page.get_by_role("dialog")).to_be_visible()

    return opens


def _edits(tab: Tab) -> None:
    tab.button("Edit").click()
    expect(tab.pane.get_by_role("textbox", name="Launch plan")).to_be_visible()


def _opens_the_menu(tab: Tab) -> None:
    tab.pane.get_by_label("Document menu").click()
    tab.pane.get_by_text("Archive…").click()
    expect(tab.button("Archive for everyone")).to_be_visible()


def _compares(tab: Tab) -> None:
    tab.pane.get_by_role("tab", name="History").click()
    tab.pane.get_by_role("link", name="Compare").first.click()
    expect(tab.pane.get_by_role("spinbutton", name="From version")).to_be_visible()


def _may_share(tab: Tab) -> None:
    tab.says("quickly add a lamp")
    tab.comes_to_rest()
    tab.log.get_by_role("button", name="asked and brought").last.click()
    tab.button("Share…").click()
    expect(tab.button("Share with everyone here")).to_be_visible()


PLACES = {
    "the sign-in page": Place(None, lambda studio: "/sign-in/"),
    "the home page": Place("ana", lambda studio: "/?all=1"),
    "the home page of someone in no workspace": Place("zoe", lambda studio: "/"),
    "a new workspace": Place("ana", lambda studio: "/w/new/"),
    "a workspace": Place("ana", lambda studio: studio.path),
    "the people page": Place("ana", lambda studio: studio.people_path),
    "the people page of a viewer": Place("vera", lambda studio: studio.people_path),
    "the grants of a workspace": Place("ana", lambda studio: f"/grants/workspace/{studio.workspace}/"),
    "the grants of a thread": Place("ana", lambda studio: f"/grants/thread/{studio.thread}/"),
    "a thread": Place("ana", lambda studio: studio.thread_path, _is_idle),
    "a thread of a viewer": Place("vera", lambda studio: studio.thread_path),
    "a thread with a running turn": Place("ana", lambda studio: studio.thread_path, _runs),
    "a thread with an open question": Place("ana", lambda studio: studio.thread_path, _asks),
    "a thread with an open proposal": Place("ana", lambda studio: studio.thread_path, _suggests),
    "a thread while offline": Place("ana", lambda studio: studio.thread_path, _is_offline),
    "a call that may be shared": Place("ana", lambda studio: studio.thread_path, _may_share),
    "a thread's settings": Place("ana", lambda studio: studio.thread_path, _opens("Thread settings")),
    "a thread's timeline": Place("ana", lambda studio: studio.timeline_path),
    "a document": Place("ana", lambda studio: studio.document_path),
    "a document being edited": Place("ana", lambda studio: studio.document_path, _edits),
    "a document's menu": Place("ana", lambda studio: studio.document_path, _opens_the_menu),
    "a document's history": Place("ana", lambda studio: f"{studio.document_path}history/"),
    "two versions compared": Place("ana", lambda studio: f"{studio.document_path}compare/"),
    "two versions compared in a pane": Place("ana", lambda studio: studio.thread_path, _compares),
    "an old version": Place("ana", lambda studio: f"{studio.document_path}version/?version=1"),
    "the inbox": Place("ana", lambda studio: studio.thread_path, _has_something_waiting),
    "an empty inbox": Place("vera", lambda studio: "/inbox/"),
    "a search": Place("ana", lambda studio: "/search/?q=launch"),
    "a search for nothing": Place("vera", lambda studio: "/search/?q=%22"),
    "the account page": Place("ana", lambda studio: "/account/"),
    "an error page": Place("ana", lambda studio: f"/t/{uuid4()}/"),
}


@pytest.fixture(params=PLACES)
def page(request: pytest.FixtureRequest, stage: Stage, site: Site, studio: Studio) -> Iterator[Page]:
    """Open a page at a place, without motion, so that nothing is looked at half way."""
    place = PLACES[request.param]
    window = stage.window(place.who, place.path(studio), viewport=WIDE, reduced_motion="reduce")
    place.first(Tab(window))
    yield window
    for stop in window.get_by_role("button", name="Stop", exact=True).all():
        stop.click()
        expect(stop).to_have_count(0)


def test_an_accessibility_checker_finds_nothing_and_no_page_scrolls_sideways(page):
    checker = Axe()
    found = []
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            result = checker.run(page)
            if result.violations_count:
                found.append(f"{size['width']} px, {scheme}: {result.generate_report()}")
        assert page.evaluate(BEHIND) == 0
    assert not found, "\n".join(found)
    page.set_viewport_size(NARROWEST)
    assert page.evaluate(SIDEWAYS) == []


@pytest.mark.parametrize("view", ["conversation", "document"])
def test_a_narrow_thread_shows_one_thing_at_a_time_and_passes_the_checker_with_its_menu_open(stage, studio, view):
    page = stage.window("ana", studio.thread_path, viewport=NARROW, reduced_motion="reduce")
    page.get_by_role("button", name="Thread" if view == "conversation" else "Document", exact=True).click()
    expect(page.locator("#log")).to_be_visible(visible=view == "conversation")
    expect(page.locator("#pane")).to_be_visible(visible=view == "document")
    if view == "conversation":
        page.get_by_role("button", name="Menu").click()
        expect(page.get_by_role("navigation", name="Workspace")).to_be_visible()
    result = Axe().run(page)
    assert not result.violations_count, result.generate_report()
    page.set_viewport_size(NARROWEST)
    assert page.evaluate(SIDEWAYS) == []


def test_nothing_moves_for_whom_asked_for_no_motion(stage, studio):
    still = stage.tab("ana", studio.thread_path, reduced_motion="reduce")
    moving = stage.tab("ana", studio.thread_path, reduced_motion="no-preference")
    still.says("hold on")
    for tab in (still, moving):
        expect(tab.running).to_be_visible()
    assert moving.page.evaluate("document.getAnimations().length") > 0
    assert still.page.evaluate("document.getAnimations().length") == 0
    still.button("Stop").click()
    still.comes_to_rest()
