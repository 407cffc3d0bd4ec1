"""What text may enter Accord, and what a label shows of it (FAILURES O1)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab.text import BadText, clean_line, clean_text, visible

LIMIT = 64 * 1024
storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def refusal(value: object, **limits: int) -> BadText:
    with pytest.raises(BadText) as refused:
        clean_text(value, limit_bytes=limits.get("limit_bytes", LIMIT), name="the message")
    return refused.value


@pytest.mark.parametrize("text", ["Plan the launch", "café", "cafe\u0301", "שלום", "👩‍👩‍👧 ok", "𝔘nicode", "a\tb\nc"])
def test_ordinary_text_in_any_script_passes_unchanged(text: str) -> None:
    assert clean_text(text, limit_bytes=LIMIT) == text


def test_a_nul_is_refused_with_its_position() -> None:
    refused = refusal("ab\0c")
    assert refused.code == "nul"
    assert refused.because == "the message holds a NUL (U+0000) at character 3"


def test_half_a_surrogate_pair_is_refused_with_its_position() -> None:
    refused = refusal("x\ud83d")
    assert refused.code == "surrogate"
    assert refused.because == "the message holds half of a surrogate pair (U+D83D) at character 2"


@pytest.mark.parametrize("value", [None, 7, b"bytes", ["text"]])
def test_what_is_not_text_is_refused(value: object) -> None:
    assert refusal(value).code == "not_text"


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b", "\u202e \u2066", "\u3164", "\ufeff", "\ufe0f"])
def test_a_text_with_nothing_to_read_is_blank(text: str) -> None:
    assert refusal(text).code == "blank"
    assert clean_text(text, limit_bytes=LIMIT, allow_blank=True) == text


def test_a_text_too_long_is_refused_with_both_sizes_in_bytes() -> None:
    assert clean_text("é" * 5, limit_bytes=10) == "é" * 5
    refused = refusal("é" * 6, limit_bytes=10)
    assert refused.code == "too_long"
    assert refused.because == "the message takes 12 bytes; at most 10 fit"


def test_the_limit_counts_what_is_stored_after_cleaning() -> None:
    assert clean_text("a\r\nb\r\n", limit_bytes=4) == "a\nb\n"
    assert refusal("\x07\x07", limit_bytes=5).code == "too_long"


def test_every_line_end_becomes_one_newline() -> None:
    assert clean_text("a\r\nb\rc\nd\r\r\ne", limit_bytes=LIMIT) == "a\nb\nc\nd\n\ne"


def test_other_control_characters_become_visible_signs() -> None:
    assert clean_text("\x01\x1b[31m\x7f\x9b", limit_bytes=LIMIT) == "␁␛[31m␡\ufffd"


@given(storable)
def test_clean_text_holds_no_control_but_newline_and_tab(text: str) -> None:
    cleaned = clean_text(text, limit_bytes=1_000_000, allow_blank=True)
    assert {c for c in cleaned if unicodedata.category(c) == "Cc"} <= {"\n", "\t"}


@given(storable)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    cleaned = clean_text(text, limit_bytes=1_000_000, allow_blank=True)
    assert clean_text(cleaned, limit_bytes=1_000_000, allow_blank=True) == cleaned
    line = clean_line(text, limit_chars=1_000_000, allow_blank=True)
    assert clean_line(line, limit_chars=1_000_000, allow_blank=True) == line


def test_a_title_is_one_trimmed_line() -> None:
    assert clean_line("  Launch\r\n\t plan\u2028today  ") == "Launch plan today"


def test_a_title_shows_the_controls_that_would_reorder_it() -> None:
    assert clean_line("report\u202efdp.exe") == "report\\u202efdp.exe"


def test_a_title_of_two_hundred_characters_fits_and_one_more_does_not() -> None:
    assert clean_line("é" * 200) == "é" * 200
    with pytest.raises(BadText, match="the title has 201 characters; at most 200 fit"):
        clean_line("é" * 201, name="the title")


def test_a_blank_title_is_refused_unless_it_may_be_blank() -> None:
    with pytest.raises(BadText, match="the title is empty"):
        clean_line("\n", name="the title")
    assert clean_line("\n", allow_blank=True) == ""


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "\\u202e"),
        ("\u200b", "\\u200b"),
        ("\x1b", "\\u001b"),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\t", "\\t"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\u00ad", "\\u00ad"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_a_label_writes_out_what_would_not_be_seen(hidden: str, shown: str) -> None:
    assert visible(f"pay {hidden}12") == f"pay {shown}12"


@given(st.text(st.characters()))
def test_a_label_holds_no_hidden_character(text: str) -> None:
    assert not {c for c in visible(text) if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}}
    assert visible(visible(text)) == visible(text)
