"""Everything works by keyboard alone; the focus is seen wherever it is, and no act loses it."""

from __future__ import annotations

import string

from playwright.sync_api import Page, expect

from tests.support.stage import Tab, until

MOST_STOPS = 80

NAME = """() => {
  const at = document.activeElement;
  return at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent.trim() || at.id;
}"""

STANDS_OUT = """() => {
  const at = document.activeElement;
  const looks = () => {
    const seen = [];
    for (let node = at, height = 0; node && height < 4; node = node.parentElement, height += 1) {
      const style = getComputedStyle(node);
      seen.push(style.outlineStyle, style.outlineWidth, style.borderColor, style.boxShadow, style.top);
    }
    return seen.join();
  };
  const focused = looks();
  at.blur();
  const plain = looks();
  at.focus();
  return focused !== plain;
}"""


def test_one_signs_in_opens_a_thread_writes_and_answers_without_a_mouse(stage, studio):
    page = stage.window(None, f"/sign-in/?next={studio.path}")
    keys = page.keyboard
    expect(page.get_by_label("Name")).to_be_focused()
    keys.type("ana")
    keys.press("Tab")
    keys.type("accord-demo")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Studio launch", level=1)).to_be_visible()
    tabs_to(page, "Launch dinner")
    keys.press("Enter")

    tab = Tab(page)
    expect(tab.box).to_be_visible()
    keys.press("Escape")
    expect(tab.box).to_be_focused()
    keys.type("ask us")
    keys.press("Control+Enter")
    expect(tab.button("On Saturday")).to_be_visible()
    expect(tab.box).to_be_focused()

    tabs_to(page, "On Saturday", backwards=True)
    keys.press("Enter")
    expect(tab.rail("for Ana")).to_contain_text("Ana said: On Saturday.")
    until(lambda: tab.focused().startswith("q-"), "the focus is on the answered question")


def test_the_list_of_keys_opens_holds_the_focus_and_gives_it_back(stage, studio):
    tab = stage.tab("ana", studio.thread_path)
    tab.log.focus()
    keys = tab.page.keyboard
    keys.press("c")
    expect(tab.box).to_be_focused()
    keys.type("what?")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    keys.press("Shift+Tab")
    before = tab.page.evaluate(NAME)
    keys.press("?")
    expect(tab.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    for _ in range(4):
        keys.press("Tab")
        assert tab.page.evaluate("document.activeElement.closest('dialog, body').localName") in {"dialog", "body"}
        assert tab.page.evaluate("!document.activeElement.closest('.page, .side')")
    keys.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    assert tab.page.evaluate(NAME) == before
    keys.press("Escape")
    expect(tab.box).to_be_focused()
    expect(tab.box).to_have_value("what?")


def test_no_act_loses_the_focus(stage, studio):
    tab = stage.tab("ana", studio.thread_path)
    keys = tab.page.keyboard
    tab.lets_robin_only_suggest()
    for press, rests_on in (("Accept", "pe-"), ("Withdraw", "pe-")):
        tab.says("quickly add a lamp")
        expect(tab.button(press)).to_be_visible()
        tab.comes_to_rest()
        tabs_to(tab.page, press, backwards=True)
        keys.press("Enter")
        expect(tab.button(press)).to_have_count(0)
        until(lambda rests_on=rests_on: tab.focused().startswith(rests_on), "the focus is on what came of it")
        keys.press("Escape")

    tab.says("hold on")
    expect(tab.button("Stop")).to_be_visible()
    tabs_to(tab.page, "Stop", backwards=True)
    keys.press("Enter")
    expect(tab.button("Ask again")).to_be_visible()
    until(lambda: tab.focused() == "say", "the focus is in the message box")

    tab.says("ask us")
    expect(tab.button("Dismiss")).to_be_visible()
    tabs_to(tab.page, "Dismiss", backwards=True)
    keys.press("Enter")
    expect(tab.button("Dismiss")).to_have_count(0)
    until(lambda: tab.focused() == "say", "the focus is in the message box")


def test_no_letter_accepts_rejects_or_answers(stage, studio):
    tab = stage.tab("ana", studio.thread_path)
    tab.lets_robin_only_suggest()
    tab.says("quickly add a lamp")
    expect(tab.button("Accept")).to_be_visible()
    tab.comes_to_rest()
    tab.says("ask us")
    expect(tab.button("On Friday")).to_be_visible()
    for letter in string.ascii_lowercase.replace("c", "").replace("t", "") + string.digits + ".,/ ":
        tab.page.evaluate("document.activeElement.blur()")
        tab.page.keyboard.press(letter)
        tab.page.keyboard.press(f"Shift+{letter}")
        if tab.page.get_by_role("dialog").count():
            tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Escape")
    tab.says("On Friday")
    expect(tab.rail("for Ana")).to_contain_text(["quickly add a lamp", "Ana said: On Friday."])
    expect(tab.button("Accept")).to_be_visible()


def test_a_role_that_the_arrow_keys_pass_on_the_way_is_not_given(stage, studio):
    page = stage.window("ana", studio.people_path)
    role = page.get_by_role("combobox", name="Role of Vera")
    role.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(role).to_have_value("contributor")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Vera is contributor now.")).to_be_visible()


def test_the_focus_is_seen_at_every_stop_and_the_way_leads_through_everything(stage, studio):
    tab = stage.tab("ana", studio.thread_path, reduced_motion="reduce")
    tab.says("ask us")
    expect(tab.button("On Friday")).to_be_visible()
    tab.page.evaluate("document.activeElement.blur(); window.getSelection().empty(); document.body.focus()")
    tab.page.reload()
    expect(tab.button("On Friday")).to_be_visible()
    way, unseen = [], []
    for _ in range(MOST_STOPS):
        tab.page.keyboard.press("Tab")
        if tab.focused() == "body":
            break
        way.append(tab.page.evaluate(NAME))
        if not tab.page.evaluate(STANDS_OUT):
            unseen.append(way[-1])
    assert unseen == []
    landmarks = [
        "Studio launch",
        "Launch dinner",
        "Thread settings",
        "Conversation",
        "On Friday",
        "Send",
        "Edit",
        "Now",
    ]
    positions = [next((at for at, name in enumerate(way) if mark in name), None) for mark in landmarks]
    assert None not in positions, way
    assert positions == sorted(positions), "the order is that of reading: sidebar, head, log, box, document"


def tabs_to(page: Page, name: str, *, backwards: bool = False) -> None:
    """Press Tab until the focus is on what has this name."""
    seen = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        seen.append(page.evaluate(NAME))
        if seen[-1] == name:
            return
    raise AssertionError(f"Tab never came to {name!r}, only to {seen}")
