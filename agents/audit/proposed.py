"""INV8: what accepting a proposal made of its document is what was proposed, on the version before it. Pure.

Decision 0012: a proposal's edits are the revision's, then what its resolver changed, and nothing else. On the data that
it was made on they make what was proposed; on newer data they are carried out again, here by code of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

Edits: TypeAlias = Sequence[Mapping[str, Any]]
Items: TypeAlias = Sequence[Mapping[str, Any]]

UNTOLD = object()
"""What edits make of data of a kind that is not known here."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted proposal, and the version of its document that came of it.

    Attributes:
        change: ``create``, ``edit`` or ``archive``.
        edits: the change it proposed; ``by_resolver``: what its resolver changed on top of it, if anything.
        base: the data it was made on; ``title``, ``data``: what it proposed the document to be.
        title_before, data_before: the version before the one that came of it; None where that is the first.
        patch: the change as it was recorded; ``title_made``, ``data_made``: the version that came of it.
    """

    change: str
    edits: Edits
    by_resolver: Edits | None
    base: Any
    title: str
    data: Any
    title_before: str | None
    data_before: Any
    patch: Edits
    title_made: str
    data_made: Any


def faults(one: Accepted) -> tuple[str, ...]:
    """Return a sentence for each way in which what was made is not what was proposed and accepted."""
    try:
        return tuple(_faults(one))
    except (AttributeError, KeyError, TypeError) as error:
        return (f"what was proposed or made cannot be read: {error!r}",)


def _faults(one: Accepted) -> Iterator[str]:
    by_resolver = one.by_resolver or ()
    if [*one.edits, *by_resolver] != [*one.patch]:
        yield "the change that was made is not the one that was accepted"
    title, data = _title(one), _data(one)
    for part in by_resolver:
        if part.get("op") == "test" and _differ(data, part["value"]):
            yield "its resolver edited something other than what was proposed"
        data = part["value"] if part.get("op") == "replace" else data
        title = part.get("title", title)
    if title != one.title_made:
        yield f"the title that was accepted is {title}, the one that was made {one.title_made}"
    if _differ(data, one.data_made):
        yield "what was made is not what was proposed"


def _title(one: Accepted) -> str | None:
    kept = one.title if one.change == "create" else one.title_before
    return next((part["title"] for part in one.edits if "title" in part), kept)


def _data(one: Accepted) -> Any:
    """Return what was proposed, on the version before."""
    edits = [part for part in one.edits if "title" not in part]
    if one.change == "create":
        return one.data
    if one.change == "archive" or not edits:
        return one.data_before
    if one.data_before == one.base:
        return one.data
    match one.data_before:
        case {"text": str(text)}:
            return {"text": reduce(_text, edits, text)}
        case {"items": [*items]}:
            for edit in edits:
                items = [*_items(one.base["items"], items, edit)]
            return {"items": items}
    return UNTOLD


def _text(text: str, edit: Mapping[str, Any]) -> str:
    match edit:
        case {"find": passage, "replace": words}:
            return text.replace(passage, words, 1)
        case {"after": passage, "insert": words}:
            return text.replace(passage, f"{passage}{words}", 1)
        case {"append": words}:
            return f"{text}\n{words}" if text and not text.endswith("\n") else f"{text}{words}"
    return ""  # Nothing else may be carried out on newer data.


def _items(base: Items, items: Items, edit: Mapping[str, Any]) -> Items:
    match edit:
        case {"add_item": words}:
            return [*items, {"id": f"+{words}", "text": words, "done": False}]
        case {"check": name}:
            change: Mapping[str, Any] = {"done": True}
        case {"uncheck": name}:
            change = {"done": False}
        case {"rename_item": name, "to": words}:
            change = {"text": words}
        case {"remove_item": name}:
            change = {}
        case _:
            return []  # Nothing else may be carried out on newer data.
    meant = _id(name, base) or _id(name, items)
    changed = [{**item, **change} if item["id"] == meant else item for item in items]
    return changed if change else [item for item in items if item["id"] != meant]


def _id(name: str, items: Items) -> str | None:
    """Return the id of the item of this id, else of this text, else of this text in other letter case."""
    named = {item["text"].casefold(): item["id"] for item in items}
    exact = {item["text"]: item["id"] for item in items} | {item["id"]: item["id"] for item in items}
    return exact.get(name) or named.get(name.casefold())


def _differ(due: Any, made: Any) -> bool:
    return due is not UNTOLD and _told(due) != _told(made)


def _told(data: Any) -> Any:
    """What a document says: the id of an item that an edit adds is anyone's to choose."""
    items = data.get("items")
    return data if items is None else [(item["text"], item["done"]) for item in items]
