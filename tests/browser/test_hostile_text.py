"""Whatever people write is shown as text wherever it is shown: nothing of it runs, and nothing is fetched for it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

PAYLOADS = (
    "<script>window.__pwned = 1</script>",
    "</script><script>window.__pwned = 2</script>",
    '<img src="x" onerror="window.__pwned = 3">',
    '"><svg onload="window.__pwned = 4"><a href="javascript:window.__pwned = 5"><text y="20">press me</text></a></svg>',
    '<iframe src="http://elsewhere.example/frame"></iframe>',
    '<iframe srcdoc="<script>parent.__pwned = 6</script>"></iframe>',
    '<a href="http://elsewhere.example/" onmouseover="window.__pwned = 7">over me</a>',
    "<style>@import url(http://elsewhere.example/style.css);</style>",
    "</textarea><script>window.__pwned = 8</script>",
    "<form action='http://elsewhere.example/'><button>Accept</button></form>",
    "[press me](javascript:window.__pwned=9)",
    "[press me](JaVa&#x09;Script:window.__pwned=10)",
    "[press me](data:text/html,<script>window.__pwned=11</script>)",
    "<javascript:window.__pwned=12>",
    "![a pixel](http://elsewhere.example/pixel.png)",
    "[![a pixel](http://elsewhere.example/linked.png)](javascript:window.__pwned=13)",
    "![a pixel](//elsewhere.example/relative.png)",
    '[titled](http://elsewhere.example/ "onmouseover=window.__pwned=14")',
    "```<script>window.__pwned = 15</script>\n<script>window.__pwned = 16</script>\n```",
    "| <img src=x onerror=window.__pwned=17> |\n| --- |\n| <svg onload=window.__pwned=18> |",
)
EVERYTHING = "\n\n".join(PAYLOADS)
ONE_LINE = "</script><script>window.__pwned=20</script><img src=x onerror=window.__pwned=21> ![p](http://elsewhere.example/p.png)"
NAME = "</title><img src=x onerror=window.__pwned=22>"

FOREIGN_ELEMENTS = """() => [...document.querySelectorAll(
  "img, svg, iframe, object, embed, math, style, base, meta[http-equiv], script:not([src], [type='application/json'])"
)].map((node) => node.outerHTML)"""

HANDLERS = """() => [...document.querySelectorAll("*")].flatMap(
  (node) => node.getAttributeNames().filter((name) => name.startsWith("on")).map((name) => `${node.localName} ${name}`)
)"""

DANGEROUS_LINKS = """() => [...document.querySelectorAll("[href], [src], [action], [formaction]")]
  .flatMap((node) => [node.href, node.src, node.action, node.formAction])
  .filter((url) => typeof url === "string" && url && !/^(https?|mailto):/i.test(url))"""


@pytest.fixture(scope="module", autouse=True)
def _a_hostile_name(site) -> None:
    site.server.manage(
        "shell", "-c",
        f"from permissions.models import User; User.objects.filter(username='zoe').update(display_name={NAME!r})",
    )  # fmt: skip


@pytest.fixture
def hostile(site, studio):
    """The studio with Zoe in it, who has a hostile name, and hostile titles and text in all that she shares."""
    site.post("ana", studio.people_path, act="add", username="zoe", role="owner")
    site.document(studio.workspace, site.thread(studio.workspace, ONE_LINE), ONE_LINE, EVERYTHING)
    site.post("ana", studio.path, name=ONE_LINE)
    site.post("ana", f"{studio.document_path}save/", text=EVERYTHING, base_version="2")
    return studio


def test_hostile_text_is_text_in_a_thread_while_it_streams_and_on_every_page_after(stage, hostile):
    zoe = stage.tab("zoe", hostile.thread_path, bypass_csp=True)
    ben = stage.tab("ben", hostile.thread_path, bypass_csp=True)
    zoe.says(EVERYTHING)
    expect(zoe.replies).to_have_count(1)
    zoe.comes_to_rest()
    zoe.says(f"say {EVERYTHING}")
    expect(ben.replies).to_have_count(2)
    zoe.says(f"ask about {ONE_LINE}")
    expect(ben.button("no")).to_be_visible()
    ben.button("no").click()
    ben.comes_to_rest()
    zoe.lets_robin_only_suggest()
    zoe.says(f"quickly add {ONE_LINE}")
    expect(ben.button("Accept")).to_be_visible()
    zoe.button("Reject…").click()
    zoe.page.get_by_label("Why? The proposer reads it.").fill(ONE_LINE)
    zoe.button("Reject").click()
    expect(ben.log.locator(".prop--closed")).to_have_count(1)
    ben.comes_to_rest()
    for tab in (zoe, ben):
        assert tab.replies.nth(1).inner_text().count("window.__pwned") > 10, "it is shown as it was written"
        is_harmless(tab.page)
    for path in (
        hostile.thread_path, hostile.timeline_path, hostile.path, hostile.people_path, hostile.document_path,
        f"{hostile.document_path}pane/", "/", "/?all=1", "/account/",
    ):  # fmt: skip
        page = stage.window("zoe", path, bypass_csp=True)
        expect(page.get_by_text("pwned").first).to_be_attached()
        is_harmless(page)


def test_a_hostile_title_is_text_when_it_changes_in_an_open_page(stage, studio):
    ana, ben = (stage.tab(who, studio.thread_path, bypass_csp=True) for who in ("ana", "ben"))
    ana.button("Thread settings").click()
    ana.page.get_by_role("dialog").get_by_label("Title").fill(ONE_LINE)
    ana.button("Save").click()
    for tab in (ana, ben):
        expect(tab.page.get_by_role("heading", level=1)).to_have_text(ONE_LINE)
        is_harmless(tab.page)


def test_a_hostile_address_or_name_at_the_door_is_text(stage):
    page = stage.window(None, f"/sign-in/?next={ONE_LINE}", bypass_csp=True)
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill("x")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    is_harmless(page)
    is_harmless(stage.window("ana", f"/{ONE_LINE}", bypass_csp=True))


def is_harmless(page: Page) -> None:
    """Nothing ran (the page's content policy is off), and nothing is there that could when it is touched."""
    assert page.evaluate("typeof window.__pwned") == "undefined"
    assert page.evaluate(FOREIGN_ELEMENTS) == []
    assert page.evaluate(HANDLERS) == []
    assert page.evaluate(DANGEROUS_LINKS) == []
