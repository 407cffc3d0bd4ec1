"""``manage.py tool``: lists, enables for some, begins a pack whose test passes as it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.tools.enabling import enabled_tools
from permissions.decisions import Action, Level
from permissions.gate import decide_on
from tests.support.cast import Studio
from tests.support.tools import registered, reserve_table
from tests.support.tree import ROOT

NAME = "reserve_table"
COPIED = ("agents", "collab", "permissions", "templates", "tests", "manage.py", "pyproject.toml")
LEFT = shutil.ignore_patterns("__pycache__", "benchmarks", "browser", "faults", "attacks")


@pytest.fixture
def packs() -> Iterator[None]:
    with registered(reserve_table):
        yield


def enable(*more: str) -> None:
    call_command("tool", "enable", NAME, "--workspace", "Studio launch", *more)


@pytest.mark.django_db
def test_it_lists_each_tool_and_where_it_is_enabled(studio: Studio, packs, capsys):
    call_command("tool", "list")
    before = capsys.readouterr().out
    enable("--by", "ana")
    capsys.readouterr()
    call_command("tool", "list")
    after = capsys.readouterr().out
    lines = {line.split()[0]: line for line in before.splitlines()}
    assert "needs no enabling" in lines["edit_document"]
    assert lines[NAME].endswith("enabled: nowhere yet")
    assert next(line for line in after.splitlines() if NAME in line).endswith("enabled: Studio launch")


@pytest.mark.django_db
def test_it_enables_a_tool_and_gives_it_to_people_and_agents(studio: Studio, packs, capsys):
    enable("--by", "ana", "--for", "ben", "Robin")
    assert capsys.readouterr().out == "reserve_table is enabled in Studio launch, for Ben, Robin.\n"
    row = enabled_tools(studio.workspace.id)[NAME]
    acting = studio.robin.acting_for(studio.ben, studio.thread)
    assert decide_on(acting, Action.USE_TOOL, row).level is Level.ALLOW


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--by", "ben"), "Ben"),
        (("--by", "nobody"), "no account called"),
        (("--by", "Robin"), "only a person"),
        (("--by", "ana", "--for", "ben", "nobody"), "no account called"),
    ],
    ids=["no manager", "no account", "an agent", "for nobody"],
)
def test_who_may_not_enable_a_tool_changes_nothing(studio: Studio, packs, more: tuple[str, ...], says: str):
    with pytest.raises(CommandError, match=says):
        enable(*more)
    assert enabled_tools(studio.workspace.id) == {}


@pytest.mark.parametrize("name", ["Weather", "class", "gate", "../x", "", "2day"])
def test_a_name_that_no_package_can_have_makes_nothing(tmp_path: Path, name: str):
    with pytest.raises(CommandError, match="is no name for a pack"):
        call_command("tool", "new", name, "--into", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_pack_that_is_there_is_left_as_it_is(tmp_path: Path, capsys):
    call_command("tool", "new", "weather", "--into", str(tmp_path))
    assert "add to agents/tools/registry.py: from agents.tools.weather" in capsys.readouterr().out
    made = tmp_path / "agents/tools/weather/tools.py"
    made.write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        call_command("tool", "new", "weather", "--into", str(tmp_path))
    assert made.read_text() == "mine"


def test_the_test_of_a_new_pack_passes_as_it_stands(tmp_path: Path):
    for name in COPIED:
        source, target = ROOT / name, tmp_path / name
        shutil.copytree(source, target, ignore=LEFT) if source.is_dir() else shutil.copy(source, target)
    call_command("tool", "new", "weather", "--into", str(tmp_path))
    test = "tests/integration/test_weather_pack.py"
    tested = run(tmp_path, "pytest", "-q", "-n0", "-p", "no:cacheprovider", test)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "4 passed" in tested.stdout
    linted = run(tmp_path, "ruff", "check", "agents/tools/weather", "agents/tools/registry.py", test)
    assert linted.returncode == 0, linted.stdout


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in another copy of the project, apart from this run's database."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DATABASE", "REDIS"))}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=project,
        env={**kept, "ACCORD_DATA": str(project / "data"), "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )
