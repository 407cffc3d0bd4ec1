"""The inbox lives: what waits rises and falls in every open page, and what one does there is done for everyone."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.support.site import Site, Studio
from tests.support.stage import Stage


def waits(page: Page, many: int, name: str) -> None:
    """Wait until a page says in its title, and beside "Inbox", how much waits."""
    expect(page).to_have_title(f"({many}) {name} · Accord" if many else f"{name} · Accord")
    beside = page.locator(".side [data-inbox] .count--accent")
    if many:
        expect(beside).to_have_text(f"{many} waiting for you")
    else:
        expect(beside).to_have_count(0)


@pytest.fixture
def suggested(stage: Stage, studio: Studio) -> None:
    """Robin only suggests in the studio's thread."""
    tab = stage.tab("ana", studio.thread_path)
    tab.lets_robin_only_suggest()
    tab.page.close()


def settled_before(site: Site, *people: str) -> None:
    """Let nothing wait for these people from a test before."""
    for who in people:
        while found := re.search(r'name="proposal" value="([^"]+)"', site.page(who, "/inbox/")):
            site.post(who, "/inbox/", act="reject", proposal=found[1], command=str(uuid4()))


def test_counts_rise_and_fall_in_every_open_page_and_the_inbox_empties(
    stage: Stage, studio: Studio, suggested: None, site: Site
) -> None:
    settled_before(site, "ana", "ben")
    ana, ben = stage.tab("ana", studio.thread_path), stage.tab("ben", studio.thread_path)
    inbox, people = stage.window("ana", "/inbox/"), stage.window("ben", studio.people_path)
    expect(inbox.locator("#inbox")).to_contain_text("Nothing waits for you")

    ana.says("quickly add a lamp")
    for page, name in ((ana.page, "Launch dinner"), (ben.page, "Launch dinner"), (inbox, "Inbox")):
        waits(page, 1, name)
    waits(people, 1, "People, Studio launch")
    thread = ben.page.locator(f'.side [data-waits="{studio.thread}"] .count--accent')
    expect(thread).to_have_text("1 waiting for you")
    expect(inbox.locator(".item")).to_contain_text("You can accept: Robin proposed it for you.")

    ben.page.locator(".prop").get_by_role("button", name="Accept", exact=True).click()
    for page, name in ((ana.page, "Launch dinner"), (ben.page, "Launch dinner"), (inbox, "Inbox")):
        waits(page, 0, name)
    expect(thread).to_have_count(0)
    expect(inbox.locator(".item")).to_have_count(0)
    expect(inbox.locator("#inbox")).to_contain_text("Nothing waits for you")


def test_one_accepts_and_rejects_in_the_inbox_and_the_focus_goes_to_what_came_of_it(
    stage: Stage, studio: Studio, suggested: None, site: Site
) -> None:
    settled_before(site, "ana", "ben")
    ana, inbox = stage.tab("ana", studio.thread_path), stage.window("ben", "/inbox/")
    for what in ("a lamp", "a rug"):
        ana.says(f"quickly add {what}")
        ana.comes_to_rest()
    expect(inbox.locator(".item")).to_have_count(2)
    inbox.get_by_role("button", name="Accept").first.click()
    said = inbox.locator("#inbox > [role='status']")
    expect(said).to_contain_text("Accepted. Launch plan is at version 3.")
    expect(said).to_be_focused()
    waits(inbox, 1, "Inbox")
    expect(inbox.locator(".item")).to_have_count(1)
    ana.says("quickly add a chair")
    waits(inbox, 2, "Inbox")
    expect(inbox.locator(".item")).to_have_count(2)
    expect(said).to_be_focused()
    ana.log.get_by_role("button", name="Withdraw").last.click()
    expect(inbox.locator(".item")).to_have_count(1)

    inbox.locator("summary").click()
    inbox.get_by_label("Why? The proposer reads it.").fill("We have lamps.")
    inbox.keyboard.press("Enter")
    expect(said).to_contain_text("Rejected. Nothing was changed.")
    expect(inbox.locator(".item")).to_have_count(0)
    expect(ana.log.locator(".prop--closed")).to_have_count(3)
    expect(ana.log).to_contain_text("“We have lamps.”")


def test_what_one_writes_stays_while_more_comes_in(stage: Stage, studio: Studio, suggested: None, site: Site) -> None:
    settled_before(site, "ana", "ben")
    ana, inbox = stage.tab("ana", studio.thread_path), stage.window("ben", "/inbox/")
    ana.says("quickly add a lamp")
    expect(inbox.locator(".item")).to_have_count(1)
    inbox.locator("summary").click()
    why = inbox.get_by_label("Why? The proposer reads it.").first
    why.fill("We have")
    ana.says("quickly add a rug")
    expect(inbox.locator(".item")).to_have_count(2)
    written = inbox.locator("details[open] input[name='reason']")
    expect(written).to_have_value("We have")
    expect(written).to_be_focused()


def test_g_then_i_goes_to_the_inbox_and_j_and_enter_to_a_card(
    stage: Stage, studio: Studio, suggested: None, site: Site
) -> None:
    settled_before(site, "ana", "ben")
    tab = stage.tab("ana", studio.thread_path)
    tab.says("quickly add a lamp")
    waits(tab.page, 1, "Launch dinner")
    tab.page.locator("#log").focus()
    for key in ("g", "i"):
        tab.page.keyboard.press(key)
    expect(tab.page).to_have_url(re.compile("/inbox/$"))
    tab.page.wait_for_load_state()
    tab.page.keyboard.press("j")
    expect(tab.page.locator(".item a[data-stop]")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(tab.page).to_have_url(re.compile(rf"{studio.thread_path}#p-"))
    expect(tab.page.locator(".prop")).to_be_in_viewport()


def test_what_does_not_reach_the_server_is_said_and_can_be_pressed_again(
    stage: Stage, studio: Studio, suggested: None, site: Site
) -> None:
    settled_before(site, "ana", "ben")
    ana, inbox = stage.tab("ana", studio.thread_path), stage.window("ben", "/inbox/")
    ana.says("quickly add a lamp")
    accept = inbox.get_by_role("button", name="Accept Change Launch plan: adds “a lamp”")
    expect(accept).to_be_visible()
    inbox.context.set_offline(True)
    accept.click()
    expect(inbox.get_by_role("alert")).to_have_text(
        "The server can’t be reached. Press it again later; it is done once."
    )
    expect(inbox.get_by_role("alert")).to_be_focused()
    inbox.context.set_offline(False)
    accept.click()
    expect(inbox.get_by_role("status")).to_contain_text("Accepted.")
