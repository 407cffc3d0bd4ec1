"""Markdown to HTML that is safe on any page (DESIGN 11; FAILURES M1, M2, M4).

Pure. Raw HTML is not parsed but shown, and what the parser makes is cleaned again against a narrow list, so that
neither step has to be right alone. Nothing is ever fetched: an image is shown as a link to it. Nothing is dropped
without a trace either, so that people see what the agent reads: link definitions, and text nested too deeply to lay
out, are shown as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_BLOCK_TAGS = {"blockquote", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul"}
_TABLE_TAGS = {"table", "tbody", "td", "th", "thead", "tr"}
_TEXT_TAGS = {"a", "br", "code", "em", "s", "strong"}
TAGS = frozenset(_BLOCK_TAGS | _TABLE_TAGS | _TEXT_TAGS)
"""Every tag that may come out."""

_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "ol": {"start"},
    "td": {"class"},
    "th": {"class"},
}
_MOST_NESTING = 50
_MOST_BRACKETS = 2_000
"""Each may begin a link, and is looked at again for each before it; far more than any text needs."""

_AS_WRITTEN = {"link_open": "[", "link_close": "]()"}
"""A link to nowhere, whose address the parser does not ask about, stays as it was written."""

_LINK_RULE = "validateLink"
_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_CLASS = re.compile(r"language-[\w+#.-]{1,40}|align-(?:left|center|right)")


def render(text: str) -> str:
    """Return the HTML of a Markdown text.

    Args:
        text: what anyone wrote, in any language; its caller caps its length.

    Returns:
        HTML of :data:`TAGS` only. Headings start at h3, since a page has its own h1 and h2. Links go to http, https and
        mailto and nowhere else.
    """
    return "".join(blocks(text))


def blocks(text: str) -> list[str]:
    """Return the HTML of each top-level block, in order; joined, they are what :func:`render` returns.

    While a text grows at its end, all blocks but the last few stay as they are, so that a page that shows a stream
    replaces only those.
    """
    if text.count("[") > _MOST_BRACKETS:
        return [_as_written(text)]
    tokens = _PARSER.parse(text)
    if any(token.level + token.nesting >= _MOST_NESTING for token in tokens):
        return [_as_written(text)]
    return [_CLEANER.clean(_RENDERER.render(block, _PARSER.options, {})) for block in _top_level(tokens)]


def _as_written(text: str) -> str:
    return f"<pre>{escape(text, quote=False)}</pre>\n"


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _may_link_to(url: str) -> bool:
    return _LINK.match(url) is not None


def _fit_to_page(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
        elif token.type in {"th_open", "td_open"} and (style := token.attrs.pop("style", None)):
            # The page's content policy allows no inline style.
            token.attrSet("class", str(style).replace("text-align:", "align-"))
        elif token.children:
            token.children = list(_shown(token.children))


def _shown(tokens: Sequence[Token]) -> Iterator[Token]:
    within_link = 0
    nowhere = False
    for token in tokens:
        if token.type == "link_open":
            nowhere = not token.attrs.get("href")
        if nowhere and token.type in _AS_WRITTEN:
            yield Token("text", "", 0, content=_AS_WRITTEN[token.type])
            continue
        within_link += token.nesting if token.type.startswith("link_") else 0
        if token.type == "image":
            yield from _image_as_link(token, within_link=within_link > 0)
        else:
            yield token


def _image_as_link(image: Token, *, within_link: bool) -> Iterator[Token]:
    source = str(image.attrs["src"])
    described = _RENDERER.renderInlineAsText(image.children, _PARSER.options, {})
    text = Token("text", "", 0, content=described or source)
    if within_link:
        yield text
    else:
        yield Token("link_open", "a", 1, attrs={"href": source})
        yield text
        yield Token("link_close", "a", -1)


def _attribute(_tag: str, name: str, value: str) -> str | None:
    return value if name != "class" or _CLASS.fullmatch(value) else None


_PARSER = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": _MOST_NESTING})
_PARSER.enable(["table", "strikethrough"]).disable("reference")
setattr(_PARSER, _LINK_RULE, _may_link_to)  # what it does not take for a link stays as it was written
_PARSER.core.ruler.push("fit_to_page", _fit_to_page)

_RENDERER = RendererHTML()
_CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)
