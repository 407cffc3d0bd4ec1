"""A suggested change in a few words."""

from __future__ import annotations

import pytest

from collab.edits import QUOTED_CHARS, parse_edits
from collab.gists import gist


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ([{"append": "- book the\n  hall\n"}], "adds “book the hall”"),
        ([{"after": "Dinner", "insert": "at eight"}], "adds “at eight”"),
        ([{"find": "for 12", "replace": "for 14"}], "puts “for 14” for “for 12”"),
        ([{"find": "for 12", "replace": " "}], "removes “for 12”"),
        ([{"check": "Ida"}], "checks off “Ida”"),
        ([{"uncheck": "Ida"}], "opens “Ida” again"),
        ([{"add_item": "Ida"}], "adds “Ida”"),
        ([{"remove_item": "Ida"}], "removes “Ida”"),
        ([{"rename_item": "Ida", "to": "Ina"}], "puts “Ina” for “Ida”"),
        ([{"op": "replace", "path": "", "value": {"text": "All of it"}}], ""),
        ([{"append": "x"}, {"append": "y"}, {"op": "remove", "path": "/items/0"}], "adds “x” and 1 more"),
    ],
)
def test_every_edit_is_told_in_a_few_words(edits, told):
    assert parse_edits(edits)
    assert gist(edits) == told


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ([], ""),
        ([{"archived": True}], ""),
        ([{"title": "Spring launch", "was": "Launch plan"}], "calls it “Spring launch”"),
        ([{"restored": 3}, {"title": "Plan", "was": "Launch plan"}], "brings version 3 back and 1 more"),
    ],
)
def test_what_a_patch_holds_beside_edits_is_told_too(edits, told):
    assert gist(edits) == told


def test_a_long_passage_is_cut():
    assert len(gist([{"append": "word " * 500}])) < QUOTED_CHARS + 10


def test_the_mark_of_a_list_or_a_heading_is_left_out_and_a_dash_inside_is_not():
    assert [gist([{"append": text}]) for text in ("- tea", "## Tea", "tea - green", "-5 degrees")] == [
        "adds “tea”", "adds “Tea”", "adds “tea - green”", "adds “-5 degrees”",
    ]  # fmt: skip
