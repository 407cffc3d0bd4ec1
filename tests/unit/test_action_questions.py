"""How people are asked for consent (DESIGN 7): every argument, nothing hidden, worded by us."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.actions.questions import LONGEST_VALUE, escaped, step_worded, worded

TABLE = "Book a table for {args.party} on {args.day|weekday} at {args.time}"
TEXT = "text group: '{args.text}'"


def text_of(args: object, template: str = "", label: str = "Send flowers") -> str:
    return step_worded(label, json.dumps(args), template).text


def test_an_action_is_worded_from_its_steps_in_order():
    steps = [
        step_worded("Reserve table", '{"day":"2026-06-12","party":12,"time":"20:30"}', TABLE),
        step_worded("Text group", '{"text":"We moved to 20:30."}', TEXT),
    ]
    assert worded(1, "restaurant", steps, 10) == (
        "A1 (from restaurant): Book a table for 12 on Fri 12 June 2026 at 20:30; then text group: 'We moved to 20:30.' "
        "Approve within 10 minutes?"
    )


def test_an_argument_that_the_words_of_a_tool_leave_out_stands_behind_them():
    said = text_of({"party": 4, "day": "2026-06-12", "time": "20:30", "deposit_paid": 900}, TABLE)
    assert said == "Book a table for 4 on Fri 12 June 2026 at 20:30 (deposit paid: 900)"


def test_a_tool_without_words_is_told_by_its_label_and_every_argument():
    assert text_of({"to": "Sam", "kinds": ["roses", "tulips"], "wrapped": True}) == (
        'Send flowers: to: Sam, kinds: ["roses", "tulips"], wrapped: true'
    )
    assert text_of({}) == "Send flowers"
    assert text_of({"to": "", "card": None}) == "Send flowers"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "⟨U+202E⟩"), ("\u200b", "⟨U+200B⟩"), ("\u2066", "⟨U+2066⟩"), ("\x00", "⟨U+0000⟩"),
        ("\n", "⟨U+000A⟩"), ("\u00a0", "⟨U+00A0⟩"), ("\u3164", "⟨U+3164⟩"), ("\ufe0f", "⟨U+FE0F⟩"),
        ("\U000e0041", "⟨U+E0041⟩"), ("\ufeff", "⟨U+FEFF⟩"),
    ],
    ids=lambda text: f"{ord(text[0]):x}",
)  # fmt: skip
def test_what_cannot_be_seen_is_shown(hidden: str, shown: str):
    assert text_of({"to": f"S{hidden}am"}) == f"Send flowers: to: S{shown}am"


def test_other_scripts_are_left_as_they_are():
    assert text_of({"to": "Жанна 花子 Zoë"}) == "Send flowers: to: Жанна 花子 Zoë"


def test_a_long_value_is_shortened_and_kept_whole_beside_the_question():
    step = step_worded("Text group", json.dumps({"text": "x" * 1_234}), TEXT)
    assert step.text == f"text group: '{'x' * LONGEST_VALUE}… (1,234 characters)'"
    assert step.arguments[0].whole == "x" * 1_234
    assert step_worded("Text group", '{"text":"short"}', TEXT).arguments[0].whole is None


def test_a_value_cannot_fill_a_place_of_the_words():
    assert text_of({"party": "{args.time}", "day": "soon", "time": "20:30"}, TABLE) == (
        "Book a table for {args.time} on soon at 20:30"
    )


def test_the_name_of_what_asks_is_escaped_and_short():
    said = worded(2, "rest\u202eaurant" + "x" * 200, [step_worded("Ring bell", "{}")], 10)
    assert said.startswith("A2 (from rest⟨U+202E⟩aurant")
    assert len(said) < 160


NAMES = st.sampled_from(["party", "day", "time", "to", "note"])
VALUES = st.one_of(st.text(min_size=1), st.integers(), st.booleans())


@given(st.dictionaries(NAMES, VALUES, min_size=1), st.sampled_from(["", TABLE, TEXT, "Do it"]))
def test_every_argument_or_its_start_is_in_the_question(args: dict, template: str):
    said = text_of(args, template.replace("|weekday", ""))
    for value in args.values():
        shown = value if isinstance(value, str) else json.dumps(value)
        assert escaped(shown[:LONGEST_VALUE]) in said
    assert escaped(said) == said
