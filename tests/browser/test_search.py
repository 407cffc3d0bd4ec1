"""Searching by keyboard: from anywhere to a result, and to the message it names, in sight."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.support.stage import PATIENCE, Tab

IN_SIGHT = """(node) => {
  const [box, log] = [node.getBoundingClientRect(), document.getElementById("log").getBoundingClientRect()];
  return box.top >= log.top - 1 && box.top < log.bottom;
}"""


def comments(tab: Tab, text: str) -> None:
    tab.page.get_by_text("Comment", exact=True).click()
    tab.writes(text)


def in_sight(message: Locator) -> None:
    expect(message).to_be_visible()
    message.page.wait_for_function(
        f"(node) => ({IN_SIGHT})(node)", arg=message.element_handle(), timeout=PATIENCE * 1000
    )


def test_what_no_name_has_is_searched_for_and_leads_to_the_message(stage, studio):
    tab = stage.tab("ana", studio.thread_path)
    comments(tab, "the candelabra is lit")
    comments(tab, "\n\n".join(f"line {number}" for number in range(120)))
    expect(tab.log).to_contain_text("line 119")

    page, keys = tab.page, tab.page.keyboard
    keys.press("Control+k")
    expect(page.get_by_role("dialog", name="Go to")).to_be_visible()
    keys.type("Launch")
    expect(page.get_by_role("dialog").get_by_role("link").last).to_have_text("Search for “Launch”")
    keys.press("Control+a")
    keys.type("candelabra & <b>")
    expect(page.get_by_role("dialog").get_by_role("link")).to_have_text(["Search for “candelabra & <b>”"])
    for _ in " & <b>":
        keys.press("Backspace")
    keys.press("Enter")

    expect(page.get_by_role("heading", name="Search", level=1)).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search for")).to_have_value("candelabra")
    found = page.get_by_role("region", name="Messages").get_by_role("link")
    expect(found).to_contain_text("the candelabra is lit")
    expect(found.locator("mark")).to_have_text("candelabra")
    keys.press("j")
    expect(found).to_be_focused()
    keys.press("Enter")
    in_sight(page.locator(".msg", has_text="the candelabra is lit"))


def test_the_form_works_without_scripts(stage, studio):
    page = stage.window("vera", "/search/", java_script_enabled=False)
    page.get_by_role("searchbox", name="Search for").fill("launch")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("region", name="Documents")).to_contain_text("Launch plan")
    page.get_by_role("navigation", name="Kind of result").get_by_role("link", name="Threads").click()
    expect(page.get_by_role("region", name="Documents")).to_have_count(0)
    expect(page.get_by_role("region", name="Threads")).to_contain_text("Launch dinner")
