"""Markdown that anyone wrote comes out as safe HTML that fetches nothing and hides nothing (FAILURES M1, M2, M4)."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab.web.markdown import TAGS, blocks, render

REL = 'rel="noopener noreferrer nofollow"'
ALLOWED_ATTRIBUTES = {
    "a": {"href", "title", "rel"},
    "code": {"class"},
    "ol": {"start"},
    "td": {"class"},
    "th": {"class"},
}


class Reading(HTMLParser):
    """What a browser would make of HTML: its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.comments: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def unsafe(html: str) -> list[object]:
    reading = Reading(html)
    links = [attributes.get("href") or "" for tag, attributes in reading.tags if tag == "a"]
    return [
        *(tag for tag, _ in reading.tags if tag not in TAGS),
        *((tag, name) for tag, attrs in reading.tags for name in attrs.keys() - ALLOWED_ATTRIBUTES.get(tag, set())),
        *(link for link in links if not link.lower().startswith(("http://", "https://", "mailto:"))),
        *reading.comments,
    ]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "Ship *it* **now** ~~later~~ `x<y`",
            "<p>Ship <em>it</em> <strong>now</strong> <s>later</s> <code>x&lt;y</code></p>\n",
        ),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("3. a", '<ol start="3">\n<li>a</li>\n</ol>\n'),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>\n"),
        ("```py\nx = 1\n```", '<pre><code class="language-py">x = 1\n</code></pre>\n'),
        ("a\\\nb", "<p>a<br>\nb</p>\n"),
        ("***", "<hr>\n"),
        ("مرحبا 你好 שלום", "<p>مرحبا 你好 שלום</p>\n"),
        ("", ""),
    ],
)
def test_markdown_reads_as_people_expect(text: str, html: str) -> None:
    assert render(text) == html


def test_a_table_aligns_by_class_since_no_inline_style_is_allowed() -> None:
    assert '<th class="align-left">a</th>\n<th class="align-right">b</th>\n<th>c</th>' in render(
        "|a|b|c|\n|:-|-:|-|\n|1|2|3|"
    )


@pytest.mark.parametrize(("marks", "tag"), [("#", "h3"), ("##", "h4"), ("####", "h6"), ("######", "h6")])
def test_headings_stand_below_those_of_the_page(marks: str, tag: str) -> None:
    assert render(f"{marks} Plan") == f"<{tag}>Plan</{tag}>\n"


def test_a_link_opens_no_door_to_the_page_it_stands_on() -> None:
    assert render("[a](https://example.org/?q=1)") == f'<p><a href="https://example.org/?q=1" {REL}>a</a></p>\n'
    assert (
        render("<mailto:ana@example.org>")
        == f'<p><a href="mailto:ana@example.org" {REL}>mailto:ana@example.org</a></p>\n'
    )


@pytest.mark.parametrize(
    "text", ["[a](/admin/)", "[a](//example.org)", "[a](#x)", "[a](javascript:alert)", "![a](/logout)", "[a](ftp://b)"]
)
def test_what_may_not_be_a_link_is_shown_as_it_was_written(text: str) -> None:
    assert render(text) == f"<p>{text}</p>\n"


def test_an_image_is_a_link_to_it_and_is_never_fetched() -> None:
    assert render("![Our *plan*](https://example.org/p.png 't')") == (
        f'<p><a href="https://example.org/p.png" {REL}>Our plan</a></p>\n'
    )
    assert render("![](https://example.org/p.png)").count("https://example.org/p.png") == 2


def test_an_image_within_a_link_is_its_words() -> None:
    assert render("[![Plan](https://example.org/p.png)](https://example.org/)") == (
        f'<p><a href="https://example.org/" {REL}>Plan</a></p>\n'
    )


def test_bare_addresses_stay_text() -> None:
    assert render("www.example.org and https://example.org") == "<p>www.example.org and https://example.org</p>\n"


def test_a_link_definition_hides_nothing_from_people() -> None:
    assert "ignore Ana" in Reading(render('[x]: https://example.org "ignore Ana"')).text
    assert "ignore Ana" in Reading(render("[//]: # (ignore Ana)")).text


PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<iframe src=https://example.org></iframe>",
    "<!-- <img src=x onerror=alert(1)> -->",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>*{background:url(https://example.org)}</style>",
    "<math><mtext></mtext><mglyph><style><img src onerror=alert(1)></style></mglyph></math>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#1;javascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![x](https://example.org/"onerror=alert(1))',
    '!["onerror=alert(1)](https://example.org/x)',
    "[x](https://example.org 'a\" onmouseover=alert(1) \"')",
    "<javascript:alert(1)>",
    '<https://example.org/"onclick=alert(1)>',
    "[x]: javascript:alert(1)\n[x]",
    '```"><img src=x onerror=alert(1)>\nx\n```',
    '```" onclick=alert(1)\nx\n```',
    "`<img src=x onerror=alert(1)>`",
    "|<img src=x>|\n|-|\n|<script>|",
    "# <script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    '<x y="\n\n<script>alert(1)</script>',
    "</p></div></body><script>",
    "<![CDATA[<script>]]>",
    "<?php echo 1 ?>",
    "\0<script>",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_comes_out_harmless_wherever_it_stands(payload: str) -> None:
    for text in (payload, f"> - {payload}", f"a {payload} b", f"**{payload}**", f"[{payload}](https://example.org)"):
        assert unsafe(render(text)) == []


@pytest.mark.parametrize("payload", [payload for payload in PAYLOADS if payload.startswith("<s")])
def test_raw_html_is_shown_as_it_was_written(payload: str) -> None:
    assert Reading(render(payload)).text.strip() == payload


soup = st.lists(
    st.sampled_from([*PAYLOADS, *"<>[]()!*_`~|#-:&\"'\n\\ ", "```", "    ", "\n\n", "1. ", "](", "https://a.b"])
    | st.text(max_size=4),
    max_size=20,
).map("".join)


@given(soup)
def test_no_text_makes_html_outside_the_list(text: str) -> None:
    html = render(text)
    assert unsafe(html) == []
    assert "".join(blocks(text)) == html


@given(st.text(st.characters(categories=["L", "N", "M"]), min_size=1))
def test_bare_words_of_any_language_come_out_whole(text: str) -> None:
    assert Reading(render(f"x{text}x")).text == f"x{text}x\n"


def test_blocks_before_the_last_stay_while_the_text_grows() -> None:
    text = "# Plan\n\nOne.\n\n- a\n- b\n\n```py\nx\n```\n\nThe end"
    assert len(blocks(text)) == 5
    for end in range(len(text)):
        settled = blocks(text[:end])[:-1]
        assert blocks(text)[: len(settled)] == settled


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000,
        "[" * 10_000,
        "![" * 10_000,
        "- " * 10_000,
        "*a_ " * 10_000,
        "`" * 10_000,
        "<" * 10_000,
        "[a](<" * 5_000,
        "(" * 10_000,
        "![a](" * 2_000,
        "|" * 10_000,
        "> " * 5_000 + "a\n" * 100,
        "&" * 10_000,
        "~~a " * 5_000,
    ],
)
def test_text_nested_without_end_is_still_shown(text: str) -> None:
    html = render(text)
    assert unsafe(html) == []
    assert html


def test_text_nested_too_deeply_to_lay_out_is_shown_as_it_was_written() -> None:
    hidden = ">" * 100 + " <b>ignore Ana</b>"
    assert render(hidden) == f"<pre>{'&gt;' * 100} &lt;b&gt;ignore Ana&lt;/b&gt;</pre>\n"
    assert render(">" * 20 + " a").startswith("<blockquote>")


def test_a_text_that_would_take_too_long_to_search_for_links_is_shown_as_it_was_written() -> None:
    assert render("[" * 2_001) == f"<pre>{'[' * 2_001}</pre>\n"
    assert render("[a](https://a.example) " * 1_000).count("<a ") == 1_000


def test_a_link_to_nowhere_leads_nowhere() -> None:
    assert render("[]() and [here]()") == "<p>[]() and [here]()</p>\n"
