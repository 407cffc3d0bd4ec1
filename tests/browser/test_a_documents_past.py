"""A document's versions: who changed what, compared, brought back; suggesting, and who may only suggest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.stage import Tab

PLAN = "# Launch plan\n\nDinner on {day} for 12.\n\nBudget: 900.\n"


def saves(tab: Tab, text: str, button: str = "Save", why: str = "") -> None:
    """Write a document's whole text in its pane."""
    tab.button("Edit").click()
    tab.pane.get_by_role("textbox", name="Launch plan").fill(text)
    if why:
        tab.pane.get_by_label("Reason for a suggestion").fill(why)
    tab.button(button).click()
    expect(tab.pane.locator("form[data-form='save']")).to_be_hidden()


def test_two_versions_are_compared_and_one_is_brought_back_in_every_open_pane(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in ("ana", "ben", "vera"))
    saves(ana, PLAN.format(day="Saturday"))
    expect(ben.pane.locator("#doc-now")).to_contain_text("Dinner on Saturday")
    saves(ben, PLAN.format(day="Sunday"))

    vera.pane.get_by_role("tab", name="History").click()
    rows = vera.pane.locator("li.rev")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("Ben")
    expect(rows.first).to_contain_text("removed: Saturday")
    rows.first.get_by_role("link", name="Compare").click()
    vera.pane.get_by_role("spinbutton", name="From version").fill("2")
    vera.pane.get_by_role("button", name="Compare", exact=True).click()
    expect(vera.pane.get_by_role("group", name="From version 2 to version 4")).to_contain_text("removed: Friday")
    vera.pane.get_by_role("button", name="History").click()
    expect(rows.first).to_be_visible()
    rows.nth(2).get_by_role("link", name="View").click()
    expect(vera.pane.locator(".doc__part")).to_contain_text("Dinner on Friday")
    expect(vera.pane.get_by_text("Restore…")).to_have_count(0)

    ana.pane.get_by_role("tab", name="History").click()
    ana.pane.locator("li.rev").nth(2).get_by_role("link", name="View").click()
    ana.pane.get_by_text("Restore…").click()
    expect(ana.pane.locator(".sure__in").last).to_contain_text("Every version between stays in the history.")
    ana.button("Restore version 2").click()
    for tab in (ana, ben):
        expect(tab.pane.locator("#doc-now")).to_contain_text("Dinner on Friday")
    expect(vera.pane.locator(".head__sub")).to_contain_text("Version 5")
    expect(vera.pane.locator(".doc__part")).to_contain_text("Dinner on Friday")


