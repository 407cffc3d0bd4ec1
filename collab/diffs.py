"""What changed between two versions of a document, line by line and word by word, for people to read (DESIGN 11).

Pure. The shortest edit is searched for only as far as a budget allows, so that no pair of documents keeps a reader
waiting (FAILURES M4); beyond it, what lies between the first and the last change is shown as one block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from collab.kind import Kind, Row

CONTEXT = 2
"""How many unchanged lines are shown around a change."""

MOST_LINES = 5_000
_LINE_BUDGET = 2_000_000
_MOST_LINE_STEPS = 1_000
_MOST_WORD_STEPS = 64
_ALIKE = 0.4

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PUNCTUATION = "!-/:-@\\[-`{-~\u2000-\u206f\u3000-\u303f"
_WORD = re.compile(rf"\s+|[{_CJK}{_PUNCTUATION}]|[^\s{_CJK}{_PUNCTUATION}]+")

Op = Literal["same", "add", "del", "change", "gap"]
Mark = Literal["same", "ins", "del"]
Span = tuple[Mark, str]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff.

    ``old_no`` and ``new_no`` count from 1 and are None on the side that lacks the line. A ``gap`` stands for
    ``skipped`` unchanged lines, the first of which has its numbers. Without the ``ins`` spans a line reads as it was,
    without the ``del`` spans as it is.
    """

    op: Op
    old_no: int | None
    new_no: int | None
    spans: tuple[Span, ...]
    skipped: int = 0


def diff_lines(kind: Kind[Any], old: object, new: object) -> list[DiffLine]:
    """Return the lines that differ between two versions, with two unchanged lines around each.

    Args:
        kind: the kind of the document.
        old: the data before.
        new: the data after.

    Returns:
        The lines in order; none when the versions read the same.

    Raises:
        BadData: one of them is not of this kind.
    """
    before, after = kind.rows(kind.parse(old)), kind.rows(kind.parse(new))
    lines = list(_lines(before, after))
    return list(_with_gaps(lines)) if any(line.op != "same" for line in lines) else []


def summary(diff: Sequence[DiffLine]) -> str:
    """Return a short sentence about a diff, as in "2 lines added, 1 removed"."""
    counts = [(sum(line.op == op for line in diff), verb) for op, verb in _VERBS]
    told = [f"{number} {verb}" for number, verb in counts if number]
    if not told:
        return "nothing changed"
    number, first_verb = told[0].split()
    return ", ".join([f"{number} {'line' if number == '1' else 'lines'} {first_verb}", *told[1:]])


def as_text(line: DiffLine) -> list[str]:
    """Return a line of a diff as plain text: what was behind a minus, what is behind a plus."""
    before = "".join(text for mark, text in line.spans if mark != "ins")
    after = "".join(text for mark, text in line.spans if mark != "del")
    match line.op:
        case "gap":
            return ["…"]
        case "same":
            return [f"  {after}"]
        case "add":
            return [f"+ {after}"]
        case "del":
            return [f"- {before}"]
        case "change":
            return [f"- {before}", f"+ {after}"]


_VERBS: tuple[tuple[Op, str], ...] = (("add", "added"), ("del", "removed"), ("change", "changed"))


def _lines(before: list[Row], after: list[Row]) -> Iterator[DiffLine]:
    at = (0, 0)
    for i, j in [*_matched_rows(before, after), (len(before), len(after))]:
        yield from _changed_run(before, after, at, (i, j))
        if i < len(before):
            yield _kept(before[i].text, after[j].text, i, j)
        at = (i + 1, j + 1)


def _matched_rows(before: list[Row], after: list[Row]) -> list[Pair]:
    size = len(before) + len(after)
    steps = 0 if max(len(before), len(after)) > MOST_LINES else min(_MOST_LINE_STEPS, _LINE_BUDGET // max(size, 1))
    return _matches([row.key for row in before], [row.key for row in after], steps)


def _kept(old: str, new: str, i: int, j: int) -> DiffLine:
    if old == new:
        return DiffLine("same", i + 1, j + 1, (("same", old),))
    return DiffLine("change", i + 1, j + 1, _word_spans(old, new))


def _changed_run(before: list[Row], after: list[Row], start: Pair, end: Pair) -> Iterator[DiffLine]:
    """Yield the lines between two matches: one line reworded is a change, any other is removed or added."""
    removed, added = list(range(start[0], end[0])), list(range(start[1], end[1]))
    gone: list[DiffLine] = []
    come: list[DiffLine] = []
    for i, j in zip(removed, added, strict=False):
        both = _kept(before[i].text, after[j].text, i, j)
        if _are_alike(both.spans):
            yield from (*gone, *come, both)
            gone, come = [], []
        else:
            gone.append(_removed(before[i].text, i))
            come.append(_added(after[j].text, j))
    gone += [_removed(before[i].text, i) for i in removed[len(added) :]]
    come += [_added(after[j].text, j) for j in added[len(removed) :]]
    yield from (*gone, *come)


def _removed(text: str, i: int) -> DiffLine:
    return DiffLine("del", i + 1, None, (("del", text),))


def _added(text: str, j: int) -> DiffLine:
    return DiffLine("add", None, j + 1, (("ins", text),))


def _with_gaps(lines: list[DiffLine]) -> Iterator[DiffLine]:
    near: set[int] = set()
    for at, line in enumerate(lines):
        if line.op != "same":
            near.update(range(at - CONTEXT, at + CONTEXT + 1))
    hidden: list[DiffLine] = []
    for at, line in enumerate(lines):
        if at in near:
            yield from _gap(hidden)
            hidden = []
            yield line
        else:
            hidden.append(line)
    yield from _gap(hidden)


def _gap(hidden: list[DiffLine]) -> list[DiffLine]:
    if len(hidden) <= 1:
        return hidden
    return [DiffLine("gap", hidden[0].old_no, hidden[0].new_no, (), len(hidden))]


def _word_spans(old: str, new: str) -> tuple[Span, ...]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    spans: list[Span] = []
    at = (0, 0)
    for i, j in [*_matches(before, after, _MOST_WORD_STEPS), (len(before), len(after))]:
        _extend(spans, "del", before[at[0] : i])
        _extend(spans, "ins", after[at[1] : j])
        _extend(spans, "same", before[i : i + 1])
        at = (i + 1, j + 1)
    return tuple(spans)


def _extend(spans: list[Span], mark: Mark, words: list[str]) -> None:
    if not words:
        return
    text = "".join(words)
    if spans and spans[-1][0] == mark:
        text = spans.pop()[1] + text
    spans.append((mark, text))


def _are_alike(spans: Sequence[Span]) -> bool:
    sizes = dict.fromkeys(("same", "ins", "del"), 0)
    for mark, text in spans:
        sizes[mark] += len("".join(text.split()))
    longer = sizes["same"] + max(sizes["ins"], sizes["del"])
    return longer > 0 and sizes["same"] >= _ALIKE * longer


def _matches(old: Sequence[str], new: Sequence[str], most_steps: int) -> list[Pair]:
    """Return pairs of equal places, in order: a longest such list if it is found within ``most_steps`` differences,
    else the common beginning and end."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    middle = _shortest(old[head : len(old) - tail], new[head : len(new) - tail], most_steps)
    return [
        *((n, n) for n in range(head)),
        *((head + i, head + j) for i, j in middle),
        *((len(old) - n, len(new) - n) for n in range(tail, 0, -1)),
    ]


def _shortest(old: Sequence[str], new: Sequence[str], most_steps: int) -> list[Pair]:
    """Return the matches of a shortest edit, after Myers: from each count of differences to the next, remember how far
    into ``old`` every diagonal gets. None are found when there are more than ``most_steps`` differences."""
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for steps in range(min(most_steps, len(old) + len(new)) + 1):
        trail.append({k: reach[k] for k in range(-steps - 1, steps + 2) if k in reach})
        for k in range(-steps, steps + 1, 2):
            i = reach[k + 1] if _goes_down(reach, k, steps) else reach[k - 1] + 1
            while i < len(old) and i - k < len(new) and old[i] == new[i - k]:
                i += 1
            reach[k] = i
            if i >= len(old) and i - k >= len(new):
                return _walk_back(trail, len(old), len(new))
    return []


def _goes_down(reach: dict[int, int], k: int, steps: int) -> bool:
    return k == -steps or (k != steps and reach[k - 1] < reach[k + 1])


def _walk_back(trail: list[dict[int, int]], i: int, j: int) -> list[Pair]:
    found: list[Pair] = []
    for steps in range(len(trail) - 1, -1, -1):
        reach, k = trail[steps], i - j
        down = _goes_down(reach, k, steps)
        from_i = reach[k + 1] if down else reach[k - 1]
        start = from_i if down else from_i + 1
        while i > max(start, 0) and j > 0:
            i, j = i - 1, j - 1
            found.append((i, j))
        i, j = from_i, from_i - (k + 1 if down else k - 1)
    return found[::-1]
