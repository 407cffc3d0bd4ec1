"""The kinds of documents there are (DESIGN 4, table Document).

Pure. Adding a kind is building a :class:`~collab.kind.Kind` and registering it in :data:`KINDS`; its edits, its diff
and its downloads work from there.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from collab.checklists import CHECKLIST
from collab.edits import Append, InsertAfter, Replace, ambiguous, not_found
from collab.kind import LIMIT_BYTES, Content, Kind, Registry, Row
from collab.text import clean_text


def _document_text(value: str) -> str:
    return clean_text(value, limit_bytes=LIMIT_BYTES, name="the document", allow_blank=True)


class MarkdownContent(Content):
    """A text in Markdown."""

    text: Annotated[str, AfterValidator(_document_text)] = ""


def _rows(content: MarkdownContent) -> list[Row]:
    return [Row(line, line) for line in content.text.removesuffix("\n").split("\n")] if content.text else []


def _once(text: str, anchor: str) -> int:
    start = text.find(anchor)
    if start < 0:
        raise not_found(anchor)
    # Overlapping occurrences count as two places, which str.count alone would miss.
    if text.find(anchor, start + 1) >= 0:
        raise ambiguous(anchor, max(2, text.count(anchor)), "quote more of it")
    return start


def _replace(content: MarkdownContent, edit: Replace) -> MarkdownContent:
    start = _once(content.text, edit.find)
    return MarkdownContent(text=content.text[:start] + edit.replace + content.text[start + len(edit.find) :])


def _insert_after(content: MarkdownContent, edit: InsertAfter) -> MarkdownContent:
    end = _once(content.text, edit.after) + len(edit.after)
    return MarkdownContent(text=content.text[:end] + edit.insert + content.text[end:])


def _append(content: MarkdownContent, edit: Append) -> MarkdownContent:
    line_end = "\n" if content.text and not content.text.endswith("\n") else ""
    return MarkdownContent(text=content.text + line_end + edit.append)


MARKDOWN = Kind(
    name="markdown",
    model=MarkdownContent,
    write=lambda content: content.text,
    read=lambda text, _old: MarkdownContent(text=text),
    start=lambda title: MarkdownContent(text=f"# {title}\n" if title else ""),
    rows=_rows,
    edits={Replace: _replace, InsertAfter: _insert_after, Append: _append},
)

KINDS = Registry((MARKDOWN, CHECKLIST))