def test_who_may_change_a_document_may_suggest_instead_and_says_why(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    saves(ben, PLAN.format(day="Saturday"), "Suggest", "Friday is booked.")
    expect(ben.pane.locator("#doc-now")).to_contain_text("Dinner on Friday")
    expect(ana.log.locator(".prop")).to_contain_text("Friday is booked.")
    expect(ana.log.locator(".prop .may")).to_have_text("You can accept: Ben proposed it.")
    ana.button("Accept").click()
    for tab in (ana, ben):
        expect(tab.pane.locator("#doc-now")).to_contain_text("Dinner on Saturday")
    ben.pane.get_by_role("tab", name="History").click()
    expect(ben.pane.locator("li.rev").first).to_contain_text("Proposed by Ben, accepted by Ana")


def test_who_else_writes_in_a_document_is_seen_while_they_do(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in ("ana", "ben", "vera"))
    expect(vera.line).to_be_empty()
    ana.button("Edit").click()
    for tab in (ben, vera):
        expect(tab.pane.locator("[data-live]")).to_have_text("AAna is editing")
    ben.button("Edit").click()
    expect(vera.pane.locator("[data-live]")).to_have_text("ABAna and Ben are editing")
    expect(ana.pane.locator("[data-live]")).to_have_text("BBen is editing")
    ana.button("Cancel").click()
    expect(vera.pane.locator("[data-live]")).to_have_text("BBen is editing")


def test_the_owner_lets_agents_only_suggest_and_archives_only_when_sure(stage, site, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.pane.get_by_label("Document menu").click()
    ana.button("Let agents only suggest").click()
    for tab in (ana, ben):
        expect(tab.pane.get_by_text("Robin only suggests here")).to_be_visible()
    assert site.events(studio, "policy_changed") == 1
    ana.says("quickly add a lamp")
    expect(ana.log.locator(".prop .diff")).to_contain_text("a lamp")
    ana.comes_to_rest()

    ben.pane.get_by_label("Document menu").click()
    expect(ben.button("Let agents change it")).to_have_count(0)
    ben.page.keyboard.press("Escape")
    expect(ben.pane.locator(".menu__in")).to_be_hidden()
    expect(ben.pane.get_by_label("Document menu")).to_be_focused()
    ben.page.keyboard.press("Enter")
    ben.pane.get_by_text("Archive…").click()
    ben.button("Archive for everyone").click()
    for tab in (ana, ben):
        expect(tab.pane.get_by_text("It is archived.")).to_be_visible()
        expect(tab.button("Edit")).to_have_count(0)
    ana.button("Bring it back").click()
    for tab in (ana, ben):
        expect(tab.button("Edit")).to_be_visible()


def test_a_documents_own_page_follows_what_others_do_and_keeps_what_one_writes(stage, studio):
    ana = stage.tab("ana", studio.thread_path)
    page = stage.window("ben", studio.document_path)
    saves(ana, PLAN.format(day="Saturday"))
    expect(page.locator("#doc-now")).to_contain_text("Dinner on Saturday")

    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Launch plan").fill("All mine.")
    saves(ana, PLAN.format(day="Sunday"))
    expect(page.get_by_text("It changed meanwhile.")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(
        "Launch plan changed since version 3 (it is at version 4, by Ana)"
    )
    expect(page.get_by_role("textbox", name="Launch plan")).to_have_value("All mine.")
    expect(page.get_by_label("The current text, version 4")).to_have_value(PLAN.format(day="Sunday"))
    page.get_by_role("button", name="Save over version 4").click()
    expect(page.locator("#doc-now")).to_contain_text("All mine.")
    expect(ana.pane.locator("#doc-now")).to_contain_text("All mine.")


def test_without_scripts_versions_are_compared_brought_back_and_downloaded(stage, studio, tmp_path: Path):
    ana = stage.tab("ana", studio.thread_path)
    saves(ana, PLAN.format(day="Saturday"))
    page = stage.window("ben", f"{studio.document_path}history/", java_script_enabled=False)
    page.locator("li.rev").first.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("group", name="From version 2 to version 3")).to_contain_text("Saturday")
    page.get_by_role("link", name="History").click()
    page.locator("li.rev").nth(1).get_by_role("link", name="View").click()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download version 2 as Markdown").click()
    downloading.value.save_as(tmp_path / "plan.md")
    assert downloading.value.suggested_filename == "Launch plan v2.md"
    assert (tmp_path / "plan.md").read_text() == PLAN.format(day="Friday")
    page.get_by_text("Restore…").click()
    page.get_by_role("button", name="Restore version 2").click()
    expect(page.get_by_text("Launch plan is at version 4.")).to_be_visible()
    expect(ana.pane.locator("#doc-now")).to_contain_text("Dinner on Friday")


def test_the_focus_stays_where_it_is_while_others_change_the_document(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ben.pane.get_by_role("tab", name="History").click()
    saves(ana, PLAN.format(day="Saturday"))
    expect(ben.pane.locator(".rev__v").first).to_have_text("v3")
    expect(ben.pane.get_by_role("tab", name="History")).to_be_focused()
    ben.pane.get_by_role("link", name="Compare").first.click()
    back = ben.pane.get_by_role("button", name="History", exact=True)
    expect(back).to_be_focused()
    saves(ana, PLAN.format(day="Sunday"))
    expect(ben.pane.locator(".head__sub")).to_contain_text("Version 4")
    expect(back).to_be_focused()


@pytest.mark.parametrize("by_itself", [True, False])
def test_what_was_called_off_is_gone_and_the_focus_is_back_on_edit(stage, studio, by_itself: bool):
    page = stage.window("ana", studio.document_path if by_itself else studio.thread_path)
    pane, text = page.locator("#pane"), page.locator("#doc-text")
    pane.get_by_role("button", name="Edit").click()
    text.click()
    text.fill("Not this.")
    expect(text).to_have_value("Not this.")
    pane.get_by_role("button", name="Cancel").click()
    expect(pane.get_by_role("button", name="Edit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(text).to_be_focused()
    expect(text).to_have_value(re.compile("Launch plan"))
