"""What a kind of document is: what it holds, how it reads as text, and which edits it takes (DESIGN 4, Document).

Pure. A kind's content is a frozen pydantic model; everywhere else a document's data is the JSON object of that
model, as the database keeps it. The kinds there are stand in ``collab.kinds``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from collab.edits import EditModel
from collab.errors import first_fault
from collab.text import BadText

LIMIT_BYTES = 256 * 1024
"""The most a document may take as text, in bytes of UTF-8."""

MOST_TOLD = 40
"""Characters of an unknown kind's name that its refusal repeats."""

Data = dict[str, Any]
"""A document's data: a JSON object."""


class BadData(ValueError):
    """Data is not what its kind holds. ``code`` is ``bad_data`` or ``too_long``."""

    def __init__(self, code: str, because: str) -> None:
        super().__init__(because)
        self.code = code
        self.because = because


class UnknownKind(LookupError):
    """There is no such kind of document."""


class Content(BaseModel):
    """What every kind's content has in common: it is frozen and knows all its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


ContentT = TypeVar("ContentT", bound=Content)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a document as a diff shows it. Rows with one ``key`` are the same row, whatever their text."""

    key: str
    text: str


def _as_it_is(_made_on: Content, _newest: Content, edit: Any) -> Any:
    return edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[ContentT]):
    """One kind of document.

    Attributes:
        name: its stable name, a word.
        model: its content.
        write: content to text, which is Markdown: what the model reads and a download holds.
        read: text to content, given the content it replaces, so that what stayed keeps its identity.
        start: the content of a new document with this title.
        rows: the content line by line, for diffs.
        edits: the edits it takes beside JSON Patch, and how each makes new content of old.
        pin: given the content an edit was made on and the newer content, the edit that means the same place there;
            raises ``EditConflict`` when that place changed.
    """

    name: str
    model: type[ContentT]
    write: Callable[[ContentT], str]
    read: Callable[[str, ContentT | None], ContentT]
    start: Callable[[str], ContentT]
    rows: Callable[[ContentT], list[Row]]
    edits: Mapping[type[EditModel], Callable[[ContentT, Any], ContentT]]
    pin: Callable[[ContentT, ContentT, Any], Any] = _as_it_is

    def parse(self, data: object) -> ContentT:
        """Return the content that the data holds.

        Raises:
            BadData: the data is not of this kind, or longer than a document may be.
        """
        try:
            content = self.model.model_validate(data)
        except ValidationError as error:
            raise BadData("bad_data", f"not a {self.name} document: {first_fault(error)}") from error
        size = len(self.write(content).encode())
        if size > LIMIT_BYTES:
            raise BadData("too_long", f"the document takes {size:,} bytes; at most {LIMIT_BYTES:,} fit")
        return content

    def check(self, data: object) -> Data:
        """Return the data as it is stored. Raises as :meth:`parse`."""
        return self.parse(data).model_dump(mode="json")

    def to_text(self, data: object) -> str:
        """Return the document as text. Raises as :meth:`parse`."""
        return self.write(self.parse(data))

    def from_text(self, text: str, old: object = None) -> Data:
        """Return the data that a text holds.

        Args:
            text: what a person or a model wrote.
            old: the data it replaces, if any, so that items that stayed keep their ids.

        Raises:
            BadData: the text cannot be a document of this kind.
        """
        before = None if old is None else self.parse(old)
        try:
            content = self.read(text, before)
        except ValidationError as error:
            raise BadData("bad_data", f"not a {self.name} document: {first_fault(error)}") from error
        except BadText as error:
            raise BadData("bad_data", error.because) from error
        return self.dump(content)

    def dump(self, content: ContentT) -> Data:
        """Return content as data. Raises :class:`BadData` when it is longer than a document may be."""
        return self.check(content.model_dump(mode="json"))

    def empty(self, title: str) -> Data:
        """Return the data of a new document with this title."""
        return self.dump(self.start(title))


class Registry:
    """The kinds there are, by name."""

    def __init__(self, kinds: Iterable[Kind[Any]] = ()) -> None:
        self._kinds: dict[str, Kind[Any]] = {}
        for kind in kinds:
            self.register(kind)

    def register(self, kind: Kind[Any]) -> None:
        """Add a kind.

        Raises:
            ValueError: another kind has this name.
        """
        if kind.name in self._kinds:
            raise ValueError(f"there is a kind {kind.name} already")
        self._kinds[kind.name] = kind

    def named(self, name: str) -> Kind[Any]:
        """Return the kind of this name.

        Raises:
            UnknownKind: there is none.
        """
        try:
            return self._kinds[name]
        except KeyError:
            raise UnknownKind(f"no kind of document is called {name[:MOST_TOLD]!a}") from None

    def names(self) -> tuple[str, ...]:
        """Return the names of all kinds, in the order they were registered."""
        return tuple(self._kinds)
