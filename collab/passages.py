"""The passage that a change was made on, and what it reads by now, where the change does not fit any more. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from collab.diffs import DiffLine, diff_lines
from collab.kind import Kind

MOST_LINES = 40
"""Lines shown of each side."""

_ANCHORS = ("find", "after", "check", "uncheck", "remove_item", "rename_item")


def passages(kind: Kind[Any], made_on: object, newest: object, edits: Iterable[dict[str, Any]]) -> tuple[str, str]:
    """Return the passage that edits were made on, and the same passage in newer data.

    It is what changed around the places that the edits name; all that changed, where they name none of it.

    Args:
        kind: the kind of the document.
        made_on: the data the edits were made on.
        newest: the data by now.
        edits: as they are stored.

    Returns:
        Both texts, at most ``MOST_LINES`` lines each; two empty ones when the versions read the same.

    Raises:
        BadData: one of them is not of this kind.
    """
    runs = groupby(diff_lines(kind, made_on, newest), key=lambda line: line.op == "gap")
    hunks = [list(run) for is_gap, run in runs if not is_gap]
    named = {row.key: row.text for row in kind.rows(kind.parse(made_on))}
    anchors = [named.get(edit[key], edit[key]) for edit in edits for key in _ANCHORS if key in edit]
    wanted = {line.strip() for anchor in anchors for line in anchor.split("\n") if line.strip()}
    touched = [hunk for hunk in hunks if any(_names(line, wanted) for line in hunk)]
    shown = touched or hunks
    return _side(shown, without="ins"), _side(shown, without="del")


def _names(line: DiffLine, wanted: set[str]) -> bool:
    if line.op not in {"del", "change"}:
        return False
    text = _text(line, without="ins")
    return any(piece in text for piece in wanted)


def _side(hunks: Sequence[Sequence[DiffLine]], *, without: str) -> str:
    absent = "add" if without == "ins" else "del"
    texts: list[str] = []
    for hunk in hunks:
        texts += ["…"] if texts else []
        texts += [_text(line, without=without) for line in hunk if line.op != absent]
    return "\n".join([*texts[:MOST_LINES], *(["…"] if len(texts) > MOST_LINES else [])])


def _text(line: DiffLine, *, without: str) -> str:
    return "".join(text for mark, text in line.spans if mark != without)
