"""The audit carries edits out by code of its own; both must make the same of newer data (decision 0012)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.audit.proposed import Accepted, faults
from collab.edits import parse_edits
from collab.kind import Kind
from collab.kinds import KINDS
from collab.patches import apply_edits, edits_between, rebase

TEXT = KINDS.named("markdown").from_text("# Dinner\n\nBudget: 900\n\nSomewhere quiet.")
NEWER_TEXT = KINDS.named("markdown").from_text("# Dinner\n\nFor twelve.\n\nBudget: 900\n\nSomewhere quiet.\n")
LIST = KINDS.named("checklist").from_text("- [ ] Book a table\n- [x] Ask the band\n- [ ] Flowers")
NEWER_LIST = KINDS.named("checklist").from_text(
    "- [x] Pay\n- [x] Book a table\n- [ ] Ask the band\n- [ ] Flowers", LIST
)

ON_TEXT: list[list[dict[str, Any]]] = [
    [{"find": "900", "replace": "950"}],
    [{"after": "Budget: 900", "insert": " or so"}],
    [{"append": "Bring cake."}],
    [{"append": "Bring cake."}, {"append": "And candles."}, {"find": "cake", "replace": "a cake"}],
    [{"find": "Budget: 900\n\n", "replace": ""}],
]
ON_LIST: list[list[dict[str, Any]]] = [
    [{"check": "Flowers"}, {"uncheck": "ask the BAND"}],
    [{"check": LIST["items"][2]["id"]}],
    [{"add_item": "Candles"}, {"check": "Candles"}],
    [{"remove_item": "Book a table"}, {"add_item": "Book two tables"}],
    [{"rename_item": "Flowers", "to": "Roses"}, {"check": "Roses"}],
]
CASES = [
    *(("markdown", TEXT, NEWER_TEXT, edits) for edits in ON_TEXT),
    *(("checklist", LIST, NEWER_LIST, edits) for edits in ON_LIST),
]


def accepted(kind: Kind[Any], base: Any, before: Any, edits: list[dict[str, Any]]) -> Accepted:
    """Return a proposal of these edits as it is carried out on ``before``."""
    parsed = parse_edits(edits)
    return Accepted(
        change="edit", edits=edits, by_resolver=None, base=base, title="Dinner", data=apply_edits(kind, base, parsed),
        title_before="Dinner", data_before=before, patch=edits, title_made="Dinner",
        data_made=rebase(kind, base, before, parsed),
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "base", "newer", "edits"), CASES)
def test_what_edits_make_is_read_alike_on_the_same_and_on_newer_data(kind, base, newer, edits):
    for before in (base, newer):
        one = accepted(KINDS.named(kind), base, before, edits)
        assert faults(one) == ()
        assert len(faults(replace(one, data_made=before))) == 1
    assert len(faults(replace(one, data_made=one.data))) == 1


def test_whole_data_is_never_put_in_the_place_of_newer_data():
    edits = [{"op": "replace", "path": "", "value": TEXT}]
    one = accepted(KINDS.named("markdown"), TEXT, TEXT, edits)
    assert faults(one) == ()
    assert len(faults(replace(one, data_before=NEWER_TEXT))) == 1


def test_a_title_is_the_one_that_was_proposed_or_else_the_one_there_was():
    one = accepted(KINDS.named("markdown"), TEXT, TEXT, ON_TEXT[0])
    assert faults(replace(one, title_before="Supper", title_made="Supper")) == ()
    assert len(faults(replace(one, title_made="Supper"))) == 1
    renames = [{"title": "Supper", "was": "Dinner"}]
    renamed = replace(one, edits=renames, patch=renames, data_made=TEXT)
    assert len(faults(renamed)) == 1
    assert faults(replace(renamed, title_made="Supper")) == ()


def test_a_creation_is_the_document_that_was_proposed_and_an_archiving_the_one_there_was():
    one = accepted(KINDS.named("markdown"), TEXT, TEXT, ON_TEXT[0])
    created = replace(one, change="create", base=None, data=TEXT, title_before=None, data_before=None, data_made=TEXT)
    assert faults(created) == ()
    assert len(faults(replace(created, data_made=NEWER_TEXT))) == 1
    archived = replace(one, change="archive", edits=[{"archived": True}], patch=[{"archived": True}], data_made=TEXT)
    assert faults(archived) == ()
    assert len(faults(replace(archived, data_made=NEWER_TEXT))) == 1


def test_what_the_resolver_edited_goes_on_top_and_fits_nothing_else():
    one = accepted(KINDS.named("markdown"), TEXT, TEXT, ON_TEXT[0])
    mine = [*edits_between(one.data, NEWER_TEXT), {"title": "Supper", "was": "Dinner"}]
    edited = replace(one, by_resolver=mine, patch=[*one.edits, *mine], title_made="Supper", data_made=NEWER_TEXT)
    assert faults(edited) == ()
    assert len(faults(replace(edited, data_made=one.data))) == 1
    assert len(faults(replace(edited, patch=one.edits))) == 1
    assert len(faults(replace(edited, data=NEWER_TEXT))) == 1


def test_data_of_an_unknown_kind_is_judged_by_its_edits_alone():
    one = accepted(KINDS.named("markdown"), TEXT, TEXT, ON_TEXT[0])
    unknown = replace(one, base={"cells": [1]}, data_before={"cells": [2]}, data_made={"cells": [3]})
    assert faults(unknown) == ()
    assert len(faults(replace(unknown, patch=[]))) == 1


def test_rows_that_hold_something_else_are_named():
    one = accepted(KINDS.named("markdown"), TEXT, TEXT, ON_TEXT[0])
    assert len(faults(replace(one, data_made="nothing"))) == 1
