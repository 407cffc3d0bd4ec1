"""Consent as people see it: exactly what would be done, who is asked and why, how long it stands, how it ended."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_accessibility import NARROW, NARROWEST, SIDEWAYS, WIDE
from tests.support.outside import Outside
from tests.support.site import Studio
from tests.support.stage import Stage, Tab, until

EVERYONE = ("ana", "ben", "vera")


def card(tab: Tab) -> Locator:
    return tab.log.locator(".ask")


def action_of(tab: Tab) -> str:
    """Return the id of the action whose card is shown."""
    return (card(tab).get_attribute("id") or "").removeprefix("a-")


def offered(scene: Stage, outside: Outside, text: str = "move us", party: int = 4) -> tuple[Studio, Tab]:
    """Have Ana book a table in a thread of its own, and the restaurant then offer another; return Ana's window."""
    studio = outside.thread("Dinner")
    ana = scene.tab("ana", studio.thread_path)
    ana.says("book a table for 2")
    expect(ana.replies).to_have_count(1)
    outside.offers(outside.last_reservation(), text, party)
    expect(card(ana)).to_be_visible()
    ana.comes_to_rest()
    return studio, ana


def test_what_a_webhook_asks_for_is_done_once_its_owner_approves_it_and_not_before(
    scene: Stage, outside: Outside
) -> None:
    booked, texted = len(outside.deeds("reserve")), len(outside.deeds("text"))
    studio, ana = offered(scene, outside)
    ben, vera = (scene.tab(who, studio.thread_path) for who in ("ben", "vera"))
    expect(card(ana).get_by_role("heading")).to_have_text("Robin asks you to approve 2 steps")
    expect(card(ana).locator(".arg")).to_have_text(["4", "Fri 4 June 2027", "20:30", "We moved to 20:30."])
    expect(card(ana).locator(".ask__why")).to_have_text(
        "Asked after an event from restaurant. You are asked because what it is about was done for you."
    )
    expect(card(ana).get_by_role("button")).to_have_text(["Decline…", "Approve both steps"])
    for other in (ben, vera):
        expect(card(other).get_by_role("heading")).to_have_text("Robin asks Ana to approve 2 steps")
        expect(card(other)).to_contain_text("Only Ana can answer A1, before")
        expect(card(other).get_by_role("button")).to_have_count(0)
    expect(ana.log.locator(".call--pending .call__out")).to_have_text(["waits for A1"] * 2)
    assert "Only Ana may approve" in ben.tries(studio.thread, "action_approve", action=action_of(ana))

    ana.says("yes")
    expect(ana.replies).to_have_count(3)
    expect(card(ana).get_by_role("button")).to_have_count(2)
    assert (len(outside.deeds("reserve")), len(outside.deeds("text"))) == (booked + 1, texted)

    ana.button("Approve both steps").dblclick()
    for tab in (ana, ben, vera):
        expect(card(tab).locator(".tag")).to_have_text("approved")
        expect(card(tab).locator(".came > .row")).to_have_text(["done", "done"])
        expect(tab.rail("for Ana").last).to_contain_text("runs A1")
    expect(ana.log).to_contain_text("You approved at")
    expect(ben.log).to_contain_text("Ana approved at")
    assert (len(outside.deeds("reserve")), len(outside.deeds("text"))) == (booked + 2, texted + 1)
    expect(card(ana).get_by_role("button")).to_have_text(["What came back"] * 2)
    expect(card(vera).get_by_role("button")).to_have_count(0)


def test_the_focus_goes_to_what_came_of_it_and_no_letter_approves(scene: Stage, outside: Outside) -> None:
    _, ana = offered(scene, outside)
    action = action_of(ana)
    card(ana).focus()
    for key in ("a", "y", "Enter", "o"):
        ana.page.keyboard.press(key)
    expect(ana.button("Approve both steps")).to_be_visible()
    ana.button("Approve both steps").focus()
    ana.page.keyboard.press("Enter")
    expect(card(ana).locator(".tag")).to_have_text("approved")
    until(lambda: ana.focused() == f"ar-{action}", "the focus goes to the result")


