"""Proposals on the pages: accepted with edits, on a document that moves, several at once (DESIGN 11)."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.support.stage import Tab, until

LAMP = "quickly add a lamp"


def opens_the_editor(tab: Tab) -> None:
    """Open the form by keyboard alone."""
    tab.button("Edit and accept…").focus()
    tab.page.keyboard.press("Enter")
    until(lambda: tab.focused().startswith("pt-"), "the focus is in the text")


def test_ana_accepts_with_an_edit_and_everyone_sees_both_parts(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in ("ana", "ben", "vera"))
    ana.lets_robin_only_suggest()
    ana.says(LAMP)
    expect(vera.log.locator(".prop .may")).to_have_text("You can't accept: you may only view Launch plan.")
    expect(vera.log.locator(".prop").get_by_role("button")).to_have_count(0)

    opens_the_editor(ben)
    ben.page.get_by_label("Text, as it should become").fill("Ben wrote this.")
    opens_the_editor(ana)
    expect(ana.page.get_by_label("Text, as it should become")).to_have_value(re.compile("- a lamp"))
    ana.button("Cancel").press("Enter")
    expect(ana.button("Edit and accept…")).to_be_focused()

    opens_the_editor(ana)
    field = ana.page.get_by_label("Text, as it should become")
    ana.button("Accept with edits").click()
    expect(ana.log.locator(".refusal")).to_have_text("Your text is what was proposed: nothing was edited.")
    field.fill("# Launch plan\n\nDinner on Friday for 12.\n\nBudget: 900.\n- a small lamp\n")
    ana.button("Accept with edits").click()
    for tab, whom in ((ana, "you"), (ben, "Ana"), (vera, "Ana")):
        expect(tab.log.locator(".prop .tag--ok")).to_have_text("accepted")
        expect(tab.log.locator(".prop__foot")).to_contain_text(f"by {whom}, with edits")
        expect(tab.log.locator(".prop__edits")).to_contain_text(f"With edits by {whom}")
        expect(tab.log.locator(".prop__edits ins")).to_contain_text("small")
        expect(tab.pane.locator("#doc-now")).to_contain_text("a small lamp")
    until(lambda: ana.focused().startswith("pe-"), "the focus is on the result")
    expect(ana.log.locator(".refusal")).to_have_count(0)
    expect(ben.page.get_by_label("What you wrote; it was not used")).to_have_value("Ben wrote this.")
    ben.button("Close").click()
    fresh = stage.tab("ben", studio.thread_path)
    fresh.comes_to_rest()
    expect(fresh.log.locator(".prop__edits")).to_be_visible()
    assert fresh.log.inner_html() == ben.log.inner_html()


def test_a_card_says_when_its_document_moved_and_shows_both_texts_where_it_does_not_fit(stage, site, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.lets_robin_only_suggest()
    ana.says(LAMP)
    opens_the_editor(ben)
    site.post("ana", f"/documents/{studio.document}/save/", text="Dinner on Sunday.\n", base_version="2")
    for tab in (ana, ben):
        expect(tab.log.locator(".prop__moved")).to_contain_text("Launch plan is at version 3. It still fits.")

    ben.page.get_by_label("Text, as it should become").fill("All mine.\n")
    ben.button("Accept with edits").click()
    expect(ben.log.locator(".refusal")).to_contain_text("Launch plan changed since version 2")
    expect(ben.page.get_by_label("What it would become by now")).to_have_value("Dinner on Sunday.\n- a lamp\n")
    expect(ben.page.get_by_label("Text, as it should become")).to_have_value("All mine.\n")
    ben.button("Accept over version 3").click()
    for tab in (ana, ben):
        expect(tab.log.locator(".prop .tag--ok")).to_have_text("accepted")
        expect(tab.pane.locator("#doc-now")).to_contain_text("All mine.")


def test_several_are_accepted_at_once_and_what_was_not_says_why(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in ("ana", "ben", "vera"))
    ana.lets_robin_only_suggest()
    for number, text in enumerate(("quickly add a lamp", "quickly add a chair"), start=1):
        ana.says(text)
        expect(ana.log.locator(".prop")).to_have_count(number)
        ana.comes_to_rest()
    whole = {"document": studio.document, "text": "All new.", "base_version": 2, "propose": True}
    assert ben.tries(studio.thread, "document_save", **whole) == ""
    expect(ana.log.locator(".prop")).to_have_count(3)
    expect(vera.button("Accept all 3…")).to_have_count(0)

    ana.button("Accept all 3…").click()
    expect(ana.log.locator(".all__form li")).to_have_text(
        ["Change Launch plan: adds “a lamp”", "Change Launch plan: adds “a chair”", "Change Launch plan"]
    )
    ana.button("Cancel").click()
    expect(ana.button("Accept all 3…")).to_be_focused()
    ana.button("Accept all 3…").click()
    ana.button("Accept all 3").click()
    told = ana.log.get_by_role("status")
    expect(told).to_contain_text("2 of 3 were accepted. Not accepted: Change Launch plan. The document changed since")
    expect(told).to_be_focused()
    beside = ana.page.locator(f".side [data-open-document='{studio.document}'] .count")
    expect(beside).to_have_text("1 open proposal")
    for tab in (ana, vera):
        expect(tab.log.locator(".prop .tag--ok")).to_have_count(2)
        expect(tab.log.locator(".prop__moved")).to_contain_text("It does not fit any more.")
        expect(tab.pane.locator("#doc-now")).to_contain_text("a chair")
    ana.says("say what came next")
    expect(ana.replies.last).to_contain_text("what came next")
    expect(told).to_have_count(0)
