"""What the inbox's page shows: its rows with whose they are, and the workspaces to narrow it to (DESIGN 11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from collab import inbox, selectors
from collab.inbox import Cursor, Place, Settling, Waiting
from collab.models.threads import Thread
from collab.models.workspaces import Membership, Workspace
from collab.web.pages import SHARED
from collab.web.suggested import stuck
from permissions.actors import Actor, Person, chain
from permissions.decisions import accounts_of
from permissions.errors import NotFound
from permissions.grants import readable
from permissions.ids import new_id
from permissions.phrases import party_name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_MOMENT = 16
"""Digits of a moment in microseconds."""


@dataclass(frozen=True, slots=True)
class Face:
    """How a row shows who proposed or asked it: a letter in a shape, and whom they act for on its corner."""

    kind: str
    letter: str
    hue: int
    acts_for: str
    acts_for_hue: int


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that waits. ``command`` makes an act on it happen once, however often its form is sent."""

    waiting: Waiting
    face: Face
    workspace: str
    command: str


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one kind."""

    name: str
    heading: str
    settling: Settling | None
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Choice:
    """A workspace to narrow the inbox to."""

    id: UUID
    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A page of the inbox. ``next`` is the cursor of the page after it, empty on the last."""

    sections: Sequence[Section]
    next: str


def shown(page: inbox.Page, names: Mapping[UUID, str]) -> Shown:
    """Return a page as it is shown, in a number of queries that does not grow with its rows.

    Args:
        names: of the workspaces; where there is but one, rows do not name it.
    """
    waiting = [one for section in page.sections for one in section.waiting]
    faces, why = _faces(waiting), stuck([one.id for one in waiting if one.settles])
    told = names if len(names) > 1 else {}
    sections = [
        Section(
            section.kind.name,
            section.kind.heading,
            section.kind.settling,
            [
                Row(_as_it_is(one, why.get(one.id)), faces[one.id], told.get(one.workspace, ""), str(new_id()))
                for one in section.waiting
            ],
        )
        for section in page.sections
    ]
    return Shown(sections, written(page.next) if page.next else "")


def _as_it_is(waiting: Waiting, stuck: str | None) -> Waiting:
    """What does not fit any more can only be rejected, in its thread, where both texts are shown."""
    return replace(waiting, because=stuck, settles=False) if stuck else waiting


def workspace_names(reader: Person, ids: Iterable[UUID] = ()) -> dict[UUID, str]:
    """Return what a person knows workspaces by: those they may view, and of these ids those they see parts of."""
    seen = {workspace.id: workspace.name for workspace in selectors.workspaces_of(reader)}
    return {**dict.fromkeys(ids, SHARED), **seen}


def choices(count: inbox.Count, names: Mapping[UUID, str]) -> list[Choice]:
    """Return the workspaces in which something waits, by name."""
    found = [Choice(id, names.get(id, SHARED), number) for id, number in count.workspaces.items()]
    return sorted(found, key=lambda choice: (choice.name.casefold(), choice.id))


def workspace_beside(reader: Person, last: str) -> Workspace | None:
    """Return the workspace whose side bar stands beside the inbox: the one that was open last, else the first that the
    reader sees, else the first of which they see a thread; None where there is none."""
    found = selectors.workspaces_of(reader)
    if found:
        return next((one for one in found if str(one.id) == last), found[0])
    thread = readable(Thread.objects.select_related("workspace").order_by("pk"), reader).first()
    return thread.workspace if thread else None


def written(cursor: Cursor) -> str:
    """Return a cursor as an address carries it."""
    moment = (cursor.place.at - _EPOCH) // timedelta(microseconds=1)
    return f"{cursor.kind}.{moment}.{cursor.place.id.hex}"


def read(text: str) -> Cursor:
    """Return the cursor of an address.

    Raises:
        NotFound: it is none.
    """
    kind, _, rest = text.partition(".")
    moment, _, id = rest.partition(".")
    digits = moment.isascii() and moment.isdigit() and len(moment) <= _LONGEST_MOMENT
    if kind not in inbox.KINDS or not digits:
        raise NotFound
    try:
        return Cursor(kind, Place(_EPOCH + timedelta(microseconds=int(moment)), UUID(id)))
    except ValueError:
        raise NotFound from None


def _faces(waiting: Sequence[Waiting]) -> dict[UUID, Face]:
    accounts = {account for one in waiting for account in accounts_of(one.by)}
    names = selectors.names_of(accounts) if accounts else {}
    places = Membership.objects.filter(user__in=accounts, workspace__in={one.workspace for one in waiting})
    rows = places.values_list("workspace_id", "user_id", "place") if accounts else ()
    hues = {(workspace, user): selectors.hue_of(place) for workspace, user, place in rows}
    return {one.id: _face(one.by, one.workspace, names, hues) for one in waiting}


def _face(by: Actor, workspace: UUID, names: Mapping[UUID, str], hues: Mapping[tuple[UUID, UUID], int]) -> Face:
    first, *rest = chain(by)
    person = rest[-1] if rest else first
    hue = hues.get((workspace, person.id), 0) if isinstance(person, Person) else 0
    letters = [party_name(party, names)[:1].upper() for party in (first, *rest)]
    kind = type(first).__name__.lower()
    return Face(kind, letters[0], hue if kind != "agent" else 0, letters[1] if rest else "", hue)
