"""What docs/tools.md shows works as it stands there, every block of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from agents.models.turns import Call
from agents.replies.phrasings import phrasings_of
from agents.replies.words import tool_words
from agents.tools.contract import Tool
from tests.support.cast import Studio
from tests.support.tools import registered
from tests.support.tree import ROOT

pytestmark = pytest.mark.django_db

TEXT = (ROOT / "docs/tools.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [code for known, code in BLOCKS if known == language]


@pytest.fixture
def defined() -> dict[str, Any]:
    """Run the Python of the document, from its first block to its last."""
    found: dict[str, Any] = {"__name__": "docs.tools"}
    for code in blocks("python"):
        exec(compile(code, "docs/tools.md", "exec"), found)
    return found


def test_every_block_is_of_a_language_that_is_tried_here():
    assert {known for known, _ in BLOCKS} == {"python", "sh", "yaml"}


def test_the_first_tool_is_twenty_lines_at_most():
    assert len(blocks("python")[0].strip().splitlines()) <= 20


def test_its_tests_pass(defined: dict[str, Any], studio: Studio):
    tests: list[Callable[[Studio], None]] = [made for name, made in defined.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test(studio)


def test_its_commands_do_what_it_says(defined: dict[str, Any], studio: Studio, tmp_path, capsys):
    with registered(defined["book_room"]):
        for line in "".join(blocks("sh")).splitlines():
            _, command, *more = shlex.split(line)
            call_command(command, *more, *(("--into", str(tmp_path)) if "new" in more else ()))
    said = capsys.readouterr().out
    assert "book_room is enabled in Studio launch, for Ben, Robin." in said
    assert "allow: " in said


def test_its_words_are_words_that_a_tool_can_have(defined: dict[str, Any]):
    (text,) = blocks("yaml")
    said = yaml.safe_load(text)
    arguments = {name: tuple(defined[name].args.model_fields) for name in said}
    assert "book" in tool_words("book_room", arguments["book_room"], said["book_room"]).verbs
    phrasings_of({name: one["phrasings"] for name, one in said.items()}, arguments)


def test_it_names_every_field_of_the_contract_and_every_outcome():
    made_of_the_function = {"name", "fn", "args", "definition", "asks"}
    fields = set(Tool.__dataclass_fields__) - made_of_the_function
    assert {name for name in fields if f"`{name}`" not in TEXT} == set()
    assert {name for name in Call.Outcome.values if f"`{name}`" not in TEXT} == set()
