"""What the README shows works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import uuid4

import pytest

from agents.tools.contract import Tool, ToolContext
from tests.support.cast import Studio

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.django_db


def test_the_tool_of_the_readme_finds_what_its_person_may_see_and_nothing_else(studio: Studio, zoe):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    defined: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), defined)
    (made,) = [value for value in defined.values() if isinstance(value, Tool)]

    def found_for(someone) -> list[str]:
        acting = studio.robin.acting_for(someone, studio.thread)
        place = {"workspace": studio.workspace.id, "thread": studio.thread.id}
        context = ToolContext(actor=acting, **place, turn=uuid4(), said=str)
        return made.fn(context, words="BUDGET")

    assert found_for(studio.vera) == ["Launch plan"]
    assert found_for(zoe) == []
