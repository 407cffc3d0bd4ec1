"""What each kind of document holds and how it reads as text (DESIGN 4, table Document)."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator

from collab.diffs import diff_lines
from collab.edits import Append, parse_edits
from collab.kind import LIMIT_BYTES, BadData, Content, Kind, Registry, Row, UnknownKind
from collab.kinds import KINDS, MARKDOWN, MarkdownContent
from collab.patches import apply_edits

CHECKLIST = KINDS.named("checklist")
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
lines = st.lists(
    st.sampled_from(["- [ ] milk", "- [x] milk", "* tea", "[X] oat", "", "- [ ] ", "- [x]", "- - a"]) | words
)


def items(*texts: str) -> dict[str, Any]:
    return {"items": [{"id": f"i{n}", "text": text, "done": False} for n, text in enumerate(texts)]}


def test_there_are_two_kinds_to_begin_with() -> None:
    assert KINDS.names() == ("markdown", "checklist")


def test_a_markdown_document_reads_as_its_text() -> None:
    data = MARKDOWN.from_text("# Plan\r\n\r\nShip it.")
    assert data == {"text": "# Plan\n\nShip it."}
    assert MARKDOWN.to_text(data) == "# Plan\n\nShip it."


def test_a_checklist_reads_as_a_task_list() -> None:
    data = items("milk", "tea")
    data["items"][1]["done"] = True
    assert CHECKLIST.to_text(data) == "- [ ] milk\n- [x] tea\n"


def test_a_task_list_may_be_written_the_way_people_write_lists() -> None:
    data = CHECKLIST.from_text("- [ ] milk\n* [X] green   tea\n  + bread\n\neggs\n- [ ]\n-\n")
    assert [(item["text"], item["done"]) for item in data["items"]] == [
        ("milk", False),
        ("green tea", True),
        ("bread", False),
        ("eggs", False),
    ]


@given(lines)
def test_a_checklist_read_from_text_is_written_and_read_alike(written: list[str]) -> None:
    data = CHECKLIST.from_text("\n".join(written))
    text = CHECKLIST.to_text(data)
    assert CHECKLIST.to_text(CHECKLIST.from_text(text)) == text
    assert CHECKLIST.from_text(text, old=data) == data


def test_an_item_keeps_its_id_when_it_is_moved_checked_or_reworded() -> None:
    saved = CHECKLIST.from_text(
        "- [x] tea\n- [ ] oat milk\n- [ ] eggs\n- [ ] bread\n", old=items("milk", "x", "eggs", "tea")
    )
    assert [item["id"] for item in saved["items"]][:3] == ["i3", "i1", "i2"]
    assert saved["items"][3]["id"] not in {"i0", "i1", "i2", "i3"}


def test_items_with_the_same_text_have_ids_of_their_own() -> None:
    data = CHECKLIST.from_text("milk\n" * 2_000)
    assert len({item["id"] for item in data["items"]}) == 2_000


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"items": [{"id": "a", "text": "x", "done": "yes"}]},
        {"items": [{"id": "a", "text": "x", "done": False, "by": "ben"}]},
        {"items": [{"id": "A b", "text": "x"}]},
        {"items": [{"id": "a\n", "text": "x"}]},
        {"items": [{"id": "a", "text": " "}]},
        {"items": [{"id": "a", "text": "x\0"}]},
        {"items": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]},
        items(*["x"] * 2_001),
    ],
)
def test_data_that_is_no_checklist_is_refused(data: object) -> None:
    with pytest.raises(BadData, match="not a checklist document") as refused:
        CHECKLIST.check(data)
    assert refused.value.code == "bad_data"


@pytest.mark.parametrize("data", [{"text": 1}, {"text": "a\0"}, {"text": "\ud800"}, {"text": "a", "html": "b"}, "text"])
def test_data_that_is_no_markdown_document_is_refused(data: object) -> None:
    with pytest.raises(BadData, match="not a markdown document"):
        MARKDOWN.check(data)


def test_a_refusal_names_the_place_and_the_fault() -> None:
    with pytest.raises(BadData) as refused:
        CHECKLIST.check({"items": [{"id": "a", "text": " "}]})
    assert refused.value.because == "not a checklist document: items.0.text: the item has nothing to read in it"


def test_a_document_may_take_256_kib_and_not_a_byte_more() -> None:
    assert MARKDOWN.check({"text": "é" * (LIMIT_BYTES // 2)})
    with pytest.raises(BadData, match=r"262,145 bytes; at most 262,144 fit"):
        MARKDOWN.check({"text": "x" * (LIMIT_BYTES + 1)})
    with pytest.raises(BadData, match="at most") as refused:
        CHECKLIST.check(items(*["x" * 200] * 2_000))
    assert refused.value.code == "too_long"


def test_text_that_cannot_be_a_document_is_refused_as_bad_data() -> None:
    with pytest.raises(BadData, match="the item takes 3,000 bytes"):
        CHECKLIST.from_text("x" * 3_000)
    with pytest.raises(BadData, match="NUL"):
        CHECKLIST.from_text("x\0")


def test_a_new_document_starts_with_its_title_or_nothing() -> None:
    assert MARKDOWN.empty("Plan") == {"text": "# Plan\n"}
    assert MARKDOWN.empty("") == {"text": ""}
    assert CHECKLIST.empty("Shopping") == {"items": []}


def test_a_kind_that_is_not_there_is_named_in_the_refusal() -> None:
    with pytest.raises(UnknownKind, match="'spreadsheet'"):
        KINDS.named("spreadsheet")


def test_two_kinds_may_not_share_a_name() -> None:
    with pytest.raises(ValueError, match="there is a kind markdown already"):
        Registry([MARKDOWN]).register(MARKDOWN)


class Note(Content):
    """Lines that only grow."""

    lines: Annotated[tuple[str, ...], AfterValidator(tuple)] = ()


NOTE = Kind(
    name="note",
    model=Note,
    write=lambda note: "\n".join(note.lines),
    read=lambda text, _old: Note(lines=tuple(text.split("\n"))),
    start=lambda title: Note(lines=(title,)),
    rows=lambda note: [Row(line, line) for line in note.lines],
    edits={Append: lambda note, edit: Note(lines=(*note.lines, edit.append))},
)


def test_a_third_kind_has_texts_edits_and_diffs_by_being_registered() -> None:
    kinds = Registry([MARKDOWN, NOTE])
    note = kinds.named("note")
    old = note.empty("Diary")
    new = apply_edits(
        note, old, parse_edits([{"append": "Monday"}, {"op": "add", "path": "/lines/-", "value": "Tuesday"}])
    )
    assert new == {"lines": ["Diary", "Monday", "Tuesday"]}
    assert note.to_text(new) == "Diary\nMonday\nTuesday"
    assert [line.op for line in diff_lines(note, old, new)] == ["same", "add", "add"]


def test_a_document_is_equal_to_itself_however_its_content_was_made() -> None:
    assert MARKDOWN.parse({"text": "a"}) == MarkdownContent(text="a")
