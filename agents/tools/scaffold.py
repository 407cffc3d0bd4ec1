"""The files of a new pack of tools: one working tool, its words and its test (``manage.py tool new``). Pure."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from string import Template

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
TAKEN = frozenset({"contract", "enabling", "gate", "http", "phrasings", "registry", "scaffold", "tools"})


class BadName(ValueError):
    """A pack cannot be called so."""


class NoPlace(ValueError):
    """The registry does not look as it should, so the pack's lines are added by hand."""


def files_of(pack: str) -> Mapping[str, str]:
    """Return the files of a new pack by their paths.

    Raises:
        BadName: the name is no name of a package, or something in the room of tools has it.
    """
    if not NAME.fullmatch(pack) or keyword.iskeyword(pack) or pack in TAKEN:
        raise BadName(f"{pack!r} is no name for a pack: use small letters, digits and _, like weather.")
    words = {"pack": pack, "called": pack.replace("_", " ")}
    return {
        f"agents/tools/{pack}/__init__.py": "",
        f"agents/tools/{pack}/tools.py": _TOOLS.substitute(words),
        f"agents/tools/{pack}/words.yaml": _WORDS.substitute(words),
        f"tests/integration/test_{pack}_pack.py": _TEST.substitute(words),
    }


def lines_of(pack: str) -> tuple[str, str]:
    """Return what the registry needs for a pack: its import, and its name among ``PACKS``."""
    return f"from agents.tools.{pack} import tools as {pack}", pack


def registered(source: str, pack: str) -> str:
    """Return the registry's text with a pack added.

    Raises:
        NoPlace: it has no line of imports or no ``PACKS`` to add to.
    """
    imported, name = lines_of(pack)
    imports = list(re.finditer(r"^from agents\.tools\.\w+ import tools as \w+\n", source, re.MULTILINE))
    packs = re.search(r"^PACKS: [^=]+ = \(([^)]*?),?\s*\)", source, re.MULTILINE)
    if not imports or packs is None:
        raise NoPlace
    before = next((line for line in imports if line.group() > f"{imported}\n"), None)
    at = before.start() if before else imports[-1].end()
    end = packs.end(1)
    return f"{source[:at]}{imported}\n{source[at:end]}, {name}{source[end:]}"


_TOOLS = Template('''"""Tools of $called: an example to change."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field, JsonValue

from agents.tools.contract import NotDone, ToolContext, tool

Day = Annotated[str, Field(pattern=r"^\\d{4}-\\d{2}-\\d{2}$$", description="A day, like 2027-01-31.")]


@tool(effect="read", permission="use_tool")
async def ${pack}_days(ctx: ToolContext, first: Day, last: Day) -> JsonValue:
    """Count the days from one day to another."""
    try:
        between = date.fromisoformat(last) - date.fromisoformat(first)
    except ValueError as wrong:
        raise NotDone("There is no such day.") from wrong
    return {"days": between.days}
''')

_WORDS = Template("""# What people call the tools of $called, and what is said of their calls.
# What is left out has the defaults.
${pack}_days:
  nouns: [days]
""")

_TEST = Template('''"""The tools of $called."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from pydantic import ValidationError

from agents.tools.contract import NotDone, ToolContext
from agents.tools.enabling import workspace_tool_enable
from agents.tools.registry import TOOLS
from permissions.decisions import Action, Level
from permissions.gate import decide_on
from tests.support.cast import Studio

pytestmark = pytest.mark.django_db

DAYS = TOOLS["${pack}_days"]


def called(studio: Studio, **args: str) -> object:
    """Call the tool as Robin for Ana."""
    acting = studio.robin.acting_for(studio.ana, studio.thread)
    context = ToolContext(actor=acting, workspace=studio.workspace.id, thread=studio.thread.id, turn=uuid4(), said=str)
    return asyncio.run(DAYS.fn(context, **args))


def test_it_counts_the_days(studio: Studio):
    assert called(studio, first="2026-12-31", last="2027-01-31") == {"days": 31}


def test_a_day_that_does_not_exist_is_a_certain_failure(studio: Studio):
    with pytest.raises(NotDone, match="There is no such day"):
        called(studio, first="2027-02-30", last="2027-03-01")


def test_an_argument_that_it_does_not_name_is_refused():
    with pytest.raises(ValidationError):
        DAYS.args.model_validate({"first": "2027-01-01", "last": "2027-01-02", "more": 1})


def test_once_it_is_enabled_its_owner_may_use_it_and_nobody_else(studio: Studio):
    enabled = workspace_tool_enable(actor=studio.ana.actor, workspace=studio.workspace.id, tool=DAYS.name)
    assert decide_on(studio.ana.actor, Action.USE_TOOL, enabled).level is Level.ALLOW
    assert decide_on(studio.ben.actor, Action.USE_TOOL, enabled).level is Level.DENY
''')
