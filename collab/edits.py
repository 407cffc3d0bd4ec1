"""What a model, a client or a person may send to change part of a document (DESIGN 7).

Pure. :data:`Edit` is a closed union told apart by its keys; every member forbids what it does not know. Which edits a
document takes is its kind's to say (``collab.kinds``); applying them is ``collab.patches``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from collab.canonical import check_json
from collab.errors import first_fault
from collab.text import BadText, clean_line, clean_text

EDIT_BYTES = 256 * 1024
MOST_EDITS = 200
ITEM_BYTES = 2_000
QUOTED_CHARS = 80


class EditRefused(ValueError):
    """Edits were refused and nothing changed. ``code`` is stable: ``bad_edit`` (not an edit), ``wrong_kind`` (not for
    this kind of document) or ``bad_result`` (what would come out is no such document)."""

    def __init__(self, code: str, because: str) -> None:
        super().__init__(because)
        self.code = code
        self.because = because


class EditConflict(EditRefused):
    """An edit does not fit the document as it is. ``code`` is ``not_found``, ``ambiguous`` or ``changed_since``."""


def not_found(what: str) -> EditConflict:
    """Return the conflict of an anchor or item that is not in the document."""
    return EditConflict("not_found", f"not found: {quoted(what)}")


def ambiguous(what: str, times: int, advice: str) -> EditConflict:
    """Return the conflict of an anchor or item that names several places, and how to name one."""
    return EditConflict("ambiguous", f"{quoted(what)} occurs {times} times: {advice}")


def quoted(text: str) -> str:
    """Return a passage in quotes, shortened, for a sentence about it."""
    return f"“{text if len(text) <= QUOTED_CHARS else text[: QUOTED_CHARS - 1] + '…'}”"


def fold_item(value: str) -> str:
    """Return an item's text as it is stored: one line, whitespace folded.

    Raises:
        BadText: it is blank, too long, or holds a character no database keeps.
    """
    return " ".join(clean_text(value, limit_bytes=ITEM_BYTES, name="the item").split())


def _piece(value: object) -> str:
    return clean_text(value, limit_bytes=EDIT_BYTES, name="the edit", allow_blank=True)


def _anchor(value: object) -> str:
    piece = _piece(value)
    if not piece:
        raise BadText("blank", "the passage is empty")
    return piece


def _reference(value: object) -> str:
    return " ".join(_anchor(value).split())


def _place(value: object) -> str:
    return clean_line(value, name="the path", limit_chars=1_000, allow_blank=True)


def _json(value: JsonValue) -> JsonValue:
    check_json(value)
    return value


Piece = Annotated[str, BeforeValidator(_piece)]
Anchor = Annotated[str, BeforeValidator(_anchor)]
ItemText = Annotated[str, AfterValidator(fold_item)]
ItemRef = Annotated[str, BeforeValidator(_reference), Field(description="an item's id or its whole text")]
Place = Annotated[str, BeforeValidator(_place)]


class EditModel(BaseModel):
    """What every edit has in common: it is frozen and knows all its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Replace(EditModel):
    """Put ``replace`` in the place of the one occurrence of ``find``."""

    find: Anchor
    replace: Piece


class InsertAfter(EditModel):
    """Put ``insert`` right behind the one occurrence of ``after``."""

    after: Anchor
    insert: Anchor


class Append(EditModel):
    """Put ``append`` at the end, on a line of its own."""

    append: Anchor


class Check(EditModel):
    """Mark one item done."""

    check: ItemRef


class Uncheck(EditModel):
    """Mark one item not done."""

    uncheck: ItemRef


class AddItem(EditModel):
    """Add an item at the end."""

    add_item: ItemText


class RemoveItem(EditModel):
    """Remove one item."""

    remove_item: ItemRef


class RenameItem(EditModel):
    """Give one item another text; it stays the same item."""

    rename_item: ItemRef
    to: ItemText


class PatchOperation(EditModel):
    """One operation of a JSON Patch (RFC 6902) on the document's data."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: Place
    from_: Place | None = Field(default=None, alias="from")
    value: Annotated[JsonValue, AfterValidator(_json)] = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        given = self.model_fields_set
        if self.op in {"add", "replace", "test"} and "value" not in given:
            raise ValueError(f"{self.op} needs a value")
        if self.op in {"move", "copy"} and self.from_ is None:
            raise ValueError(f"{self.op} needs from")
        return self


ItemEdit = Check | Uncheck | RemoveItem | RenameItem

_SHAPES: tuple[type[EditModel], ...] = (
    Replace, InsertAfter, Append, Check, Uncheck, AddItem, RemoveItem, RenameItem, PatchOperation
)  # fmt: skip
_TAGS = {next(iter(shape.model_fields)): shape.__name__ for shape in _SHAPES}


def _shape_of(value: Any) -> str | None:
    if isinstance(value, EditModel):
        return type(value).__name__
    if isinstance(value, dict):
        return next((tag for key, tag in _TAGS.items() if key in value), None)
    return None


Edit = Annotated[
    Annotated[Replace, Tag("Replace")]
    | Annotated[InsertAfter, Tag("InsertAfter")]
    | Annotated[Append, Tag("Append")]
    | Annotated[Check, Tag("Check")]
    | Annotated[Uncheck, Tag("Uncheck")]
    | Annotated[AddItem, Tag("AddItem")]
    | Annotated[RemoveItem, Tag("RemoveItem")]
    | Annotated[RenameItem, Tag("RenameItem")]
    | Annotated[PatchOperation, Tag("PatchOperation")],
    Discriminator(
        _shape_of,
        custom_error_type="not_an_edit",
        custom_error_message=f"not an edit: one starts with {', '.join(_TAGS)}",
    ),
]

_EDITS: TypeAdapter[list[Edit]] = TypeAdapter(Annotated[list[Edit], Field(min_length=1, max_length=MOST_EDITS)])


def parse_edits(value: object) -> tuple[Edit, ...]:
    """Read the list of edits someone sent.

    Args:
        value: a list of 1 to 200 objects, each with the keys of one edit and no others.

    Raises:
        EditRefused: it is no such list (``bad_edit``); the reason names the place and the fault.
    """
    try:
        return tuple(_EDITS.validate_python(value))
    except ValidationError as error:
        raise EditRefused("bad_edit", first_fault(error)) from error
