"""The proposer's part and the resolver's part make the final document, and nothing else does (decision 0012)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab.edits import EditConflict, parse_edits
from collab.kind import Data, Kind
from collab.kinds import KINDS
from collab.passages import MOST_LINES, passages
from collab.patches import apply_edits, edits_between, read_between, rebase, text_change

MARKDOWN, CHECKLIST = KINDS.named("markdown"), KINDS.named("checklist")

lines = st.lists(st.text("ab -x", max_size=6), max_size=6).map("\n".join)
added = st.text("abc", min_size=1, max_size=8)


def edit_for(kind: Kind[Any], text: str) -> dict[str, str]:
    return {"append": text} if kind is MARKDOWN else {"add_item": text}


@given(st.sampled_from([MARKDOWN, CHECKLIST]), lines, lines, added, lines)
def test_proposer_part_then_resolver_part_is_the_final_data(
    kind: Kind[Any], made_on: str, newest: str, proposed: str, theirs: str
) -> None:
    base = kind.from_text(made_on)
    current = kind.from_text(newest, base)
    proposers = [edit_for(kind, proposed)]
    rebased = rebase(kind, base, current, parse_edits(proposers))
    final = text_change(kind, rebased, theirs)
    resolvers = json.loads(json.dumps(edits_between(rebased, final)))
    assert read_between(resolvers) == (None if rebased == final else (rebased, final))
    patch = [*proposers, *resolvers]
    assert apply_edits(kind, current, parse_edits(patch)) == final


@given(lines, lines)
def test_a_resolvers_part_fits_what_it_was_made_on_and_nothing_else(proposed: str, other: str) -> None:
    before: Data = MARKDOWN.from_text(proposed)
    part = edits_between(before, MARKDOWN.from_text(proposed + "!"))
    assert apply_edits(MARKDOWN, before, parse_edits(part))["text"] == proposed + "!"
    if other != proposed:
        with pytest.raises(EditConflict, match="holds something else"):
            apply_edits(MARKDOWN, MARKDOWN.from_text(other), parse_edits(part))


def at(text: str, now: str, *edits: dict[str, Any]) -> tuple[str, str]:
    return passages(MARKDOWN, {"text": text}, {"text": now}, edits)


PLAN = "\n".join(f"line {number}" for number in range(40))


def test_the_passage_is_what_changed_around_the_place_an_edit_names() -> None:
    now = PLAN.replace("line 3\n", "a third line\n").replace("line 30", "thirty")
    was, is_now = at(PLAN, now, {"find": "line 30", "replace": "x"})
    assert "line 30" in was
    assert "thirty" in is_now
    assert "third" not in is_now


def test_where_the_edits_name_no_place_that_changed_all_that_changed_is_shown() -> None:
    now = PLAN.replace("line 3\n", "a third line\n").replace("line 30", "thirty")
    was, is_now = at(PLAN, now, {"op": "replace", "path": "", "value": {"text": "x"}})
    assert "a third line" in is_now
    assert "thirty" in is_now
    assert was.splitlines() == [*(f"line {n}" for n in range(6)), "…", *(f"line {n}" for n in range(28, 33))]


def test_an_item_is_found_by_its_id() -> None:
    base = CHECKLIST.from_text("- [ ] Milk\n- [ ] Bread")
    now = CHECKLIST.from_text("- [ ] Oat milk\n- [ ] Bread", base)
    was, is_now = passages(CHECKLIST, base, now, [{"check": base["items"][0]["id"]}])
    assert (was.splitlines()[0], is_now.splitlines()[0]) == ("- [ ] Milk", "- [ ] Oat milk")


def test_a_long_passage_is_cut() -> None:
    _, is_now = at("", "\n".join(map(str, range(500))), {"append": "x"})
    assert is_now.splitlines()[-1] == "…"
    assert len(is_now.splitlines()) == MOST_LINES + 1
