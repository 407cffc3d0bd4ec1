"""A page whose connection breaks, and a person who may not see the thread any more."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.stage import Tab, Wire

NEWEST = 200
"""Events a page asks for when it comes back."""
KEPT = "Kept here; sent once, when you are back"


def test_a_message_written_offline_is_posted_once_after_reconnecting(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("good morning")
    expect(ben.rail("for Ana")).to_contain_text("I have heard it.")
    ana.page.context.set_offline(True)
    expect(ana.line).to_contain_text("Offline.")
    ana.writes("written on the train")
    expect(ana.page.locator(".composer__hint")).to_have_text(KEPT)
    expect(ana.box).to_have_value("written on the train")
    ben.says("are you there?")
    expect(ben.message("are you there?")).to_have_count(1)
    expect(ben.message("written on the train")).to_have_count(0)

    ana.page.context.set_offline(False)
    expect(ana.line).to_contain_text("Back.")
    expect(ana.box).to_have_value("")
    for tab in (ana, ben, stage.tab("vera", studio.thread_path)):
        tab.comes_to_rest()
        expect(tab.message("are you there?")).to_have_count(1)
        expect(tab.message("written on the train")).to_have_count(1)
        expect(tab.log.locator("article.msg")).to_have_count(3)


def test_who_was_away_for_long_comes_back_to_the_newest_events_and_finds_the_older_ones(stage, site, studio):
    ana = stage.tab("ana", studio.thread_path)
    ana.says("good morning")
    expect(ana.rail("for Ana")).to_contain_text("I have heard it.")
    ana.page.context.set_offline(True)
    expect(ana.line).to_contain_text("Offline.")
    site.comments(studio, "ben", NEWEST + 20)
    ana.page.context.set_offline(False)
    expect(ana.line).to_contain_text("Back.")
    expect(ana.message(f"comment {NEWEST + 20}")).to_have_count(1)
    expect(ana.log.locator("article.msg")).to_have_count(NEWEST)
    ana.button("Earlier").click()
    expect(ana.message("good morning")).to_have_count(1)
    expect(ana.log.locator("article.msg")).to_have_count(NEWEST + 21)


def test_a_message_whose_answer_was_lost_is_sent_again_and_posted_once(stage, site, studio):
    wire = Wire()
    ana = stage.tab("ana", studio.thread_path, wire=wire)
    ana.says("good morning")
    ana.comes_to_rest()
    wire.loses('"type":"result"')
    ana.says("said once")
    assert wire.lost
    ana.comes_to_rest()
    expect(ana.message("said once")).to_have_count(1)
    expect(ana.log.get_by_text("I have heard it.")).to_have_count(2)
    assert site.events(studio, "message_posted") == 4, "two of Ana's, two replies"


def test_a_message_being_sent_while_the_page_is_reloaded_is_posted_once(stage, site, studio):
    wire = Wire()
    ana = stage.tab("ana", studio.thread_path, wire=wire)
    wire.loses('"type":"result"')
    ana.writes("said once")
    expect(ana.line).to_contain_text("Offline.")
    ana.page.reload()
    expect(ana.box).to_have_value("")
    ana.comes_to_rest()
    expect(ana.message("said once")).to_have_count(1)
    expect(ana.log.get_by_text("I have heard it.")).to_have_count(1)
    assert site.events(studio, "message_posted") == 2, "one of Ana's, one reply"


def test_a_removed_person_sees_that_it_is_closed_and_nothing_else(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("good morning")
    expect(ben.rail("for Ana")).to_contain_text("I have heard it.")
    ben.box.fill("a draft")

    people = stage.window("ana", studio.people_path)
    people.get_by_role("button", name="Remove… Ben").click()
    people.get_by_role("button", name="Remove Ben", exact=True).click()
    expect(people.get_by_text("Ben was removed.")).to_be_visible()

    expect(ben.line).to_have_text("You can no longer see this thread. Ask an owner of the workspace.")
    expect(ben.log).to_be_empty()
    expect(ben.pane).to_be_empty()
    expect(ben.strip).to_be_hidden()
    expect(ben.box).to_be_hidden()
    expect(ben.page).to_have_title("Closed · Accord")
    ana.says("without him")
    ana.comes_to_rest()
    expect(ben.log).to_be_empty()
    again = ben.page.reload()
    assert again is not None
    assert again.status == 404


def test_who_signs_in_after_another_finds_and_sends_nothing_that_the_other_wrote(stage, studio):
    window = stage.window(None, f"/sign-in/?next={studio.thread_path}")
    for who, draft in (("ana", "a secret of mine"), ("ben", "")):
        window.get_by_label("Name").fill(who)
        window.get_by_label("Password").fill("accord-demo")
        window.get_by_role("button", name="Sign in").click()
        expect(Tab(window).box).to_be_visible()
        expect(Tab(window).box).to_have_value("")
        Tab(window).box.fill(draft)
        window.get_by_role("button", name="Sign out").click()
        window.goto(f"/sign-in/?next={studio.thread_path}")


def test_signing_out_ends_the_pages_that_are_open(stage, studio):
    window = stage.window(None, f"/sign-in/?next={studio.thread_path}")
    window.get_by_label("Name").fill("vera")
    window.get_by_label("Password").fill("accord-demo")
    window.get_by_role("button", name="Sign in").click()
    expect(window.locator("#barred")).to_be_visible()
    other = window.context.new_page()
    other.goto(studio.path)
    other.get_by_role("button", name="Sign out").click()
    expect(window.get_by_role("heading", name="Sign in")).to_be_visible()
