"""Edits fit or change nothing, newer data takes them where it can, and people read what changed."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collab.canonical import canonical
from collab.diffs import DiffLine, diff_lines, summary
from collab.edits import EditConflict, EditRefused, PatchOperation, Replace, parse_edits
from collab.kind import BadData
from collab.kinds import KINDS, MARKDOWN
from collab.patches import apply_edits, rebase, text_change

CHECKLIST = KINDS.named("checklist")
PLAN = {"text": "# Launch\n\nShip on Friday.\nTell the press.\n"}
SHOPPING = {
    "items": [
        {"id": "a1", "text": "Milk", "done": False},
        {"id": "b2", "text": "Tea", "done": True},
        {"id": "c3", "text": "Bread", "done": False},
    ]
}


def edited(text: str, *edits: dict[str, Any]) -> str:
    return str(apply_edits(MARKDOWN, {"text": text}, parse_edits(list(edits)))["text"])


def listed(*edits: dict[str, Any]) -> list[str]:
    return CHECKLIST.to_text(apply_edits(CHECKLIST, SHOPPING, parse_edits(list(edits)))).splitlines()


def conflict(kind: Any, data: object, *edits: dict[str, Any]) -> EditConflict:
    with pytest.raises(EditConflict) as refused:
        apply_edits(kind, data, parse_edits(list(edits)))
    return refused.value


def refusal(kind: Any, data: object, *edits: dict[str, Any]) -> EditRefused:
    with pytest.raises(EditRefused) as refused:
        apply_edits(kind, data, parse_edits(list(edits)))
    return refused.value


# Anchored edits


def test_a_passage_is_replaced_where_it_stands() -> None:
    assert edited("Ship on Friday.", {"find": "Friday", "replace": "Monday"}) == "Ship on Monday."
    assert edited("Ship on Friday.", {"find": " on Friday", "replace": ""}) == "Ship."


def test_text_is_inserted_behind_a_passage_or_at_the_end() -> None:
    assert edited("one three", {"after": "one", "insert": " two"}) == "one two three"
    assert edited("one", {"append": "two"}) == "one\ntwo"
    assert edited("one\n", {"append": "two"}) == "one\ntwo"
    assert edited("", {"append": "one"}) == "one"


def test_a_passage_that_is_not_there_is_a_conflict_that_quotes_it() -> None:
    refused = conflict(MARKDOWN, PLAN, {"find": "Sunday", "replace": "Monday"})
    assert (refused.code, refused.because) == ("not_found", "not found: “Sunday”")


def test_a_passage_that_occurs_three_times_must_be_quoted_longer() -> None:
    refused = conflict(MARKDOWN, {"text": "a-a-a"}, {"after": "a", "insert": "b"})
    assert (refused.code, refused.because) == ("ambiguous", "“a” occurs 3 times: quote more of it")


def test_occurrences_that_overlap_are_two_places() -> None:
    assert conflict(MARKDOWN, {"text": "aaa"}, {"find": "aa", "replace": ""}).code == "ambiguous"


def test_a_long_passage_is_quoted_shortened() -> None:
    refused = conflict(MARKDOWN, PLAN, {"find": "x" * 1_000, "replace": ""})
    assert refused.because == f"not found: “{'x' * 79}…”"


def test_a_passage_quoted_with_other_line_ends_is_found() -> None:
    assert edited("one\ntwo", {"find": "one\r\ntwo", "replace": "three\r\nfour"}) == "three\nfour"


def test_edits_apply_in_order_each_on_what_the_one_before_left() -> None:
    assert edited("a", {"find": "a", "replace": "b"}, {"find": "b", "replace": "c"}) == "c"


def test_if_one_edit_does_not_fit_none_is_applied() -> None:
    before = deepcopy(PLAN)
    conflict(MARKDOWN, PLAN, {"append": "More."}, {"find": "nowhere", "replace": ""})
    assert before == PLAN


def test_edits_may_not_make_a_document_longer_than_it_may_be() -> None:
    refused = refusal(MARKDOWN, {"text": "x" * 200_000}, {"append": "y" * 100_000})
    assert refused.code == "bad_result"
    assert "at most 262,144 fit" in refused.because


@given(st.text("ab\n"), st.text("ab\n", min_size=1), st.text("ab\n"))
def test_a_replacement_changes_the_anchor_and_nothing_else(text: str, find: str, replace: str) -> None:
    places = [n for n in range(len(text)) if text.startswith(find, n)]
    if len(places) == 1:
        expected = text[: places[0]] + replace + text[places[0] + len(find) :]
        assert edited(text, {"find": find, "replace": replace}) == expected
    else:
        assert conflict(MARKDOWN, {"text": text}, {"find": find, "replace": replace}).code in {"not_found", "ambiguous"}


# Checklist edits


def test_items_are_checked_unchecked_added_renamed_and_removed_by_text_or_id() -> None:
    assert listed(
        {"check": "Milk"},
        {"uncheck": "b2"},
        {"add_item": "  Eggs \n x12 "},
        {"rename_item": "c3", "to": "Rye bread"},
        {"remove_item": "tea"},
    ) == ["- [x] Milk", "- [ ] Rye bread", "- [ ] Eggs x12"]


def test_an_added_item_gets_an_id_that_the_same_edit_gives_again() -> None:
    edits = parse_edits([{"add_item": "Eggs"}, {"add_item": "Eggs"}])
    first, again = apply_edits(CHECKLIST, SHOPPING, edits), apply_edits(CHECKLIST, SHOPPING, edits)
    assert first == again
    assert len({item["id"] for item in first["items"]}) == 5


def test_a_renamed_item_keeps_its_id_and_its_mark() -> None:
    data = apply_edits(CHECKLIST, SHOPPING, parse_edits([{"rename_item": "Tea", "to": "Coffee"}]))
    assert data["items"][1] == {"id": "b2", "text": "Coffee", "done": True}


def test_an_item_that_is_not_there_or_is_there_twice_is_a_conflict() -> None:
    twice = {"items": [*SHOPPING["items"], {"id": "d4", "text": "Milk", "done": False}]}
    assert conflict(CHECKLIST, SHOPPING, {"check": "Mil"}).because == "not found: “Mil”"
    assert conflict(CHECKLIST, twice, {"check": "Milk"}).because == "“Milk” occurs 2 times: name the item by its id"
    assert apply_edits(CHECKLIST, twice, parse_edits([{"check": "d4"}]))["items"][3]["done"] is True


def test_letter_case_decides_between_two_items_that_differ_in_nothing_else() -> None:
    both = {"items": [{"id": "a", "text": "milk", "done": False}, {"id": "b", "text": "Milk", "done": False}]}
    data = apply_edits(CHECKLIST, both, parse_edits([{"check": "Milk"}]))
    assert [item["done"] for item in data["items"]] == [False, True]


def test_an_edit_for_another_kind_is_refused_with_what_this_kind_takes() -> None:
    refused = refusal(CHECKLIST, SHOPPING, {"append": "- [ ] Eggs"})
    assert refused.code == "wrong_kind"
    assert refused.because == (
        "a checklist document takes check, uncheck, add_item, remove_item, rename_item or a JSON Patch"
    )
    assert refusal(MARKDOWN, PLAN, {"check": "Ship"}).code == "wrong_kind"


# JSON Patch


def test_a_json_patch_changes_any_kind() -> None:
    assert listed(
        {"op": "test", "path": "/items/0/text", "value": "Milk"},
        {"op": "replace", "path": "/items/0/done", "value": True},
        {"op": "move", "from": "/items/2", "path": "/items/0"},
        {"op": "remove", "path": "/items/2"},
    ) == ["- [ ] Bread", "- [x] Milk"]
    assert edited("a", {"op": "replace", "path": "/text", "value": "b"}, {"append": "c"}) == "b\nc"


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/items/-", "value": {"id": "d4"}},
        {"op": "replace", "path": "/items/0/done", "value": 1},
        {"op": "copy", "from": "/items/0", "path": "/items/-"},
        {"op": "replace", "path": "", "value": []},
        {"op": "remove", "path": "/items/0/text"},
    ],
)
def test_a_json_patch_whose_result_is_no_such_document_is_refused(operation: dict[str, Any]) -> None:
    assert refusal(CHECKLIST, SHOPPING, operation).code == "bad_result"


def test_a_json_patch_that_does_not_fit_is_a_conflict_that_names_the_path() -> None:
    missing = conflict(CHECKLIST, SHOPPING, {"op": "remove", "path": "/items/9"})
    assert (missing.code, missing.because) == ("not_found", "remove does not fit at /items/9")
    other = conflict(CHECKLIST, SHOPPING, {"op": "test", "path": "/items/0/text", "value": "Tea"})
    assert (other.code, other.because) == ("changed_since", "the document holds something else at /items/0/text")


def test_copies_of_copies_are_stopped_before_they_fill_the_memory() -> None:
    doubling = [{"op": "copy", "from": "/items", "path": "/items/-"}] * 60
    assert refusal(CHECKLIST, SHOPPING, *doubling).code == "bad_result"


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/owner", "value": "ben"},
        {"op": "copy", "from": "/items", "path": "/grants"},
        {"op": "move", "from": "/grants/0", "path": "/items/-"},
        {"op": "test", "path": "/grants", "value": []},
        {"op": "replace", "path": "", "value": {"items": [], "grants": ["owner"]}},
    ],
)
def test_an_operation_on_anything_but_its_document_is_out_of_scope(operation: dict[str, Any]) -> None:
    refused = refusal(CHECKLIST, SHOPPING, operation)
    assert refused.code == "out_of_scope"
    assert "is no part of it" in refused.because


paths = st.lists(
    st.sampled_from(["items", "0", "1", "-", "-1", "01", "9" * 30, "text", "done", "~0", "~2", "é", ""])
).map(lambda parts: "".join(f"/{part}" for part in parts))
values = st.sampled_from([None, 1, "x", [], {}, {"id": "z9", "text": "Eggs", "done": True}, [{"id": "q"}]])
operations = st.builds(
    lambda op, path, source, value: (
        {"op": op, "path": path} | ({"from": source} if op in "movecopy" else {"value": value})
    ),
    st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
    paths | st.text("/~0a"),
    paths,
    values,
)


@settings(max_examples=400)
@given(st.lists(operations, min_size=1, max_size=4))
def test_any_json_patch_gives_a_valid_document_or_a_refusal(patch: list[dict[str, Any]]) -> None:
    before = canonical(SHOPPING)
    try:
        result = apply_edits(CHECKLIST, SHOPPING, parse_edits(patch))
    except EditRefused:
        result = SHOPPING
    assert CHECKLIST.check(result) == result
    assert canonical(SHOPPING) == before


# What may be sent


@pytest.mark.parametrize(
    ("sent", "because"),
    [
        ([{"find": "a"}], "0.Replace.replace: Field required"),
        ([{"find": "a", "replace": "b", "all": True}], "0.Replace.all: Extra inputs are not permitted"),
        ([{"find": "", "replace": "b"}], "0.Replace.find: the passage is empty"),
        ([{"find": "a\0", "replace": ""}], "0.Replace.find: the edit holds a NUL (U+0000) at character 2"),
        ([{"find": "a", "replace": 5}], "0.Replace.replace: the edit is not text"),
        ([{"add_item": " "}], "0.AddItem.add_item: the item has nothing to read in it"),
        ([{"op": "add", "path": "/a"}], "0.PatchOperation: add needs a value"),
        ([{"op": "move", "path": "/a"}], "0.PatchOperation: move needs from"),
        ([{"op": "add", "path": "/a", "value": 2**60}], "0.PatchOperation.value: a number is beyond"),
        ([{"delete": "everything"}], "0: not an edit: one starts with find, after, append, check"),
        (["append"], "0: not an edit"),
        ([], "List should have at least 1 item"),
        ([{"append": "x"}] * 201, "List should have at most 200 items"),
        ({"append": "x"}, "Input should be a valid list"),
        (None, "Input should be a valid list"),
    ],
)
def test_what_is_no_list_of_edits_is_refused_with_the_place(sent: object, because: str) -> None:
    with pytest.raises(EditRefused) as refused:
        parse_edits(sent)
    assert refused.value.code == "bad_edit"
    assert refused.value.because.startswith(because)


def test_a_null_value_of_a_json_patch_is_a_value() -> None:
    (operation,) = parse_edits([{"op": "add", "path": "/a", "value": None}])
    assert operation == PatchOperation(op="add", path="/a", value=None)


def test_edits_that_were_read_may_be_read_again() -> None:
    edits = parse_edits([{"find": "a", "replace": "b"}])
    assert edits == (Replace(find="a", replace="b"),)
    assert parse_edits(list(edits)) == edits
    assert parse_edits([edit.model_dump(mode="json") for edit in edits]) == edits


# Edits on newer data


def test_an_edit_made_on_older_text_applies_where_its_passage_is_by_then() -> None:
    theirs = {"text": "Ben's preface.\n\n" + PLAN["text"]}
    mine = rebase(MARKDOWN, PLAN, theirs, parse_edits([{"find": "Friday", "replace": "Monday"}]))
    assert mine["text"] == "Ben's preface.\n\n# Launch\n\nShip on Monday.\nTell the press.\n"


def test_an_edit_of_a_passage_that_others_changed_is_a_conflict_that_quotes_it() -> None:
    theirs = {"text": PLAN["text"].replace("Friday", "Thursday")}
    with pytest.raises(EditConflict) as refused:
        rebase(MARKDOWN, PLAN, theirs, parse_edits([{"find": "Friday", "replace": "Monday"}]))
    assert refused.value.code == "changed_since"
    assert refused.value.because == "the document changed since: not found: “Friday”"


def test_an_edit_that_never_fitted_is_told_apart_from_one_that_came_late() -> None:
    theirs = {"text": PLAN["text"] + "Sunday.\n"}
    with pytest.raises(EditConflict) as refused:
        rebase(MARKDOWN, PLAN, theirs, parse_edits([{"find": "Sunday", "replace": "Monday"}]))
    assert refused.value.code == "not_found"


def test_a_json_patch_is_never_carried_over_to_changed_data() -> None:
    patch = parse_edits([{"op": "remove", "path": "/items/0"}])
    theirs = apply_edits(CHECKLIST, SHOPPING, parse_edits([{"remove_item": "Milk"}]))
    with pytest.raises(EditConflict) as refused:
        rebase(CHECKLIST, SHOPPING, theirs, patch)
    assert refused.value.code == "changed_since"
    assert rebase(CHECKLIST, SHOPPING, deepcopy(SHOPPING), patch) == theirs


def test_an_item_edit_finds_its_item_by_id_though_another_has_its_text_by_then() -> None:
    theirs = apply_edits(CHECKLIST, SHOPPING, parse_edits([{"add_item": "Milk"}]))
    mine = rebase(
        CHECKLIST, SHOPPING, theirs, parse_edits([{"check": "Milk"}, {"add_item": "Eggs"}, {"check": "Eggs"}])
    )
    assert CHECKLIST.to_text(mine) == "- [x] Milk\n- [x] Tea\n- [ ] Bread\n- [ ] Milk\n- [x] Eggs\n"


@pytest.mark.parametrize(
    ("theirs", "because"),
    [
        ({"rename_item": "Milk", "to": "Oat milk"}, "the document changed since: “Milk” reads “Oat milk”"),
        ({"remove_item": "Milk"}, "the document changed since: “Milk” was removed"),
    ],
)
def test_an_edit_of_an_item_that_others_reworded_or_removed_is_a_conflict(theirs: dict[str, str], because: str) -> None:
    newer = apply_edits(CHECKLIST, SHOPPING, parse_edits([theirs]))
    with pytest.raises(EditConflict) as refused:
        rebase(CHECKLIST, SHOPPING, newer, parse_edits([{"remove_item": "a1"}]))
    assert (refused.value.code, refused.value.because) == ("changed_since", because)


def test_a_person_may_save_the_whole_text() -> None:
    assert text_change(MARKDOWN, PLAN, "New.\r\n") == {"text": "New.\n"}
    saved = text_change(CHECKLIST, SHOPPING, "- [x] Milk\n- [ ] Tea\n- [ ] Rye bread\n- [ ] Eggs")
    assert [(item["id"], item["done"]) for item in saved["items"]][:3] == [("a1", True), ("b2", False), ("c3", False)]
    with pytest.raises(BadData, match="NUL"):
        text_change(MARKDOWN, PLAN, "\0")


# What people read of a change


def diff(old: str, new: str) -> list[DiffLine]:
    return diff_lines(MARKDOWN, {"text": old}, {"text": new})


def test_a_changed_line_shows_the_words_that_changed() -> None:
    assert diff("Ship on Friday.\n", "Ship on Monday.\n") == [
        DiffLine("change", 1, 1, (("same", "Ship on "), ("del", "Friday"), ("ins", "Monday"), ("same", ".")))
    ]


def test_a_word_in_a_script_without_spaces_is_told_by_its_characters() -> None:
    (line,) = diff("我们星期五发布", "我们星期一发布")
    assert line.spans == (("same", "我们星期"), ("del", "五"), ("ins", "一"), ("same", "发布"))


def test_lines_with_little_in_common_are_removed_and_added() -> None:
    assert [(line.op, line.old_no, line.new_no) for line in diff("Call the press", "We sail tomorrow at noon")] == [
        ("del", 1, None),
        ("add", None, 1),
    ]


def test_unchanged_lines_far_from_a_change_are_a_gap() -> None:
    old = [f"line {n}" for n in range(1, 21)]
    new = [*old[:9], "added", *old[9:]]
    assert [(line.op, line.old_no, line.new_no, line.skipped) for line in diff("\n".join(old), "\n".join(new))] == [
        ("gap", 1, 1, 7),
        ("same", 8, 8, 0),
        ("same", 9, 9, 0),
        ("add", None, 10, 0),
        ("same", 10, 11, 0),
        ("same", 11, 12, 0),
        ("gap", 12, 13, 9),
    ]


def test_a_single_unchanged_line_is_shown_rather_than_counted() -> None:
    assert [line.op for line in diff("a\nb\nc\n", "a\nb\nc\nd\n")] == ["same", "same", "same", "add"]


def test_documents_that_read_the_same_have_no_diff() -> None:
    assert diff("a\nb\n", "a\nb\n") == []


def test_a_checklist_shows_its_rows_by_item() -> None:
    new = apply_edits(
        CHECKLIST,
        SHOPPING,
        parse_edits([{"check": "Milk"}, {"rename_item": "Tea", "to": "Coffee"}, {"remove_item": "Bread"}]),
    )
    assert [(line.op, line.spans) for line in diff_lines(CHECKLIST, SHOPPING, new)] == [
        ("change", (("same", "- ["), ("del", " "), ("ins", "x"), ("same", "] Milk"))),
        ("change", (("same", "- [x] "), ("del", "Tea"), ("ins", "Coffee"))),
        ("del", (("del", "- [ ] Bread"),)),
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("a", "a\nb\nc", "2 lines added"),
        ("a\nx", "a", "1 line removed"),
        ("one two three", "one two four", "1 line changed"),
        ("x\nsame\none two three", "y\nz\nsame\none two four", "2 lines added, 1 removed, 1 changed"),
        ("a", "a", "nothing changed"),
    ],
)
def test_a_diff_is_told_in_one_sentence(old: str, new: str, told: str) -> None:
    assert summary(diff(old, new)) == told


texts = st.lists(st.sampled_from(["", "a", "b", "a b c", "a b d", "x y z w", "x y z v"]), max_size=12).map("\n".join)


def side(lines: list[DiffLine], mark: str) -> list[str]:
    return ["".join(text for kind, text in line.spans if kind in {"same", mark}) for line in lines]


@given(texts, texts)
def test_both_versions_can_be_read_from_a_diff(old: str, new: str) -> None:
    lines = diff(old, new)
    for mark, text, number in (("del", old, "old_no"), ("ins", new, "new_no")):
        shown = [line for line in lines if line.op != "gap" and getattr(line, number) is not None]
        whole = text.removesuffix("\n").split("\n")
        assert side(shown, mark) == [whole[getattr(line, number) - 1] for line in shown if text]
        skipped = sum(line.skipped for line in lines)
        assert not lines or len(shown) + skipped == (len(whole) if text else 0)


def test_more_than_five_thousand_lines_differ_as_one_block() -> None:
    old = [f"{n}" for n in range(5_001)]
    new = [*old[:10], "x", *old[10:4_000], *old[4_001:]]
    lines = diff("\n".join(old), "\n".join(new))
    assert summary(diff("\n".join(old[:5_000]), "\n".join(new[:5_000]))) == "1 line added, 1 removed"
    assert summary(lines) == "3991 lines added, 3991 removed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\n" * 2_500, "b\na\na\n" * 1_600),
        ("".join(f"{n}\n" for n in range(5_000)), "".join(f"{n}\n" for n in range(5_000, 0, -1))),
        ("a b " * 60_000, "b a a " * 40_000),
        ("x" * 250_000, "y" * 250_000),
    ],
)
def test_documents_made_to_be_hard_to_compare_still_have_a_diff(old: str, new: str) -> None:
    lines = diff(old, new)
    assert any(line.op != "same" for line in lines)
