"""How placeholders are filled in."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import JsonValue

from agents.providers.template import Values, render, render_text, unknown_placeholder

VALUES = Values(
    groups={"what": "a speech", "none": ""},
    results={
        "read": {"version": 3, "open": True, "tags": ["a", {"b": "deep"}], "owner": None, "dotted": {"0": "zero"}},
        "list": [{"title": "Launch plan"}],
        "words": "plain text",
    },
)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("add {what}", "add a speech"),
        ("[{none}]", "[]"),
        ("v{result.read.version}", "v3"),
        ("{result.read.open}!", "true!"),
        ("{result.read.owner}.", "null."),
        ("{result.read.tags.1.b}", "deep"),
        ("{result.read.tags}.", '["a", {"b": "deep"}].'),
        ("{result.read.dotted.0}", "zero"),
        ("{result.list.0.title}", "Launch plan"),
        ("{{what}} {{}}", "{what} {}"),
        ("a } b { c", "a } b { c"),
    ],
)
def test_a_placeholder_is_replaced_by_its_value(template: str, text: str) -> None:
    assert render_text(template, VALUES) == text


@pytest.mark.parametrize(
    "name",
    [
        "result.never.title",
        "result.read.title",
        "result.read.version.deeper",
        "result.list.1.title",
        "result.list.-1.title",
        "result.list.title",
        "result.words.title",
        "result.read.tags.²",
        f"result.list.{'9' * 5000}.title",
    ],
)
def test_a_result_that_is_not_there_is_shown_as_such(name: str) -> None:
    assert render_text(f"<{{{name}}}>", VALUES) == f"<{{{name}: not available}}>"
    assert render(f"{{{name}}}", VALUES) == f"{{{name}: not available}}"


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{result.read.version}", 3),
        ("{result.read.open}", True),
        ("{result.read.owner}", None),
        ("{result.read.tags}", ["a", {"b": "deep"}]),
        ("{what}", "a speech"),
        (" {result.read.version}", " 3"),
        (["{result.read.version}", {"{what}": "{what}"}], [3, {"{what}": "a speech"}]),
        (7, 7),
        (None, None),
    ],
)
def test_an_argument_that_is_one_placeholder_keeps_its_type(template: JsonValue, value: JsonValue) -> None:
    assert render(template, VALUES) == value


def test_a_value_is_not_read_as_a_template_again() -> None:
    assert render_text("{what}", Values(groups={"what": "{result.read.version}"}, results=VALUES.results)) == (
        "{result.read.version}"
    )


def test_a_group_may_be_called_like_a_result() -> None:
    assert render_text("{result}", Values(groups={"result": "won"})) == "won"


def test_unknown_names_are_found_however_deep() -> None:
    assert unknown_placeholder({"a": ["{what}", {"b": "{who}"}]}, {"what"}) == "who"
    assert unknown_placeholder({"a": ["{what}", {"b": "{result.read.version}"}]}, {"what"}) is None


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("friday", "2026-12-04"),
        ("Mon", "2026-11-30"),
        ("sunday", "2026-12-06"),
        ("tonight", "2026-11-30"),
        ("tomorrow", "2026-12-01"),
        ("2026-12-31", "2026-12-31"),
        ("Fri 4 December 2026", "2026-12-04"),
        ("31 December 2026", "2026-12-31"),
        ("31 June 2026", "31 June 2026"),
        ("someday", "someday"),
    ],
)
def test_a_day_is_the_next_of_its_name_from_today_on(said: str, day: str) -> None:
    assert render("{day.when}", Values(groups={"when": said}, today=date(2026, 11, 30))) == day


@pytest.mark.parametrize(("said", "number"), [("4", 4), ("12.50", 12.5), ("four", "four"), ("9" * 400, "9" * 400)])
def test_a_number_is_a_number_and_anything_else_stays_as_it_is(said: str, number: object) -> None:
    assert render("{number.many}", Values(groups={"many": said})) == number


def test_a_reading_of_a_group_that_is_not_there_is_found_when_the_script_is_read() -> None:
    assert unknown_placeholder("{day.when}", {"then"}) == "day.when"
    assert unknown_placeholder("{day.when} {number.when}", {"when"}) is None
