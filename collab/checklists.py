"""The checklist kind: items that are done or not, each keeping its id while its text changes (DESIGN 4, Document).

Pure. As text it is a Markdown task list, ``- [ ] item`` and ``- [x] item``.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection
from hashlib import sha256
from itertools import count
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StrictBool, model_validator

from collab.edits import (
    AddItem,
    Check,
    EditConflict,
    EditModel,
    ItemEdit,
    RemoveItem,
    RenameItem,
    Uncheck,
    ambiguous,
    fold_item,
    not_found,
    quoted,
)
from collab.kind import Content, Kind, Row
from collab.text import clean_text

_TEXT_BYTES = 512 * 1024
_MOST_ITEMS = 2_000
_BOX = re.compile(r"\s*(?:[-*+]\s+)?\[([ xX])\](?:\s+|$)")
_BULLET = re.compile(r"^\s*[-*+](?:\s+|$)")


class Item(Content):
    """One line of a checklist."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]{1,16}$")]
    text: Annotated[str, AfterValidator(fold_item)]
    done: StrictBool = False


class ChecklistContent(Content):
    """Items in order."""

    items: Annotated[tuple[Item, ...], Field(max_length=_MOST_ITEMS)] = ()

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        if len({item.id for item in self.items}) < len(self.items):
            raise ValueError("two items have the same id")
        return self


def item_named(content: ChecklistContent, reference: str) -> Item:
    """Return the one item with this id, or else with this text, or else with this text in other letter case.

    Raises:
        EditConflict: there is none (``not_found``) or several (``ambiguous``).
    """
    folded = reference.casefold()
    by_id = [item for item in content.items if item.id == reference]
    by_text = [item for item in content.items if item.text == reference]
    found = by_id or by_text or [item for item in content.items if item.text.casefold() == folded]
    if not found:
        raise not_found(reference)
    if len(found) > 1:
        raise ambiguous(reference, len(found), "name the item by its id")
    return found[0]


def _write(content: ChecklistContent) -> str:
    return "".join(f"{_row_text(item)}\n" for item in content.items)


def _row_text(item: Item) -> str:
    return f"- [{'x' if item.done else ' '}] {item.text}"


def _rows(content: ChecklistContent) -> list[Row]:
    return [Row(item.id, _row_text(item)) for item in content.items]


def _read(text: str, old: ChecklistContent | None) -> ChecklistContent:
    """Read a task list. A line without a box is an item that is not done; a line without words is no item."""
    cleaned = clean_text(text, limit_bytes=_TEXT_BYTES, name="the checklist", allow_blank=True)
    lines = [_read_line(line) for line in cleaned.split("\n")]
    written = [(fold_item(words), done) for words, done in lines if words.strip()]
    ids = _kept_ids([words for words, _ in written], old.items if old else ())
    taken = {kept for kept in ids if kept}
    items = []
    for (words, done), kept in zip(written, ids, strict=True):
        id = kept or _new_id(words, taken)
        taken.add(id)
        items.append(Item(id=id, text=words, done=done))
    return ChecklistContent(items=tuple(items))


def _read_line(line: str) -> tuple[str, bool]:
    if box := _BOX.match(line):
        return line[box.end() :], box[1] != " "
    return _BULLET.sub("", line), False


def _kept_ids(texts: list[str], old: tuple[Item, ...]) -> list[str | None]:
    """Say which lines are which old items: those with the same text, then those reworded in the same place."""
    by_text: defaultdict[str, deque[str]] = defaultdict(deque)
    for item in old:
        by_text[item.text].append(item.id)
    ids = [by_text[text].popleft() if by_text[text] else None for text in texts]
    free = {id for left in by_text.values() for id in left}
    reworded = [item.id if item.id in free else None for item in old[: len(texts)]]
    reworded += [None] * (len(texts) - len(reworded))
    return [kept or again for kept, again in zip(ids, reworded, strict=True)]


def _new_id(text: str, taken: Collection[str]) -> str:
    # Made from what is there, so that the same edits on the same data give the same ids whenever they are applied.
    for attempt in count(len(taken)):
        id = sha256(f"{attempt}:{text}".encode()).hexdigest()[:8]
        if id not in taken:
            return id
    raise AssertionError("count never ends")


def _with(content: ChecklistContent, changed: Item) -> ChecklistContent:
    return ChecklistContent(items=tuple(changed if item.id == changed.id else item for item in content.items))


def _marked(content: ChecklistContent, reference: str, *, done: bool) -> ChecklistContent:
    item = item_named(content, reference)
    return _with(content, Item(id=item.id, text=item.text, done=done))


def _check(content: ChecklistContent, edit: Check) -> ChecklistContent:
    return _marked(content, edit.check, done=True)


def _uncheck(content: ChecklistContent, edit: Uncheck) -> ChecklistContent:
    return _marked(content, edit.uncheck, done=False)


def _add(content: ChecklistContent, edit: AddItem) -> ChecklistContent:
    id = _new_id(edit.add_item, {item.id for item in content.items})
    return ChecklistContent(items=(*content.items, Item(id=id, text=edit.add_item)))


def _remove(content: ChecklistContent, edit: RemoveItem) -> ChecklistContent:
    removed = item_named(content, edit.remove_item)
    return ChecklistContent(items=tuple(item for item in content.items if item.id != removed.id))


def _rename(content: ChecklistContent, edit: RenameItem) -> ChecklistContent:
    item = item_named(content, edit.rename_item)
    return _with(content, Item(id=item.id, text=edit.to, done=item.done))


def _pin(made_on: ChecklistContent, newest: ChecklistContent, edit: EditModel) -> EditModel:
    """Name an edit's item by its id, if it was there when the edit was made; refuse if others touched its text."""
    if not isinstance(edit, ItemEdit):
        return edit
    field = next(iter(type(edit).model_fields))
    try:
        meant = item_named(made_on, getattr(edit, field))
    except EditConflict:
        return edit  # an item that an earlier edit of the same list adds
    current = next((item for item in newest.items if item.id == meant.id), None)
    if current is None:
        raise EditConflict("changed_since", f"the document changed since: {quoted(meant.text)} was removed")
    if current.text != meant.text:
        raise EditConflict(
            "changed_since", f"the document changed since: {quoted(meant.text)} reads {quoted(current.text)}"
        )
    return edit.model_copy(update={field: meant.id})


CHECKLIST = Kind(
    name="checklist",
    model=ChecklistContent,
    write=_write,
    read=_read,
    start=lambda _title: ChecklistContent(),
    rows=_rows,
    edits={Check: _check, Uncheck: _uncheck, AddItem: _add, RemoveItem: _remove, RenameItem: _rename},
    pin=_pin,
)
