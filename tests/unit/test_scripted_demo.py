"""What the demo's agent does with what people are told to try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart

from agents.providers.choose import DEMO
from agents.providers.lineage import next_cue
from agents.providers.script import load_script
from agents.providers.template import render, render_text
from collab.edits import parse_edits

SCRIPT = load_script(DEMO)
CHANGED = "Launch plan is at version 4."
SUGGESTED = "I suggested a change to Launch plan; a person must accept it."
READ = {"id": "d1", "title": "Launch plan", "kind": "markdown", "version": 3, "text": "# Launch plan\n"}

Done = list[tuple[str, dict[str, Any]]]


def results(**given: object) -> Mapping[str, object]:
    return {
        "read_document": READ,
        "edit_document": {"id": "d1", "title": "Launch plan", "version": 4, "summary": CHANGED},
        "create_document": {"id": "d3", "summary": "Budget is created."},
        "archive_document": {"id": "d1", "summary": "Budget is archived."},
        "ask_person": {"answer": "In spring", "by": "Ana"},
        "list_documents": [READ],
        **given,
    }


def played(text: str, tools: Mapping[str, object]) -> tuple[list[str], Done]:
    """Play an input to its end and return what was said and which calls were made."""
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(f"Ana: {text}")], metadata={"input": True})]
    said: list[str] = []
    made: Done = []
    rule = next(rule for rule in SCRIPT.rules if rule.pattern.search(f"Ana: {text}"))
    for _ in rule.steps:
        cue = next_cue(SCRIPT, messages)
        (line,) = cue.lines
        said.append(render_text(line.step.say or "", cue.values(line)))
        calls = [
            (call.tool, cast("dict[str, Any]", render(call.args, cue.values(line)))) for call in line.step.calls or ()
        ]
        made += calls
        messages.append(ModelResponse(parts=[]))
        messages.append(ModelRequest(parts=[ToolReturnPart(tool, tools[tool], tool_call_id="c") for tool, _ in calls]))
    return [words for words in said if words], made


def test_adding_to_the_plan_reads_it_and_edits_the_version_that_was_read() -> None:
    said, made = played("please add a welcome speech to the plan", results())
    assert made == [
        ("read_document", {"document": "Launch plan"}),
        ("edit_document", {"document": "Launch plan", "version": 3, "edits": [{"append": "- a welcome speech\n"}]}),
    ]
    assert said[-1].startswith(CHANGED)


@pytest.mark.parametrize("summary", [CHANGED, SUGGESTED])
def test_what_an_edit_came_to_is_said_in_the_tools_own_words(summary: str) -> None:
    said, _ = played("add music to the plan", results(edit_document={"summary": summary}))
    assert said[-1].startswith(summary)


def test_adding_to_the_plan_speaks_long_enough_for_a_second_person_to_post() -> None:
    rule = next(rule for rule in SCRIPT.rules if rule.pattern.search("add music to the plan"))
    said, _ = played("add music to the plan", results())
    assert rule.pace_ms >= 60
    assert len(said[-1].split()) >= 25


def test_the_plan_is_shown_as_it_was_read() -> None:
    said, made = played("what's in the plan?", results())
    assert made == [("read_document", {"document": "Launch plan"})]
    assert said == ["Launch plan is at version 3. It reads:\n\n# Launch plan\n"]


@pytest.mark.parametrize("text", ["rename it to Spring launch", 'Rename the plan to "Spring launch".'])
def test_renaming_changes_the_title_alone(text: str) -> None:
    _, made = played(text, results())
    assert made == [
        ("edit_document", {"document": "Launch plan", "version": None, "edits": [], "title": "Spring launch"})
    ]


def test_renaming_without_a_name_asks_for_one() -> None:
    said, made = played("rename it", results())
    assert [tool for tool, _ in made] == ["ask_person"]
    assert said[-1].startswith('Ana chose "In spring".')


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("check off Ana", {"check": "Ana"}),
        ("check off Ben on the guest list.", {"check": "Ben"}),
        ("uncheck Ana", {"uncheck": "Ana"}),
        ("add Zoe to the guest list", {"add_item": "Zoe"}),
    ],
)
def test_the_guest_list_is_edited_by_item(text: str, edit: dict[str, str]) -> None:
    _, made = played(text, results())
    assert made == [("edit_document", {"document": "Guest list", "version": None, "edits": [edit]})]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("create a document called Budget", "markdown"), ("Create a checklist named Budget!", "checklist")],
)
def test_a_document_is_created_under_its_name(text: str, kind: str) -> None:
    said, ((tool, args),) = played(text, results())
    assert (tool, args["title"], args["kind"]) == ("create_document", "Budget", kind)
    assert said == ["Budget is created."]


@pytest.mark.parametrize("text", ["add music to the plan", "check off Ana", "uncheck Ana", "add Zoe to the list"])
def test_every_edit_is_one_that_documents_know(text: str) -> None:
    _, made = played(text, results())
    assert parse_edits(made[-1][1]["edits"])


def test_archiving_names_the_document() -> None:
    said, made = played("archive the Budget.", results())
    assert made == [("archive_document", {"document": "Budget"})]
    assert said == ["Budget is archived."]


def test_asking_gives_choices_and_says_the_answer() -> None:
    said, ((tool, args),) = played("ask me something", results())
    assert tool == "ask_person"
    assert len(args["choices"]) == 3
    assert 'Ana answered "In spring".' in said[-1]


def test_an_invitation_shows_every_kind_of_markdown() -> None:
    (said,), made = played("draft an invitation", results())
    assert made == []
    for mark in ("\n## ", "\n- ", "\n> ", "\n| --- |", "**", "\n\n"):
        assert mark in said


@pytest.mark.parametrize("text", ["hello", "help", "Hi there"])
def test_a_greeting_is_answered_with_what_to_try(text: str) -> None:
    (said,), _ = played(text, results())
    tries = [line.removeprefix("- ") for line in said.splitlines() if line.startswith("- ")]
    assert len(tries) >= 6
    for attempt in tries:
        assert next_rule(attempt) not in (next_rule("hello"), next_rule("gibberish")), attempt


def test_anything_else_is_answered_with_where_help_is() -> None:
    (said,), made = played("gibberish", results())
    assert "help" in said
    assert made == []


@pytest.mark.parametrize(
    "text",
    ["what's in the plan", "what documents are there", "show the guest list", "ask me", "archive it", "rename it"],
)
def test_nothing_the_demo_says_is_left_unfilled(text: str) -> None:
    said, made = played(text, results())
    assert "not available" not in str((said, made))


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        (
            "book a table for 4 on 2026-12-04 at 20:00",
            "reserve_table",
            {"day": "2026-12-04", "time": "20:00", "party": 4, "name": ""},
        ),
        ("cancel the reservation R1", "cancel_table", {"reservation": "R1"}),
        ("text the group: we moved to 20:30", "text_group", {"text": "we moved to 20:30"}),
        ("what's order 4412?", "get_order", {"order": "4412"}),
        ("refund 12.50 for order 4412", "refund_card", {"order": "4412", "amount": 12.5}),
    ],
)
def test_the_restaurant_and_the_shop_are_asked_with_arguments_of_their_kinds(
    text: str, tool: str, args: dict[str, Any]
) -> None:
    found = {name: {} for name in ("reserve_table", "cancel_table", "text_group", "get_order", "refund_card")}
    _, made = played(text, results(**found))
    assert made == [(tool, args)]


def test_a_restaurants_offer_is_taken_up_on_its_own_day_and_told_to_the_group() -> None:
    _, made = played("A table for 4 is free on Fri 4 December 2026 at 20:30.", results(reserve_table={}, text_group={}))
    assert made == [
        ("reserve_table", {"day": "2026-12-04", "time": "20:30", "party": 4}),
        ("text_group", {"text": "A table for 4 on 2026-12-04 at 20:30."}),
    ]


def next_rule(text: str) -> str:
    return next(rule.when for rule in SCRIPT.rules if rule.pattern.search(f"Ana: {text}"))
