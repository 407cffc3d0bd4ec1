"""One value has one text and one hash (DESIGN 4 and 7, FAILURES J1)."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab.canonical import LARGEST_NUMBER, BadJson, canonical, content_hash, event_hash, parse_json

strings = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
numbers = st.integers(-LARGEST_NUMBER, LARGEST_NUMBER) | st.floats(-LARGEST_NUMBER, LARGEST_NUMBER)
values = st.recursive(
    st.none() | st.booleans() | numbers | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=20,
)


def code_of(text: str | bytes, max_bytes: int = 10_000_000, max_depth: int = 64) -> str:
    with pytest.raises(BadJson) as refused:
        parse_json(text, max_bytes=max_bytes, max_depth=max_depth)
    return refused.value.code


def test_keys_are_sorted_and_nothing_is_spaced() -> None:
    assert canonical({"b": [1, True, None], "a": {"d": "é", "c": '"\n'}}) == (
        '{"a":{"c":"\\"\\n","d":"é"},"b":[1,true,null]}'
    )


def test_keys_are_sorted_by_utf16_code_units_as_rfc_8785_asks() -> None:
    assert canonical({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-5, "0.00001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (-2.5e-10, "-2.5e-10"),
        (5e-324, "5e-324"),
        (1e15, "1000000000000000"),
        (LARGEST_NUMBER, "9007199254740991"),
    ],
)
def test_numbers_are_written_as_rfc_8785_writes_them(number: float, text: str) -> None:
    assert canonical(number) == text


@given(values)
def test_what_is_written_reads_back_as_the_same_value_and_text(value: object) -> None:
    text = canonical(value)
    read = parse_json(text, max_bytes=10_000_000)
    assert read == value
    assert canonical(read) == text


@given(st.dictionaries(strings, numbers))
def test_the_order_keys_were_given_in_does_not_matter(value: dict[str, float]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (float("nan"), "number"),
        (float("inf"), "number"),
        (2**53, "number"),
        (-1e300, "number"),
        ("\ud800", "text"),
        ("\0", "text"),
        ({"\0": 1}, "text"),
        ({1: 1}, "not_json"),
        ({1, 2}, "not_json"),
        (b"x", "not_json"),
    ],
)
def test_a_value_that_readers_would_read_differently_has_no_canonical_text(value: object, code: str) -> None:
    with pytest.raises(BadJson) as refused:
        canonical({"at": [value]})
    assert refused.value.code == code


def test_a_value_nested_without_end_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(BadJson, match="nested too deeply"):
        canonical(endless)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"party": 2, "party": 12}', "duplicate_key"),
        ('{"a": {"b": 1, "\\u0062": 2}}', "duplicate_key"),
        ("NaN", "number"),
        ("[-Infinity]", "number"),
        ("1e400", "number"),
        ("9007199254740992", "number"),
        ("1" * 1_000_000, "number"),
        ('"\\u0000"', "text"),
        ('"\\ud800"', "text"),
        ('{"\\udfff": 1}', "text"),
        ("{", "not_json"),
        ("", "not_json"),
        ("{'a': 1}", "not_json"),
        ("1 2", "not_json"),
        (b"\xff", "text"),
        ("[" * 100_000, "too_deep"),
        ("[" * 65 + "]" * 65, "too_deep"),
    ],
)
def test_json_that_could_mean_two_things_is_refused_with_a_code(text: str | bytes, code: str) -> None:
    assert code_of(text) == code


def test_the_size_is_counted_in_bytes_and_the_depth_in_levels() -> None:
    assert parse_json('"é"', max_bytes=4) == "é"
    assert code_of('"é"', max_bytes=3) == "too_long"
    assert parse_json("[[1]]", max_bytes=10, max_depth=2) == [[1]]
    assert code_of("[[1]]", max_depth=1) == "too_deep"


def refusal_of(sent: str | bytes) -> str | None:
    try:
        canonical(parse_json(sent, max_bytes=1_000))
    except BadJson as refused:
        return refused.code
    return None


@given(st.text() | st.binary())
def test_anything_sent_as_json_is_read_or_refused_with_a_known_code(sent: str | bytes) -> None:
    assert refusal_of(sent) in {None, "not_json", "too_long", "number", "text", "duplicate_key", "too_deep"}


def test_an_events_hash_depends_on_every_field_its_order_and_the_event_before() -> None:
    base = event_hash("", "thread", "1", "person:ana")
    others = {
        event_hash("00", "thread", "1", "person:ana"),
        event_hash("", "thread", "1person:ana", ""),
        event_hash("", "thread1", "", "person:ana"),
        event_hash("", "1", "thread", "person:ana"),
        event_hash("", "thread", "1"),
        event_hash("", "thread", "1", "person:ana", None),
        event_hash("", "thread", "1", "person:ana", ""),
    }
    assert len(others) == 7
    assert base not in others


def test_the_hash_of_a_known_event_stays_what_it_is() -> None:
    parts = b"".join(b"+" + len(part).to_bytes(8, "big") + part for part in (b"", b"T", "é".encode()))
    assert event_hash("", "T", "é", None) == hashlib.sha256(b"accord.event.1" + parts + b"-" + bytes(8)).hexdigest()


def test_the_same_text_under_another_salt_hashes_differently() -> None:
    first = content_hash(b"a" * 16, "yes")
    assert first == content_hash(b"a" * 16, "yes")
    assert first not in {content_hash(b"b" * 16, "yes"), content_hash(b"a" * 16, "no")}


def test_a_salt_too_short_to_hide_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        content_hash(b"short", "yes")