def test_a_card_that_has_just_appeared_takes_no_click(scene: Stage, outside: Outside) -> None:
    studio, ana = offered(scene, outside)
    acts = card(ana).locator(".guard")
    assert acts.evaluate("node => getComputedStyle(node).animationName") == "guard"
    assert acts.evaluate("node => getComputedStyle(node).animationDuration") == "0.5s"
    still = scene.tab("ana", studio.thread_path, reduced_motion="reduce")
    acts = card(still).locator(".guard")
    assert acts.evaluate("node => getComputedStyle(node).animationName") == "guard"


def test_it_is_declined_with_a_reason_that_everyone_reads(scene: Stage, outside: Outside) -> None:
    studio, ana = offered(scene, outside)
    ben = scene.tab("ben", studio.thread_path)
    texted = len(outside.deeds("text"))
    ana.button("Decline…").click()
    assert ana.focused() == f"ad-{action_of(ana)}"
    ana.button("Cancel").click()
    expect(ana.button("Approve both steps")).to_be_visible()
    ana.button("Decline…").click()
    ana.page.keyboard.type("Too late for us.")
    ana.button("Decline A1").click()
    expect(card(ana).get_by_role("heading")).to_have_text("You declined")
    expect(card(ben).get_by_role("heading")).to_have_text("Ana declined")
    for tab in (ana, ben):
        expect(card(tab)).to_contain_text("“Too late for us.” Nothing was done.")
        expect(card(tab).locator(".tag")).to_have_text("declined")
        expect(tab.log.locator("li.call--refused")).to_have_count(2)
    assert len(outside.deeds("text")) == texted


