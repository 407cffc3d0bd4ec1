"""Two versions of a document side by side, and one that was: what pages show of a document's past (DESIGN 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collab.diffs import DiffLine, diff_lines, summary
from collab.errors import Invalid
from collab.kinds import KINDS
from collab.models.documents import Document, Revision
from collab.web.markdown import render
from collab.web.versions import Version, told_by
from permissions.actors import Actor
from permissions.errors import NotFound

MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two versions; ``titles`` are what each was called, where that differs."""

    older: Version
    newer: Version
    lines: Sequence[DiffLine]
    told: str
    titles: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A version as it was: its title and what it said (``items`` of a checklist, else ``html``)."""

    version: Version
    title: str
    text: str
    html: str
    items: Sequence[Any] | None


def version_number(text: str, default: int) -> int:
    """Read a version's number out of an address; ``default`` where it names none.

    Raises:
        Invalid: it is no whole number, or one too long to be a version's.
    """
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise Invalid("A version is a whole number, like 3.")
    return int(text)


def comparison(actor: Actor, document: Document, one: int, other: int) -> Comparison:
    """Compare two versions of a document that the actor was let see, the older first, whichever is named first.

    Raises:
        NotFound: the document has no such version.
    """
    new, old = (_revision(document, number) for number in sorted((one, other), reverse=True))
    older, newer = told_by(actor, document, [old, new])
    lines = diff_lines(KINDS.named(document.kind), old.data, new.data)
    titles = None if old.title == new.title else (old.title, new.title)
    told = summary(lines)
    return Comparison(older, newer, lines, f"{told[:1].upper()}{told[1:]}.", titles)


def earlier(actor: Actor, document: Document, number: int) -> Earlier:
    """Return one version of a document that the actor was let see.

    Raises:
        NotFound: the document has no such version.
    """
    row = _revision(document, number)
    text = text_of(document, row.data)
    html, items = shown(document, row.data)
    return Earlier(told_by(actor, document, [row])[0], row.title, text, html, items)


def text_at(document: Document, number: int) -> str:
    """Return the text of one version. Raises as :func:`earlier`."""
    if number == document.version:
        return text_of(document, document.data)
    return text_of(document, _revision(document, number).data)


def text_of(document: Document, data: Any) -> str:
    """Return data of a document's kind as text."""
    return KINDS.named(document.kind).to_text(data)


def shown(document: Document, data: Any) -> tuple[str, Sequence[Any] | None]:
    """Return data of a document's kind as a page shows it: rendered, or the items of a checklist."""
    items = data["items"] if document.kind == "checklist" else None
    return "" if items is not None else render(text_of(document, data)), items


def _revision(document: Document, number: int) -> Revision:
    found = Revision.objects.filter(document=document, version=number).first()
    if found is None:
        raise NotFound(f"{document.title} has no version {number}; it is at version {document.version}.")
    return found
