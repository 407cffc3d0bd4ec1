"""Delegation in time and shared calls as everyone in the thread sees them, live and after loading anew."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.stage import Tab

EVERYONE = ("ana", "ben", "vera")


def mode(tab: Tab):
    return tab.page.locator("[data-thread-mode]")


def lent(tab: Tab):
    return tab.page.locator("[data-delegated]")


def test_what_an_owner_lets_robin_do_stands_in_every_head_until_it_is_ended(stage, studio):
    ana, ben, vera = (stage.tab(who, studio.thread_path) for who in EVERYONE)
    ana.lets_robin_only_suggest()
    ana.button("Thread settings").click()
    ana.page.get_by_label("With documents here").select_option("allow")
    ana.page.locator("#settings-reason").fill("The last hour.")
    ana.button("Save").click()
    for tab in (ana, ben, vera):
        expect(mode(tab)).to_have_text("Robin may edit here")
        expect(lent(tab)).to_contain_text("Robin may edit here until")
        expect(lent(tab)).to_contain_text("(Ana: The last hour.)")
    expect(lent(ben).get_by_role("button")).to_have_count(0)
    ben.says("quickly add a lamp")
    ben.comes_to_rest()
    expect(ben.pane.locator("#doc-now")).to_contain_text("a lamp")
    expect(ben.log.locator(".prop")).to_have_count(0)

    ben.page.reload()
    expect(lent(ben)).to_contain_text("Robin may edit here until")
    lent(ana).get_by_role("button", name="End").click()
    for tab in (ana, ben, vera):
        expect(mode(tab)).to_contain_text("Robin suggests changes")
        expect(lent(tab)).to_be_empty()
    expect(ana.box).to_be_focused()
    ben.page.goto(studio.timeline_path)
    expect(ben.page.locator("main")).to_contain_text("let the agent change documents here for a while")
    expect(ben.page.locator("main")).to_contain_text("ended what was delegated to the agent")


def test_a_moment_that_has_passed_is_refused_where_it_was_typed(stage, studio):
    ana = stage.tab("ana", studio.thread_path)
    ana.button("Thread settings").click()
    ana.page.get_by_label("With documents here").select_option("deny")
    ana.page.locator("#settings-until").fill("2020-01-01T10:00")
    ana.button("Save").click()
    expect(ana.page.locator("#settings [role=alert]")).to_have_text("This moment has passed.")
    expect(mode(ana)).to_contain_text("Robin may change documents")


def test_a_call_is_its_persons_until_they_share_it_with_everyone(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path) for who in ("ana", "ben"))
    ana.says("quickly add a lamp")
    for tab in (ana, ben):
        tab.comes_to_rest()
    row, seen = ana.log.locator(".call").last, ben.log.locator(".call").last
    expect(seen.get_by_role("button")).to_have_count(0)
    expect(seen.locator(".call__args")).to_have_count(0)

    row.get_by_role("button", name="asked and brought").click()
    expect(row.locator("pre").first).to_contain_text("lamp")
    expect(row).to_contain_text("Only you see this.")
    row.get_by_role("button", name="Share…").click()
    expect(row.get_by_role("group")).to_contain_text("at present Ben and Vera")
    expect(row.get_by_role("group")).to_contain_text("Sharing is not undone.")
    expect(row.get_by_role("button", name="Cancel")).to_be_focused()
    row.get_by_role("button", name="Share with everyone here").click()

    for tab in (ana, ben):
        expect(tab.log.locator(".call .tag").last).to_have_text("shared")
    seen.get_by_role("button", name="asked and brought").click()
    expect(seen.locator("pre").first).to_contain_text("lamp")
    expect(seen).to_contain_text("Shared with everyone here by Ana")
    expect(seen.get_by_role("button", name="Share…")).to_have_count(0)

    ben.page.reload()
    expect(ben.log.locator(".call .tag").last).to_have_text("shared")
    ben.page.goto(studio.timeline_path)
    expect(ben.page.locator("main")).to_contain_text("with everyone here")
