"""What the API answers, as its OpenAPI document describes it. An item's own members are those of docs/protocol.md."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Query
from pydantic import BaseModel, ConfigDict

MOST = 200
"""The most that one page holds."""

LONGEST_CURSOR = 200

Cursor = Annotated[str | None, Query(max_length=LONGEST_CURSOR, description="The `next` of an answer about it.")]


class Shape(BaseModel):
    """Something that is answered."""

    model_config = ConfigDict(extra="allow")


class Item(Shape):
    """The full view of one entity, as its reader may read it."""

    item: str
    id: str


class Allowed(Shape):
    """Whether the reader may do something, and why or why not."""

    ok: bool
    because: str


class Named(Shape):
    """Something by its id, and what it is called."""

    id: str
    name: str


class Start(Shape):
    """What this API is, and where to go on."""

    version: str
    openapi: str
    docs: str
    me: str
    document_kinds: list[str]


class Me(Shape):
    """Who asks: the client, whom it acts for, and what its token is for."""

    client: Named
    person: Named | None
    workspaces: list[str]
    expires_at: str


class WorkspaceLine(Named):
    """A workspace; of one that is not seen as a whole the name is not told."""

    whole: bool


class Workspaces(Shape):
    """The workspaces that the reader sees, or a part of which."""

    workspaces: list[WorkspaceLine]


class Member(Named):
    """Someone who holds grants in a workspace."""

    hue: int
    role: str | None


class Workspace(Named):
    """A workspace."""

    may: dict[str, Allowed]
    people: list[Member]
    agents: list[Member]


class ThreadLine(Shape):
    """A thread as a list shows it."""

    id: str
    title: str
    archived: bool
    head_seq: int
    unread: int
    last_at: str


class Threads(Shape):
    """Threads, the newest first; ``next`` is the cursor of older ones, null where there are none."""

    threads: list[ThreadLine]
    next: str | None


class DocumentLine(Shape):
    """A document as a list shows it."""

    id: str
    title: str
    kind: str
    version: int
    archived: bool
    policy: str


class Documents(Shape):
    """Documents, the newest first; ``next`` is the cursor of older ones, null where there are none."""

    documents: list[DocumentLine]
    next: str | None


class Thread(Shape):
    """A thread: what it is, who is in it, what stands open. ``cursor`` is where its log ends."""

    thread: Item
    workspace: str
    may: dict[str, Allowed]
    people: list[Member]
    standing: list[Item]
    head_seq: int
    cursor: str


class Items(Shape):
    """Items, the oldest first; ``next`` is the cursor of older ones, null where there are none."""

    items: list[Item]
    next: str | None


class Event(Shape):
    """One entry of a thread's log, with the current view of every entity it touches (docs/protocol.md)."""

    type: Literal["event"]
    seq: int
    event: str
    at: str
    actor: dict[str, Any]
    turn: str | None
    data: dict[str, Any]
    items: list[Item]


class Events(Shape):
    """Entries of a log, the oldest first; ``next`` is where to go on, also where there are none yet."""

    events: list[Event]
    next: str
    head_seq: int


class Said(Shape):
    """One entry of a log, as a sentence; ``who`` is empty where the sentence says it."""

    seq: int
    at: str
    event: str
    who: str
    says: str
    turn: str | None


class Timeline(Shape):
    """Entries of a log as people read it, the oldest first; ``next`` is the cursor of older ones."""

    entries: list[Said]
    next: str | None


class Document(DocumentLine):
    """A document with its text, as it is or was."""

    workspace: str
    shown_version: int
    text: str
    may: dict[str, Allowed]


class Version(Shape):
    """One version of a document: who made it and what it went through, and what it changed."""

    version: int
    by: str
    at: str
    change: str
    thread: Named | None


class Versions(Shape):
    """Versions, the newest first; ``next`` is the version before which there are older ones."""

    versions: list[Version]
    next: int | None


class Line(Shape):
    """One line of what differs: its number before and after, and its text in pieces, each marked."""

    op: str
    old: int | None
    new: int | None
    spans: list[tuple[str, str]]
    skipped: int


class Compared(Shape):
    """What differs between two versions, the older first."""

    older: Version
    newer: Version
    titles: tuple[str, str] | None
    told: str
    lines: list[Line]


class Hit(Shape):
    """Something found."""

    id: str
    title: str
    excerpt: str
    by: str | None
    thread: str | None
    seq: int | None


class Found(Shape):
    """What was found of one kind, the newest first; ``next`` is the ``before`` of older ones."""

    hits: list[Hit]
    total: int
    more_than_total: bool
    next: str | None


class Party(Shape):
    """One party of whom a decision depends on."""

    name: str
    part: str
    level: str
    findings: list[str]
    decides: bool


class Why(Shape):
    """A decision, and why it is as it is."""

    level: str
    because: str
    parties: list[Party]
    bounds: list[str]
    ways: list[list[str]]
    instead: list[str]


class WaitingLine(Shape):
    """Something that waits, and whose turn it is to do what."""

    kind: str
    id: str
    workspace: str
    thread: str
    thread_title: str
    title: str
    text: str
    by: str
    because: str
    at: str
    until: str | None


class Inbox(Shape):
    """What waits for the person that the client acts for, in what the client sees."""

    waiting: list[WaitingLine]
    next: str | None
