"""A person's words are read as one call of one tool, or not at all (REPLIES, Composers and unread turns)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import yaml

from agents.replies.requests import Askable, question, read_request
from agents.replies.slots import slots_of
from agents.tools.registry import SETTING, TOOLS

TABLE = yaml.safe_load(Path(__file__).with_name("replies_asked.yaml").read_text("utf-8"))
NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)
TITLES = {"document": ("Launch plan", "Menu")}
ASKED = [
    Askable(SETTING.words.tools[name], slots)
    for name, tool in TOOLS.items()
    if not tool.asks and (slots := slots_of(tool.args.model_json_schema(), TITLES)) is not None
]


def read(text: str) -> Mapping[str, Any] | None:
    found = read_request(text, ASKED, NOON)
    return None if found is None else {found.tool: dict(found.args)}


@pytest.mark.parametrize(("text", "call"), TABLE, ids=[text for text, _ in TABLE])
def test_what_people_write_is_read_as_the_call_they_ask_for_or_not_at_all(text: str, call: object) -> None:
    assert read(text) == call


def test_there_are_a_hundred_ways_to_ask_for_the_packs_tools_and_each_is_asked_for() -> None:
    calls = [next(iter(call)) for _, call in TABLE if call]
    assert len(calls) >= 100
    assert set(calls) == {tool.words.name for tool in ASKED}


@pytest.mark.parametrize(("text", "call"), [row for row in TABLE if row[1]], ids=[row[0] for row in TABLE if row[1]])
def test_what_is_read_is_a_call_its_tool_takes(text: str, call: Mapping[str, Any]) -> None:
    ((tool, args),) = call.items()
    TOOLS[tool].args.model_validate_json(json.dumps(args))


@pytest.mark.parametrize("before", ["don't ", "I did not ", "never ", "why did you ", "if you like, ", "did you "])
@pytest.mark.parametrize("asked", ["refund 12.50 for order 4412", "cancel reservation R1"])
def test_a_denial_a_question_or_a_condition_calls_nothing(before: str, asked: str) -> None:
    assert read(asked) is not None
    assert read(before + asked) is None


@pytest.mark.parametrize(
    "after", [" and cancel reservation R1", " or 5", ", but not today", " unless it is late", "?! what"]
)
def test_more_than_one_thing_is_not_read(after: str) -> None:
    assert read(f"refund 12.50 for order 4412{after}") is None


def test_a_thing_is_named_by_its_whole_title() -> None:
    assert read("archive the launch plan") == {"archive_document": {"document": "Launch plan"}}
    assert read("archive the launch") is None
    assert read("archive the launch plan of last year") is None


def test_a_day_that_may_be_two_is_not_read() -> None:
    assert read("book a table for 4 on 03/04/2027 at 20:30") is None
    assert read("book a table for 4 on Friday or 4 June at 20:30") is None


@pytest.mark.parametrize(
    "text", ["", " ", "?", '"', "''", "\u202e", "refund " * 80, "a" * 5000, "remind me in 999 days to x"]
)
def test_odd_words_break_nothing(text: str) -> None:
    read(text)


def test_a_long_message_takes_no_long_time() -> None:
    start = perf_counter()
    for text in ("remind me to " * 46, "4412 " * 119, "send x money y back " * 30, '"' * 600):
        read(text)
    assert perf_counter() - start < 1


def test_who_was_not_read_is_asked_in_the_tools_names() -> None:
    assert (
        question(["get order", "refund card"])
        == "I didn't recognise anything in that. I can get order or refund card. Which do you mean?"
    )
    assert question(["get order"]).endswith("I can get order. Is that what you mean?")
    assert question([]).endswith("Please say it in other words.")