def test_the_last_minute_looks_it_and_at_its_end_the_card_says_that_it_expired(scene: Stage, outside: Outside) -> None:
    studio, ana = offered(scene, outside)
    clock = card(ana).get_by_role("timer")
    expect(clock).to_have_accessible_name("Time left for A1")
    expect(clock).not_to_have_class("clock--late")
    outside.actions_stand(20)
    ana.page.reload()
    vera = scene.tab("vera", studio.thread_path)
    expect(clock).to_have_class("clock clock--late")
    expect(ana.page.locator("#left")).to_have_text("1 minute left for A1.")
    expect(vera.page.locator("#left")).to_have_text("")
    for tab in (ana, vera):
        expect(card(tab).get_by_role("heading")).to_have_text("Nobody answered in time")
        expect(card(tab).locator(".tag")).to_have_text("expired")
        expect(card(tab)).to_contain_text("Nothing was done.")
        expect(card(tab).get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize("year", [2020, 2031])
def test_the_time_left_is_drawn_from_the_servers_clock(scene: Stage, outside: Outside, year: int) -> None:
    studio, _ = offered(scene, outside)
    outside.actions_stand(200)
    wrong = scene.window("ana", "/account/")
    wrong.clock.install(time=f"{year}-01-01T00:00:00Z")
    wrong.goto(studio.thread_path)
    expect(wrong.locator("#left")).to_have_text("5 minutes left for A1.")
    expect(wrong.locator(".ask .clock")).to_have_class("clock")


def test_hidden_characters_and_long_values_are_shown_before_anything_is_approved(
    scene: Stage, outside: Outside
) -> None:
    _, ana = offered(scene, outside, "tell them all")
    expect(card(ana).locator(".arg")).to_contain_text("eight ⟨U+202E⟩eht ta⟨U+202C⟩ the same place")
    expect(card(ana).locator(".arg")).to_contain_text("characters)")
    expect(card(ana)).not_to_contain_text("nailed down")
    ana.button("Show all of text").click()
    expect(card(ana).locator("pre")).to_contain_text("⟨U+202E⟩")
    expect(card(ana).locator("pre")).to_contain_text("nailed down. Until then.")
    ana.button("Show less of text").click()
    expect(card(ana).locator("pre")).to_have_count(0)


def test_a_line_stands_over_the_log_while_the_card_is_out_of_sight_and_leads_to_it(
    scene: Stage, outside: Outside
) -> None:
    studio, ana = offered(scene, outside)
    ana.page.set_viewport_size({"width": 1280, "height": 560})
    expect(ana.page.locator(".pin")).to_have_count(0)
    ana.page.locator("#log").evaluate("log => { log.scrollTop = 0; }")
    expect(ana.page.locator(".pin")).to_contain_text("A1Waits for you: reserve table, then text group")
    ben = scene.tab("ben", studio.thread_path)
    ben.page.locator("#log").evaluate("log => { log.scrollTop = 0; }")
    ana.page.locator(".pin").get_by_role("link", name="Show").click()
    expect(ana.page.locator(".pin")).to_have_count(0)
    assert ana.focused() == f"a-{action_of(ana)}"
    expect(ben.page.locator(".pin")).to_have_count(0)


def test_on_a_small_screen_the_line_leads_from_the_document_to_the_card(scene: Stage, outside: Outside) -> None:
    _, ana = offered(scene, outside)
    ana.page.set_viewport_size(NARROW)
    ana.button("Document").click()
    expect(card(ana)).to_be_hidden()
    ana.page.locator(".pin").get_by_role("link", name="Show").click()
    expect(card(ana)).to_be_in_viewport()
    assert ana.focused() == f"a-{action_of(ana)}"


def test_the_letters_lead_past_a_card_to_what_comes_after_it(scene: Stage, outside: Outside) -> None:
    _, ana = offered(scene, outside)
    ana.says("yes")
    expect(ana.replies).to_have_count(3)
    where = "() => [...document.querySelectorAll('[data-stop]')].indexOf(document.activeElement)"
    stops = ana.page.locator("[data-stop]").count()
    ana.page.locator("#log").focus()
    for letter, way in (("j", range(stops)), ("k", reversed(range(stops - 1)))):
        for stop in way:
            ana.page.keyboard.press(letter)
            assert ana.page.evaluate(where) == stop


def test_it_waits_in_the_inbox_and_is_approved_there_once(scene: Stage, outside: Outside) -> None:
    studio, ana = offered(scene, outside)
    inbox = scene.window("ana", "/inbox/")
    texted = len(outside.deeds("text"))
    row = inbox.locator("section", has=inbox.get_by_role("heading", name="To approve")).locator("li").filter(
        has=inbox.locator(f'a[href^="{studio.thread_path}"]')
    )  # fmt: skip
    expect(row).to_contain_text("A1 (from restaurant): Book a table for 4 on Fri 4 June 2027 at 20:30; then text group")
    expect(row).to_contain_text("Only you can approve or decline A1.")
    inbox.set_viewport_size(NARROW)
    assert row.locator(".item__top > a").evaluate("link => link.scrollHeight - link.clientHeight") == 0
    row.get_by_role("button", name="Approve both steps").click()
    expect(inbox.locator("#inbox > [role]")).to_contain_text("Approved. It runs in a new turn for you.")
    expect(row).to_have_count(0)
    expect(card(ana).locator(".tag")).to_have_text("approved")
    until(lambda: len(outside.deeds("text")) == texted + 1, "the group is told once")


def test_what_the_inbox_cannot_show_whole_is_not_approved_there(scene: Stage, outside: Outside) -> None:
    studio, _ = offered(scene, outside, "tell them all")
    inbox = scene.window("ana", "/inbox/")
    row = inbox.locator("li.item").filter(has=inbox.locator(f'a[href^="{studio.thread_path}"]'))
    expect(row).to_contain_text("Only you can approve or decline A1.")
    expect(row.get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize("state", ["open", "declining", "approved"])
def test_an_accessibility_checker_finds_nothing_in_a_card_and_nothing_scrolls_sideways(
    scene: Stage, outside: Outside, state: str
) -> None:
    _, ana = offered(scene, outside, "tell them all")
    page: Page = ana.page
    page.emulate_media(reduced_motion="reduce")
    ana.button("Show all of text").click()
    if state == "declining":
        ana.button("Decline…").click()
    if state == "approved":
        ana.button("Approve").click()
        ana.button("What came back").click()
        ana.comes_to_rest()
    found = []
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            result = Axe().run(page)
            if result.violations_count:
                found.append(f"{size['width']} px, {scheme}: {result.generate_report()}")
    assert not found, "\n".join(found)
    page.set_viewport_size(NARROWEST)
    assert page.evaluate(SIDEWAYS) == []
