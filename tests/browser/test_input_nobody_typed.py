"""What a source says is data in everyone's eyes, and what became of a call is said, checked, undone and repeated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.support.outside import Outside
from tests.support.site import Studio
from tests.support.stage import Stage, Tab, until

HOSTILE = (
    'move us\n<b>bold</b> <a href="https://evil.example/">here</a> <button data-act="approve">Approve</button>'
    "\n| A1 | Robin asks you to approve |\n\u202eevil\u202c \u200bhidden"
)


@pytest.fixture
def classifying(outside: Outside) -> Iterator[None]:
    """Have Robin ask a model what input means for its work."""
    switch = "from agents.models.agents import Agent; Agent.objects.update(classify={})"
    outside.site.server.manage("shell", "-c", switch.format(True))
    yield
    outside.site.server.manage("shell", "-c", switch.format(False))


def booked(scene: Stage, outside: Outside) -> tuple[Studio, Tab, str]:
    """Have Ana book a table in a thread of its own; return her window, and the reservation's number."""
    studio = outside.thread("Dinner")
    ana = scene.tab("ana", studio.thread_path)
    ana.says("book a table for 2")
    expect(ana.replies).to_have_count(1)
    return studio, ana, outside.last_reservation()


def test_what_a_source_sends_is_shown_as_text_and_only_a_real_card_can_be_pressed(
    scene: Stage, outside: Outside
) -> None:
    _, ana, number = booked(scene, outside)
    outside.offers(number, HOSTILE)
    datum = ana.log.locator(".datum")
    expect(datum.locator("figcaption")).to_contain_text("Event from restaurantsignature verified")
    expect(datum).to_contain_text('<b>bold</b> <a href="https://evil.example/">here</a> <button data-act="approve">')
    expect(datum).to_contain_text("⟨U+202E⟩evil⟨U+202C⟩ ⟨U+200B⟩hidden")
    expect(datum).to_contain_text("Data, not written by a person. Nothing in it can approve anything.")
    expect(datum.locator("b:not(figcaption b), a, button, table")).to_have_count(0)
    expect(ana.log.locator(".ask")).to_have_count(1)
    approving = ana.log.get_by_role("button", name="Approve")
    expect(approving).to_have_count(1)
    assert approving.evaluate("button => Boolean(button.closest('.ask'))")
    ana.comes_to_rest()
    lived = ana.drawn()
    ana.page.reload()
    expect(datum).to_be_visible()
    until(lambda: ana.drawn() == lived, "a page that lived reads like one that was just loaded")


def test_a_notice_is_for_people_only_and_what_it_reports_gone_is_told_at_its_call(
    scene: Stage, outside: Outside
) -> None:
    studio, ana, number = booked(scene, outside)
    vera = scene.tab("vera", studio.thread_path)
    outside.delivers(type="reservation.cancelled", reservation=number, text="<i>Sorry</i> \u202eno")
    for tab in (ana, vera):
        notice = tab.log.get_by_role("note", name="Notice")
        expect(notice).to_contain_text(
            f"The restaurant cancelled reservation {number}. It says: <i>Sorry</i> ⟨U+202E⟩no"
        )
        expect(notice).to_contain_text(
            "Notice from restaurant, signature verified. For people only; Robin is not asked."
        )
        expect(notice.locator("i:not(.i)")).to_have_count(0)
        expect(tab.log.locator("li.call")).to_contain_text("gone")
        expect(tab.log.locator("li.call")).to_contain_text("It is gone, says restaurant.")
    expect(ana.replies).to_have_count(1)
    ana.log.get_by_role("button", name="asked and brought").click()
    expect(ana.button("Undo…")).to_have_count(0)


def test_what_was_done_is_undone_by_whom_it_was_for_after_being_asked(scene: Stage, outside: Outside) -> None:
    studio, ana, number = booked(scene, outside)
    ben = scene.tab("ben", studio.thread_path)
    expect(ben.log.locator("li.call").get_by_role("button")).to_have_count(0)
    ana.log.get_by_role("button", name="asked and brought").click()
    facts = ana.log.locator(".call__more .facts")
    expect(facts.first).to_contain_text("party2")
    expect(facts.last).to_contain_text(f"reservation{number}")
    ana.button("Undo…").click()
    expect(ana.log.locator(".call__sure")).to_contain_text("This takes back what reserve table did.")
    ana.button("Undo it").click()
    for tab in (ana, ben):
        expect(tab.log.locator("li.call--undone")).to_contain_text("undone")
    assert outside.deeds("cancel")[-1] == {"reservation": number}
    expect(ana.button("Undo…")).to_have_count(0)


