"""What people do to turns, messages, questions and proposals: only who may, in words said before, and once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.stage import Tab, until

EVERYONE = ("ana", "ben", "vera")


def test_a_question_is_answered_by_button_and_robin_then_works_for_who_answered(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in EVERYONE)
    ana.says("ask us")
    for tab in (ana, ben):
        expect(tab.button("On Friday")).to_be_visible()
        expect(tab.strip).to_contain_text("Robin waits for an answer. The next message is the answer.")
    expect(vera.log.locator(".quest")).to_contain_text("You can’t answer: you may only view Launch dinner.")
    expect(vera.log.get_by_role("button")).to_have_count(0)
    expect(ana.button("Dismiss")).to_be_visible()
    expect(ben.button("Dismiss")).to_have_count(0)

    ben.button("On Saturday").click()
    for tab in (ana, ben, vera):
        tab.comes_to_rest()
        expect(tab.rail("for Ben")).to_contain_text("Ben said: On Saturday.")
        expect(tab.rail("for Ben")).to_contain_text("T2, resumes T1")
        expect(tab.log.locator(".quest .choice--yes")).to_have_text("On Saturday")
        expect(tab.log.locator(".quest").get_by_role("button")).to_have_count(0)
    expect(ana.log.locator(".quest__head")).to_contain_text("answered by Ben")
    expect(ben.log.locator(".quest__head")).to_contain_text("answered by you")


def test_a_question_is_answered_by_the_next_message_and_dismissed_by_whom_it_was_for(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("ask us")
    expect(ben.button("On Friday")).to_be_visible()
    expect(ben.page.locator(".composer__hint")).to_have_text("Answers the question; Robin then works for you")
    ben.says("whenever it rains")
    ana.comes_to_rest()
    expect(ana.rail("for Ben")).to_contain_text("Ben said: whenever it rains.")

    ana.says("ask us")
    ana.button("Dismiss").click()
    for tab in (ana, ben):
        tab.comes_to_rest()
        expect(tab.log.locator(".quest").last).to_contain_text("nobody answered")


def test_what_robin_suggests_is_accepted_by_whom_the_sentence_says(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in EVERYONE)
    ana.lets_robin_only_suggest()
    ana.says("quickly add a lamp")
    sentences = {
        ana: "You can accept: Robin proposed it for you.",
        ben: "You can accept: Robin proposed it for Ana.",
        vera: "You can't accept: you may only view Launch plan.",
    }
    for tab, sentence in sentences.items():
        expect(tab.log.locator(".prop .may")).to_have_text(sentence)
        expect(tab.log.locator(".prop .diff")).to_contain_text("a lamp")
        expect(tab.pane.locator("#doc-now")).not_to_contain_text("a lamp")
    resolving = ["Reject…", "Edit and accept…", "Accept"]
    for tab, buttons in {ana: ["Withdraw", *resolving], ben: resolving, vera: []}.items():
        expect(tab.log.locator(".prop").get_by_role("button")).to_have_text(buttons)
    refused = vera.tries(studio.thread, "proposal_accept", proposal=proposal_in(vera))
    assert refused.lower() in sentences[vera].lower()

    ben.button("Accept").click()
    for tab in (ana, ben, vera):
        expect(tab.pane.locator("#doc-now")).to_contain_text("a lamp")
        expect(tab.log.locator(".prop .tag--ok")).to_have_text("accepted")
        expect(tab.log.locator(".prop").get_by_role("button")).to_have_count(0)
    expect(ana.log.locator(".prop__foot")).to_contain_text("by Ben")


def test_what_a_contributor_suggests_by_hand_someone_else_must_accept(stage, site, studio):
    site.set_role(studio, "Ben", "contributor")
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ben.button("Edit").click()
    ben.pane.get_by_role("textbox", name="Launch plan").fill("# Launch plan\n\nDinner on Saturday for 12.\n")
    ben.button("Suggest").dblclick()
    expect(ben.log.locator(".prop .may")).to_have_text("You proposed it: someone else must accept. Ana can.")
    expect(ben.log.locator(".prop").get_by_role("button")).to_have_text(["Withdraw"])
    expect(ana.log.locator(".prop .may")).to_have_text("You can accept: Ben proposed it.")
    refused = ben.tries(studio.thread, "proposal_accept", proposal=proposal_in(ben))
    assert refused == "You proposed it: someone else must accept."

    ana.button("Reject…").click()
    ana.page.get_by_role("textbox", name="Why? The proposer reads it.").fill("Friday is booked.")
    ana.button("Reject").click()
    for tab in (ana, ben):
        expect(tab.log.locator(".prop__foot")).to_contain_text("rejected")
        expect(tab.log.locator(".prop__foot")).to_contain_text("Friday is booked.")
        expect(tab.pane.locator("#doc-now")).to_contain_text("Dinner on Friday")


def test_a_turn_is_stopped_by_whom_it_is_for_who_may_ask_again(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in EVERYONE)
    ben.says("hold on")
    for tab in (ana, ben, vera):
        expect(tab.running).to_contain_text("I hold on until someone stops me.")
    expect(ana.button("Stop")).to_be_visible()
    expect(vera.button("Stop")).to_have_count(0)

    ben.button("Stop").click()
    for tab in (ana, ben, vera):
        tab.comes_to_rest()
        expect(tab.rail("for Ben")).to_contain_text("It was stopped.")
        expect(tab.rail("for Ben")).to_contain_text("interrupted")
    for tab in (ana, vera):
        expect(tab.button("Ask again")).to_have_count(0)

    ben.button("Ask again").click()
    for tab in (ana, ben, vera):
        expect(tab.running).to_contain_text("I hold on until someone stops me.")
        expect(tab.message("hold on")).to_have_count(2)
    ana.button("Stop").click()
    expect(ben.strip).to_be_hidden()


def test_only_its_author_cancels_a_waiting_message_and_no_turn_takes_it(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("hold on")
    expect(ben.running).to_be_visible()
    for text in ("a first thought", "a second thought"):
        ben.says(text)
    expect(ana.strip.locator("li.wait")).to_have_count(2)
    expect(ana.button("Cancel this message")).to_have_count(0)

    ben.waiting("a first thought").get_by_role("button").click()
    expect(ana.strip.locator("li.wait")).to_have_count(1)
    until(lambda: ben.focused() == "button", "the focus is on the next Cancel")
    ben.waiting("a second thought").get_by_role("button").click()
    expect(ana.strip.locator("li.wait")).to_have_count(0)
    until(lambda: ben.focused() == "say", "the focus is in the message box")

    ana.button("Stop").click()
    for tab in (ana, ben):
        tab.comes_to_rest()
        expect(tab.log.locator("article.msg")).to_have_count(1)
        expect(tab.rail("for Ben")).to_have_count(0)


def test_a_message_of_someone_who_may_not_start_a_turn_any_more_says_why_it_was_passed_over(stage, site, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("hold on")
    expect(ben.running).to_be_visible()
    ben.says("and rename it")
    expect(ana.waiting("and rename it")).to_have_count(1)
    site.set_role(studio, "Ben", "commenter")
    expect(ben.page.get_by_role("radio", name="Message")).to_be_disabled()

    ana.button("Stop").click()
    for tab in (ana, ben):
        tab.comes_to_rest()
        expect(tab.message("and rename it")).to_contain_text("passed over")
        expect(tab.message("and rename it")).to_contain_text("Ben may not start turns in Launch dinner")
        expect(tab.rail("for Ben")).to_have_count(0)


@pytest.mark.parametrize(
    ("says", "button", "event"),
    [
        ("ask us", "On Friday", "question_answered"),
        ("quickly add a lamp", "Accept", "proposal_resolved"),
    ],
)
def test_a_double_click_acts_once_and_says_nothing_was_refused(stage, site, studio, says, button, event):
    ana = stage.tab("ana", studio.thread_path)
    ana.lets_robin_only_suggest()
    ana.says(says)
    ana.button(button).dblclick()
    expect(ana.button(button)).to_have_count(0)
    ana.comes_to_rest()
    assert site.events(studio, event) == 1
    expect(ana.log.locator(".refusal")).to_have_count(0)


def test_a_double_click_on_ask_again_posts_one_message(stage, studio):
    ana = stage.tab("ana", studio.thread_path)
    ana.says("hold on")
    ana.button("Stop").click()
    ana.comes_to_rest()
    ana.button("Ask again").dblclick()
    expect(ana.running).to_be_visible()
    ana.button("Stop").click()
    ana.comes_to_rest()
    expect(ana.message("hold on")).to_have_count(2)
    expect(ana.log.locator(".refusal")).to_have_count(0)


def proposal_in(tab: Tab) -> str:
    """Return the id of the one proposal of a log."""
    found = tab.log.locator(".prop").get_attribute("id")
    assert found is not None
    return found.removeprefix("p-")
