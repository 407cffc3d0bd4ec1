"""A thread's timers: set in the reader's own time zone, listed with their next moment, cancelled by whose they are."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from tests.browser.test_accessibility import NARROW, NARROWEST, SIDEWAYS, WIDE
from tests.support.site import Studio
from tests.support.stage import Stage, Tab, until

KNOWS_NO_VIENNA = """
const Known = Intl.DateTimeFormat;
Intl.DateTimeFormat = function (locale, options) {
  if (options?.timeZone === "Europe/Vienna") throw new RangeError("unknown");
  return new Known(locale, options);
};
"""


def dialog(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog", name="Timers")


def field(tab: Tab, name: str) -> Locator:
    return dialog(tab).get_by_label(name, exact=True)


def opened(stage: Stage, who: str, studio: Studio, **options: str) -> Tab:
    """Open a thread and its timers."""
    tab = stage.tab(who, studio.thread_path, **options)
    tab.page.locator("[data-dialog='timers']").click()
    expect(dialog(tab)).to_be_visible()
    return tab


def sets(tab: Tab, text: str, at: str = "2027-06-12T20:30", **more: str) -> None:
    """Fill in the form and send it; it may be refused."""
    if dialog(tab).get_by_role("button", name="Set a timer…").is_visible():
        dialog(tab).get_by_role("button", name="Set a timer…").click()
    field(tab, "What it says").fill(text)
    field(tab, "When").fill(at)
    for name, value in more.items():
        field(tab, {"zone": "Time zone", "about": "About (may stay empty)"}[name]).fill(value)
    dialog(tab).get_by_role("button", name="Set the timer").click()


def test_a_timer_is_set_in_the_readers_time_zone_and_shown_to_everyone_in_its_own(stage: Stage, studio: Studio) -> None:
    vera = opened(stage, "vera", studio, timezone_id="America/New_York")
    expect(dialog(vera)).to_contain_text("No timer waits")
    ana = opened(stage, "ana", studio, timezone_id="Europe/Vienna")
    dialog(ana).get_by_role("button", name="Set a timer…").click()
    expect(field(ana, "Time zone")).to_have_value("Europe/Vienna")
    field(ana, "Again").select_option("weekly")
    sets(ana, "Call the hall.")
    expect(dialog(ana).locator("[data-said]")).to_have_text("Timer 1 is set.")
    until(lambda: "Timer 1 is set." in ana.page.evaluate("document.activeElement.textContent"), "the focus says it")
    for tab, whose in ((ana, "yours"), (vera, "Ana’s")):
        expect(dialog(tab).locator("li.timer")).to_have_count(1)
        expect(dialog(tab).locator(".timer__when")).to_have_text("Sat 12 June 2027, 20:30, every week Europe/Vienna")
        expect(dialog(tab).locator("li.timer")).to_contain_text(f"Timer 1, {whose}. It tells the people here.")
        expect(tab.page.locator("[data-dialog='timers']")).to_have_attribute("aria-label", "Timers (1)")


def test_what_cannot_be_set_is_said_beside_its_field_and_what_was_written_stays(stage: Stage, studio: Studio) -> None:
    ana = opened(stage, "ana", studio)
    for text, at, zone, note, says in (
        ("", "2027-06-12T20:30", "UTC", "text", "Write what it says."),
        ("Call.", "", "UTC", "at", "Choose a day and a time."),
        ("Call.", "2020-06-12T20:30", "UTC", "at", "2020-06-12 20:30 (UTC) has passed."),
        ("Call.", "2035-06-12T20:30", "UTC", "at", "A timer is set at most five years ahead."),
        ("Call.", "2027-06-12T20:30", "Mars/Base", "zone", "There is no time zone called 'Mars/Base'."),
    ):
        sets(ana, text, at, zone=zone)
        expect(dialog(ana).locator(f"[data-note='{note}']")).to_have_text(says)
        expect(dialog(ana).locator("[data-note]:visible")).to_have_count(1)
        expect(dialog(ana).locator("[aria-invalid]")).to_have_attribute("name", note)
        expect(field(ana, "What it says")).to_have_value(text)
    expect(dialog(ana).locator("li.timer")).to_have_count(0)


def test_its_person_and_who_manages_cancel_it_after_being_asked(stage: Stage, studio: Studio) -> None:
    ben, ana = opened(stage, "ben", studio), opened(stage, "ana", studio)
    sets(ben, "Ask about the lamp.")
    sets(ana, "Call the hall.")
    expect(dialog(ben).locator("li.timer")).to_have_count(2)
    expect(dialog(ben).get_by_role("button", name="Cancel… timer")).to_have_count(1)
    expect(dialog(ana).get_by_role("button", name="Cancel… timer")).to_have_count(2)
    dialog(ben).get_by_role("button", name="Cancel… timer 1").click()
    expect(dialog(ben)).to_contain_text("It will not fire.")
    dialog(ben).get_by_role("button", name="Keep it").click()
    expect(dialog(ben).locator("li.timer")).to_have_count(2)
    dialog(ana).get_by_role("button", name="Cancel… timer 1").click()
    dialog(ana).get_by_role("button", name="Cancel timer 1").click()
    expect(dialog(ana).locator("[data-said]")).to_have_text("Timer 1 is cancelled.")
    for tab in (ana, ben):
        expect(dialog(tab).locator("li.timer")).to_have_count(1)
        expect(dialog(tab).locator("li.timer")).to_contain_text("Call the hall.")


def test_a_time_zone_that_a_browser_does_not_know_is_told_in_the_readers_time(stage: Stage, studio: Studio) -> None:
    ana = opened(stage, "ana", studio, timezone_id="UTC")
    sets(ana, "Call the hall.", zone="Europe/Vienna")
    expect(dialog(ana).locator("li.timer")).to_have_count(1)
    ana.page.add_init_script(KNOWS_NO_VIENNA)
    ana.page.reload()
    ana.page.locator("[data-dialog='timers']").click()
    expect(dialog(ana).locator(".timer__when")).to_have_text("Sat 12 June 2027, 18:30 your time Europe/Vienna")


def test_a_press_that_begins_in_a_field_and_ends_beside_the_dialog_does_not_close_it(
    stage: Stage, studio: Studio
) -> None:
    ana = opened(stage, "ana", studio)
    dialog(ana).get_by_role("button", name="Set a timer…").click()
    field(ana, "What it says").fill("Call the hall.")
    field(ana, "What it says").hover()
    ana.page.mouse.down()
    ana.page.mouse.move(4, 4)
    ana.page.mouse.up()
    expect(field(ana, "What it says")).to_have_value("Call the hall.")
    expect(dialog(ana)).to_be_visible()
    ana.page.mouse.click(4, 4)
    expect(dialog(ana)).to_be_hidden()


def test_who_may_only_read_sets_none_and_the_server_says_so_too(stage: Stage, studio: Studio) -> None:
    vera = opened(stage, "vera", studio)
    expect(dialog(vera).get_by_role("button", name="Set a timer…")).to_be_hidden()
    because = vera.tries(studio.thread, "timer_set", text="Mine.", at="2027-06-12T20:30")
    assert "Vera may only view" in because


def test_a_timer_that_fires_tells_people_and_one_that_asks_starts_a_turn_for_no_one(
    stage: Stage, studio: Studio
) -> None:
    ana = opened(stage, "ana", studio, timezone_id="UTC")
    now = ana.page.evaluate("new Date().toISOString().slice(0, 16)")
    sets(ana, "Half an hour left. <b>Hurry</b>", now)
    expect(dialog(ana).locator("[data-said]")).to_have_text("Timer 1 is set.")
    dialog(ana).get_by_role("button", name="Set a timer…").click()
    dialog(ana).get_by_role("radio", name="Ask Robin").check()
    sets(ana, "order the flowers", now)
    dialog(ana).get_by_role("button", name="Close").click()
    expect(ana.log.locator(".notice")).to_contain_text("Half an hour left. <b>Hurry</b>")
    expect(ana.log.locator(".notice")).to_contain_text("Notice from a timer that Ana set, own clock. For people only")
    expect(ana.log.locator(".datum")).to_contain_text("Event from a timer that Ana setown clock")
    expect(ana.log.locator(".datum")).to_contain_text("order the flowers")
    expect(ana.rail("for no one")).to_contain_text("The flowers are noted.")
    expect(ana.page.locator("[data-dialog='timers']")).to_have_attribute("aria-label", "Timers")


@pytest.mark.parametrize("state", ["empty", "list", "sure", "form", "refused"])
def test_an_accessibility_checker_finds_nothing_in_the_timers(stage: Stage, studio: Studio, state: str) -> None:
    ana = opened(stage, "ana", studio, reduced_motion="reduce")
    if state != "empty":
        sets(ana, "Call the hall about everything that we have not spoken of yet.", about="film F1")
        expect(dialog(ana).locator("li.timer")).to_have_count(1)
    if state == "sure":
        dialog(ana).get_by_role("button", name="Cancel… timer 1").click()
    if state in {"form", "refused"}:
        dialog(ana).get_by_role("button", name="Set a timer…").click()
    if state == "refused":
        sets(ana, "Call.", "2020-06-12T20:30")
        expect(dialog(ana).locator("[data-note='at']")).to_be_visible()
    found = []
    for size in (WIDE, NARROW):
        ana.page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            ana.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            result = Axe().run(ana.page)
            if result.violations_count:
                found.append(f"{size['width']} px, {scheme}: {result.generate_report()}")
    assert not found, "\n".join(found)
    ana.page.set_viewport_size(NARROWEST)
    assert ana.page.evaluate(SIDEWAYS) == []
