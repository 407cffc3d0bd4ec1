"""A scenario's file is read as it is written, or refused with its file, its line, its act and what to do."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.management.commands import scenario as command
from agents.scenarios.acts import Passes, Posts, ScenarioError, load_scenario, names, parse_scenario
from agents.scenarios.printing import stable
from tests.support.tree import ROOT

HEAD = """shows: Two acts.
script: [{when: a, steps: [{say: b}]}]
acts:
  - {act: posts, who: Ana, text: hi, id: m1}
"""


def refused(act: str, head: str = HEAD) -> str:
    """Return why a file with one more act is refused."""
    with pytest.raises(ScenarioError) as refusal:
        parse_scenario(f"{head}  - {{{act}}}\n", file="new.yaml")
    return str(refusal.value)


def test_a_scenario_is_read_as_it_is_written():
    found = parse_scenario(f"{HEAD}  - {{act: passes, minutes: 2}}\n", file="new.yaml")
    assert (found.name, found.scenario.shows, found.scenario.agent.in_flight) == ("new", "Two acts.", "merge")
    first, second = found.scenario.acts
    assert isinstance(first, Posts)
    assert isinstance(second, Passes)
    assert (first.who, second.minutes) == ("Ana", 2)


@pytest.mark.parametrize(
    ("act", "because"),
    [
        ("act: posts, who: Bob, text: hi", "act 2 (posts): `who` is wrong: input should be 'Ana', 'Ben', 'Vera'"),
        ("act: posts, who: Ben, text: hi, loud: 1", "act 2 (posts): `loud` is not a key of the format"),
        ("act: posts, who: Ben", "act 2 (posts): `text` is missing: add it."),
        ("act: sings, who: Ben", "act 2: `act` says what is done; it is one of `posts`, `means`, `delivers`"),
        ("who: Ben, text: hi", "act 2: `act` is missing: it says what is done."),
        ("act: passes", "act 2 (passes): `minutes` or `seconds` must be more than 0."),
        ("act: world", "act 2 (world): name what changes: `hold`, `lose_replies`, `fail` or `down`."),
        ("act: approves, who: Ana, action: one", "act 2 (approves): `action` is wrong"),
        (
            "act: posts, who: Ben, who: Ana, text: hi",
            "not YAML that a scenario may use: the key `who` is written",
        ),
    ],
    ids=lambda value: "-".join(value.split()[:4]).strip(":,`"),
)
def test_an_act_that_cannot_be_is_refused_with_its_place(act: str, because: str):
    told = refused(act)
    assert told.startswith("new.yaml, line 5")
    assert because in told


def test_what_an_act_names_must_be_there():
    told = refused("act: means, who: Ana, message: m2, meant: adds")
    assert told == "new.yaml, line 1: act 2 names the message `m2`, which no act posts."


def test_a_script_that_is_wrong_is_refused_with_its_step():
    assert "line 2: step 1: `sax` is not a key of the format" in refused("act: dies", HEAD.replace("say", "sax"))


def test_every_scenario_says_in_a_line_what_it_shows():
    told = StringIO()
    call_command("scenario", "--list", stdout=told)
    lines = told.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert all(load_scenario(name).scenario.shows.endswith(".") for name in names())


def test_the_document_lists_every_scenario_and_its_example_is_one():
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `([a-z0-9-]+)`: (.*)$", text, re.MULTILINE)
    assert listed == [(name, load_scenario(name).scenario.shows) for name in names()]
    (example,) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [act.act for act in parse_scenario(example, file="new.yaml").scenario.acts] == ["posts", "passes"]


@pytest.mark.parametrize("asked", [["nothing-like-it"], [], ["../acts"]], ids=["unknown", "none", "a path"])
def test_what_is_no_scenario_is_told_in_a_sentence(asked: list[str]):
    with pytest.raises(CommandError, match=r"There is no scenario|name a scenario"):
        call_command("scenario", *asked, stdout=StringIO())


def test_no_scenario_sees_the_database_of_who_plays_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://real")
    monkeypatch.setenv("REDIS_URL", "redis://real")
    monkeypatch.setenv("ACCORD_RUNNERS", "1")
    found = command._environment("/somewhere")
    assert found["DATABASE_URL"] == "sqlite:////somewhere/accord.sqlite3"
    assert (found["REDIS_URL"], found.get("ACCORD_RUNNERS")) == ("", None)


def test_ids_are_numbered_as_they_come():
    one, two = "0193a1b2-1111-7000-8000-00000000000a", "0193a1b2-2222-7000-8000-00000000000b"
    assert stable(f"{two} {one} {two}") == "id-1 id-2 id-1"
