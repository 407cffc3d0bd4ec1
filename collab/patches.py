"""Changing a document's data: edits applied whole or not at all, and applied again on newer data (DESIGN 4 and 7).

Pure. What is refused says which passage or item, so that a model or a person can quote it better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import groupby
from typing import Any

import jsonpatch
from jsonpointer import JsonPointerException
from pydantic import ValidationError

from collab.canonical import BadJson, canonical
from collab.edits import Edit, EditConflict, EditRefused, PatchOperation, quoted
from collab.errors import first_fault
from collab.kind import LIMIT_BYTES, BadData, Data, Kind

_MOST_JSON_CHARS = 4 * LIMIT_BYTES


def apply_edits(kind: Kind[Any], data: object, edits: Iterable[Edit]) -> Data:
    """Return the data with every edit applied in order, or refuse them all.

    Args:
        kind: the kind of the document.
        data: the document's data; it is not changed.
        edits: what ``collab.edits.parse_edits`` read.

    Raises:
        EditConflict: an edit does not fit: its passage or item is not there, or is there more than once.
        EditRefused: an edit is not for this kind, or what would come out is no such document.
        BadData: the data itself is not of this kind.
    """
    current = kind.check(data)
    for is_patch, run in groupby(edits, key=_is_patch):
        apply_run = _patched if is_patch else _edited
        try:
            current = apply_run(kind, current, run)
        except ValidationError as error:
            raise EditRefused("bad_result", first_fault(error)) from error
        except (BadData, BadJson) as error:
            raise EditRefused("bad_result", error.because) from error
    return current


def text_change(kind: Kind[Any], old: object, new_text: str) -> Data:
    """Return the data after a person saved the document's whole text; items that stayed keep their ids.

    Raises:
        BadData: the text cannot be a document of this kind, or the old data is none.
    """
    return kind.from_text(new_text, old)


def replaced(data: Data) -> dict[str, Any]:
    """Return the edit that puts whole data in the place of what was there."""
    return {"op": "replace", "path": "", "value": data}


def edits_between(before: Data, after: Data) -> list[dict[str, Any]]:
    """Return the edits that make ``after`` of ``before`` and of nothing else; none where they are alike."""
    return [] if before == after else [{"op": "test", "path": "", "value": before}, replaced(after)]


def read_between(edits: Iterable[dict[str, Any]]) -> tuple[Data, Data] | None:
    """Return what :func:`edits_between` was given, or None where the edits change no data."""
    parts = {edit["op"]: edit["value"] for edit in edits if "op" in edit}
    return (parts["test"], parts["replace"]) if parts else None


def rebase(kind: Kind[Any], base: object, theirs: object, edits: Sequence[Edit]) -> Data:
    """Apply edits that were made on ``base`` to the newer data ``theirs``.

    A passage or item that is still there once takes the edit, wherever it moved to. One that changed is a conflict, and
    so is a JSON Patch on any change: its places are positions, which may mean something else by then.

    Raises:
        EditConflict: an edit does not fit the newer data (``changed_since``, and which passage), or did not fit
            ``base`` in the first place (``not_found``, ``ambiguous``).
        EditRefused, BadData: as for :func:`apply_edits`.
    """
    made_on, newest = kind.parse(base), kind.parse(theirs)
    mine = apply_edits(kind, base, edits)
    if made_on == newest:
        return mine
    if any(map(_is_patch, edits)):
        raise EditConflict("changed_since", f"the document changed since, and {_why_not(edits)}")
    pinned = [kind.pin(made_on, newest, edit) for edit in edits]
    try:
        return apply_edits(kind, theirs, pinned)
    except EditConflict as error:
        raise EditConflict("changed_since", f"the document changed since: {error.because}") from error


def _why_not(edits: Sequence[Edit]) -> str:
    if all(isinstance(edit, PatchOperation) and edit.path == "" for edit in edits):
        return "this would replace all of it"
    return "a JSON Patch goes by position: read it again"


def _is_patch(edit: Edit) -> bool:
    return isinstance(edit, PatchOperation)


def _edited(kind: Kind[Any], data: Data, edits: Iterable[Edit]) -> Data:
    content = kind.parse(data)
    for edit in edits:
        change = kind.edits.get(type(edit))
        if change is None:
            takes = ", ".join(next(iter(shape.model_fields)) for shape in kind.edits)
            raise EditRefused("wrong_kind", f"a {kind.name} document takes {takes} or a JSON Patch")
        content = change(content, edit)
    return kind.dump(content)


def _patched(kind: Kind[Any], data: Data, edits: Iterable[Edit]) -> Data:
    current: object = deepcopy(data)
    for edit in edits:
        operation = edit.model_dump(mode="json", exclude_unset=True)
        _require_scope(kind, operation)
        current = _operated(current, operation)
        # A copy of a copy doubles: measured before the next one.
        if operation["op"] == "copy" and len(canonical(current)) > _MOST_JSON_CHARS:
            raise EditRefused("bad_result", "the document would be too long")
    return kind.check(current)


def _require_scope(kind: Kind[Any], operation: dict[str, Any]) -> None:
    places = {operation["path"], operation.get("from") or ""}
    tops = {place.split("/")[1] for place in places if place.startswith("/")}
    if operation["path"] == "" and isinstance(operation.get("value"), dict):
        tops |= operation["value"].keys()
    if strange := sorted(tops - kind.model.model_fields.keys()):
        what = quoted(strange[0])
        raise EditRefused("out_of_scope", f"a change touches its document only, and {what} is no part of it")


def _operated(document: object, operation: dict[str, Any]) -> object:
    path = operation["path"]
    try:
        result: object = jsonpatch.JsonPatch([operation]).apply(document, in_place=True)
    except jsonpatch.JsonPatchTestFailed as error:
        raise EditConflict("changed_since", f"the document holds something else at {path or 'its root'}") from error
    except (jsonpatch.JsonPatchException, JsonPointerException, TypeError) as error:
        raise EditConflict("not_found", f"{operation['op']} does not fit at {path or 'its root'}") from error
    return result
