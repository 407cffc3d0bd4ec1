"""A reply leaves in whole pieces, and nothing of it is lost (DESIGN 9 and 10)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.replies.pieces import LONGEST_SENTENCE, LONGEST_WORD, Pieces


def pieces(text: str) -> list[str]:
    """Feed a text one character at a time and return what leaves, in order, with the rest at the end."""
    stream = Pieces()
    left = ["".join(stream.feed(character)) for character in text]
    return [piece for piece in (*left, stream.finish()) if piece]


def test_a_sentence_leaves_when_its_end_is_sure() -> None:
    stream = Pieces()
    assert stream.feed("I booked the ta") == []
    assert stream.feed("ble.") == []
    assert stream.feed(" It is for t") == ["I booked the table. "]
    assert stream.feed("welve") == []
    assert stream.finish() == "It is for twelve"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("One. Two! Three? Four… Five", ["One. ", "Two! ", "Three? ", "Four… ", "Five"]),
        (
            'He said "Done." Then (it was late.) we *left.* Yes',
            ['He said "Done." ', "Then (it was late.) ", "we *left.* ", "Yes"],
        ),
        ("Really?! Yes... Well", ["Really?! ", "Yes... ", "Well"]),
        ("- one\n- two\n\n1. three\n", ["- one\n", "- two\n", "\n", "1. three\n"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |\n", "|---|---|\n", "| 1 | 2 |"]),
        ("Paid 12.50 to a.b@example.org. Done", ["Paid 12.50 to a.b@example.org. ", "Done"]),
        ("See https://example.org/a.b?c=d now", ["See https://example.org/a.b?c=d now"]),
        ("完成了。接着呢？「好。」然后", ["完成了。", "接着呢？", "「好。」", "然后"]),
        ("تم. التالي؟ نعم", ["تم. ", "التالي؟ نعم"]),
    ],
)
def test_text_leaves_by_sentence_line_and_row(text: str, cut: list[str]) -> None:
    assert pieces(text) == cut


@pytest.mark.parametrize(
    "text",
    [
        "Ask Mr. Smith",
        "Use tools, e.g. hammers",
        "By J. R. Tolkien",
        "3. Third",
        "On St. James (cf. Dr. No)",
        "The U.S. team",
        "At 9 a.m. sharp",
    ],
)
def test_an_abbreviation_an_initial_or_a_list_number_ends_nothing(text: str) -> None:
    assert pieces(text) == [text]


def test_code_leaves_line_by_line_until_its_fence_closes() -> None:
    text = "Run it:\n```py\nprint('a. b'). Now. \n``\n~~~\n````\nOne. Two"
    assert pieces(text) == ["Run it:\n", "```py\n", "print('a. b'). Now. \n", "``\n", "~~~\n", "````\n", "One. ", "Two"]


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    assert pieces("~~~~\nOne. Two\n~~~\nOne. Two\n~~~~ \nOne. Two")[-3:] == ["~~~~ \n", "One. ", "Two"]


def test_code_within_a_line_opens_no_fence() -> None:
    assert pieces("```a``` is code\nOne. Two")[1:] == ["One. ", "Two"]


def test_a_sentence_without_end_leaves_at_a_space() -> None:
    cut = pieces("word " * 1_000)
    assert "".join(cut) == "word " * 1_000
    assert [len(piece) for piece in cut] == [LONGEST_SENTENCE + 5, LONGEST_SENTENCE + 5, 990]


def test_a_word_without_end_leaves_where_it_stands() -> None:
    assert [len(piece) for piece in pieces("x" * (LONGEST_WORD + 10))] == [LONGEST_WORD, 10]


def test_after_a_reset_nothing_of_the_reply_before_leaves() -> None:
    stream = Pieces()
    stream.feed("```\nHalf a")
    stream.reset()
    assert stream.feed("One. Two") == ["One. "]
    assert stream.finish() == "Two"
    assert stream.finish() == ""


fragments = st.sampled_from(
    [
        "One. ",
        "e.g. ",
        "Mr.",
        " ",
        "\n",
        "```",
        "```py\n",
        "~~~",
        "`",
        "3. ",
        '?!" ',
        "。",
        "」",
        "…",
        "a",
        "\r\n",
        "x" * 900,
    ]
)
replies = st.lists(fragments | st.text(max_size=5), max_size=25).map("".join)


@given(replies, st.data())
def test_what_leaves_is_what_was_fed_and_is_cut_alike_however_it_arrives(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stream, out, sent = Pieces(), "", 0
    whole = pieces(text)
    ends = {len("".join(whole[:n])) for n in range(len(whole) + 1)}
    for end in cuts:
        out += "".join(stream.feed(text[sent:end]))
        sent = end
        assert text.startswith(out)
        assert len(out) in ends
    assert out + "".join(stream.feed(text[sent:])) + stream.finish() == text


def test_a_long_reply_in_single_characters_passes() -> None:
    text = "。」" * 20_000 + "a. " * 20_000
    assert "".join(pieces(text)) == text
