"""Documents as resources of ``/mcp``: their addresses, their lists, their texts (DESIGN 11)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from agents.clients import reads
from collab.errors import Invalid
from collab.models.documents import Document
from permissions.actors import Actor
from permissions.errors import NotFound
from permissions.grants import readable

PAGE = 100
"""Resources that one list returns."""

MEDIA_TYPE = "text/markdown"
TEMPLATE = "accord://documents/{document}/versions/{version}"

_ADDRESS = re.compile(r"accord://documents/([0-9a-f-]{36})(?:/versions/([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Address:
    """A document, or a version that it had."""

    document: UUID
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A document as a list of resources shows it."""

    address: str
    title: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some documents, the newest first; ``next`` is the cursor of older ones."""

    lines: list[Line]
    next: str | None


def address_of(document: UUID) -> str:
    """Return the address of a document."""
    return f"accord://documents/{document}"


def read_address(text: str) -> Address:
    """Return what an address names.

    Raises:
        NotFound: it is no address of a document.
    """
    found = _ADDRESS.fullmatch(text)
    try:
        return Address(UUID(found[1]), int(found[2]) if found[2] else None) if found else _nowhere()
    except ValueError:
        raise NotFound from None


def listed(actor: Actor, cursor: str | None) -> Page:
    """Return the documents that an actor sees, in every workspace, the newest first, in at most two queries.

    Args:
        cursor: the ``next`` of the page before.

    Raises:
        Invalid: the cursor is none of a list of theirs.
    """
    rows = readable(Document.objects.filter(archived_at=None), actor)
    if cursor is not None:
        rows = rows.filter(pk__lt=_last(actor, cursor))
    found = list(rows.order_by("-pk").values_list("pk", "title")[: PAGE + 1])
    lines = [Line(address_of(id), title) for id, title in found[:PAGE]]
    return Page(lines, str(found[PAGE - 1][0]) if len(found) > PAGE else None)


def text_of(actor: Actor, address: str) -> str:
    """Return the text at an address.

    Raises:
        NotFound: there is no such document or version, or the actor may not view it.
    """
    named = read_address(address)
    text: str = reads.document(actor, named.document, version=named.version)["text"]
    return text


def version_of(actor: Actor, address: str) -> tuple[UUID, int]:
    """Return the document at an address and its version.

    Raises:
        NotFound: as for :func:`text_of`; also an earlier version, which never changes.
    """
    named = read_address(address)
    if named.version is not None:
        raise NotFound("What a document said at a version never changes.")
    return named.document, reads.document(actor, named.document)["version"]


def _last(actor: Actor, cursor: str) -> UUID:
    try:
        last = UUID(cursor)
    except ValueError:
        raise Invalid("This cursor is of no list of yours.") from None
    if not readable(Document.objects.filter(pk=last), actor).exists():
        raise Invalid("This cursor is of no list of yours.")
    return last


def _nowhere() -> Address:
    raise NotFound