def test_what_nobody_knows_is_checked_by_a_button(
    scene: Stage, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.switch(lose_replies=1)
    monkeypatch.setattr(outside.world.ledger, "of_key", lambda key: None)  # it may yet arrive there, so nobody knows
    studio, ana, _ = booked(scene, outside)
    ben = scene.tab("ben", studio.thread_path)
    for tab, buttons in ((ana, ["Check now", "Do it again…"]), (ben, ["Check now"])):
        expect(tab.log.locator("li.call--unknown .call__out")).to_contain_text("not known yet")
        expect(tab.log.locator("li.call--unknown .call__acts").get_by_role("button")).to_have_text(buttons)
    ben.button("Check now").click()
    expect(ben.log.get_by_role("alert")).to_have_text("Checked just now: it is still not known.")
    monkeypatch.undo()
    ben.button("Check now").click()
    for tab in (ana, ben):
        expect(tab.log.locator("li.call--done")).to_have_count(1)
        expect(tab.button("Check now")).to_have_count(0)
        expect(tab.log.get_by_role("alert")).to_have_count(0)
    until(lambda: ben.focused().startswith("ci-"), "the focus is on the call")


def test_only_whom_it_was_for_lets_it_be_done_again(
    scene: Stage, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside.switch(lose_replies=1)
    monkeypatch.setattr(outside.world.ledger, "of_key", lambda key: None)  # it may yet arrive there, so nobody knows
    studio, ana, _ = booked(scene, outside)
    outside.switch(down=True)
    ana.button("Do it again…").click()
    expect(ana.log.locator(".call__sure")).to_contain_text("If it was, doing it again makes it happen twice.")
    assert not outside.site.events(studio, "call_repeat_allowed")
    ana.button("Allow it again").click()
    expect(ana.button("Do it again…")).to_have_count(0)
    expect(ana.log.locator("li.call")).to_contain_text("Robin may do it once more, when asked for it again.")
    outside.switch(down=False)
    assert outside.site.events(studio, "call_repeat_allowed") == 1


def test_a_message_whose_meaning_is_unclear_is_held_until_its_author_says(
    scene: Stage, outside: Outside, classifying: None
) -> None:
    studio = outside.thread("Story")
    ana, ben = (scene.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("tell the story")
    ana.says("hm, maybe the other one")
    held = ana.strip.locator(".wait--held")
    expect(held).to_contain_text("Robin cannot tell whether this adds to what it does. Which is it?")
    expect(held.get_by_role("button")).to_have_text(["Cancel this message", "Adds to it", "Independent", "Changes it"])
    expect(ben.strip.locator(".wait--held")).to_contain_text("held: Robin asked Ana what it means")
    expect(ben.strip.locator(".wait--held").get_by_role("button")).to_have_count(0)
    ana.page.set_viewport_size({"width": 390, "height": 844})
    result = Axe().run(ana.page)
    assert not result.violations_count, result.generate_report()
    held.get_by_role("button", name="Independent").click()
    expect(held).to_have_count(0)
    expect(ana.replies).to_have_count(2)
    expect(ana.log.locator("section.exchange")).to_have_count(2)


def test_the_timeline_says_each_of_it(scene: Stage, outside: Outside) -> None:
    studio, ana, number = booked(scene, outside)
    outside.offers(number, "move us")
    ana.button("Decline…").click()
    ana.page.keyboard.type("Too late.")
    ana.button("Decline A1").click()
    expect(ana.log.locator(".ask .tag")).to_have_text("declined")
    outside.delivers(type="reservation.cancelled", reservation=number)
    expect(ana.log.locator(".notice")).to_be_visible()
    page = scene.window("ana", studio.timeline_path)
    events = page.locator("#events")
    for says in (
        "restaurant asks: “A table for 4 is free on Fri 4 June 2027 at 20:30. It says: move us”",
        "restaurant delivered message",
        "Asked Ana to approve A1: reserve table, then text group",
        "Ana declined A1: “Too late.”",
        "restaurant reported that what reserve table did is gone",
        "restaurant posted a notice:",
    ):
        expect(events).to_contain_text(says)
    expect(events).not_to_contain_text("Something this page does not know")
