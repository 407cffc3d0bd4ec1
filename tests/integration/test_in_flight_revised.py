"""A message that changes what a running turn was asked for: the turn stops, the next is told what it did (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from agents.models.agents import Agent
from agents.models.turns import Call
from agents.providers.scripted import ScriptedModel, ScriptFile
from agents.tools.contract import Looked, Tool, ToolContext, tool
from agents.turns import runner
from agents.turns.revising import account
from collab import log
from collab.models.threads import Event, Message
from tests.support.cast import Studio
from tests.support.tools import registered
from tests.support.turns import Asked, Puppet, Stage, posts, staged, took, turns, types, until

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNT = "This request changes an earlier one"


@pytest.fixture(autouse=True)
def classifies(studio: Studio) -> None:
    Agent.objects.filter(pk=studio.robin.id).update(classify=True)


def booking(*, answers: bool = True) -> Tool:
    """Return a tool that books, whose answers may get lost."""

    async def looked(ctx: ToolContext, args: object) -> Looked:
        return Looked(True, {"reservation": "R1"})

    @tool(effect="write", permission="", label="Book table", lookup=looked)
    async def book_table(ctx: ToolContext, day: str) -> JsonValue:
        """Book a table."""
        if not answers:
            raise ConnectionError
        return {"reservation": "R1", "day": day}

    return book_table


@pytest.fixture
def books() -> Iterator[None]:
    with registered(booking()):
        yield


def revised(studio: Studio, puppet: Puppet, *texts: str) -> Asked:
    """Have Ana say during her turn, after it booked for Friday, that she means Saturday; return what is asked next."""
    posts(studio.ana, studio.thread, "book a table for Friday")
    puppet.is_asked()
    for text in texts or ("actually, Saturday",):
        posts(studio.ana, studio.thread, text)
    puppet.says("I book it. ", calls=[("book_table", {"day": "Friday"})])
    for meaning in ("independent",) * (len(texts) - 1) + ("revises",):
        assert "Say what it means" in puppet.is_asked().words
        puppet.calls("message_means", meaning=meaning)
    return puppet.is_asked()


def test_what_revises_stops_the_turn_and_the_next_is_told_what_it_did(
    studio: Studio, puppet: Puppet, stage: Stage, books: None
):
    asked = revised(studio, puppet)
    told = next(text for text in asked.words.splitlines() if text.startswith("- T1-1"))
    assert (
        told.removesuffix("</note>")
        == '- T1-1 book_table {"day":"Friday"}: done; result {"day":"Friday","reservation":"R1"}'
    )
    assert asked.words.index(ACCOUNT) < asked.words.rindex("actually, Saturday")
    puppet.says("I see.")
    stage.settles()
    old, new = turns(studio.thread)
    assert (old.status, old.reason, new.revises_id, new.restarts_id) == ("stopped", "revised", old.id, None)
    assert f'"revises":"{old.id}"' in Event.objects.filter(type="turn_started").latest("seq").data
    assert (new.root_id, new.origin, took(new)) == (new.id, old.origin, ["actually, Saturday"])
    assert log.verify(studio.thread.id) is None


def test_what_waited_before_what_revises_is_taken_with_it(studio: Studio, puppet: Puppet, stage: Stage, books: None):
    revised(studio, puppet, "what is the time?", "actually, Saturday")
    puppet.says("Noon, and Saturday.")
    stage.settles()
    assert took(turns(studio.thread)[1]) == ["what is the time?", "actually, Saturday"]


def test_the_account_is_of_the_turn_that_was_revised_and_of_no_other(
    studio: Studio, puppet: Puppet, stage: Stage, books: None
):
    revised(studio, puppet)
    puppet.says("I see.")
    stage.settles()
    posts(studio.ana, studio.thread, "thanks")
    assert ACCOUNT not in puppet.is_asked().words
    puppet.says("Gladly.")
    stage.settles()
    assert account(turns(studio.thread)[2]) == []


def test_what_changed_nothing_is_told_so(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "book a table for Friday")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "actually, Saturday")
    puppet.calls("list_documents")
    puppet.is_asked()
    puppet.calls("message_means", meaning="revises")
    assert "before it changed anything" in puppet.is_asked().words
    puppet.says("Saturday.")
    stage.settles()


def test_a_call_of_the_old_plan_that_nobody_knew_of_is_looked_up_before_it_is_told(
    studio: Studio, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runner.rights, "usable", lambda turn, workspace: frozenset({"book_table"}))
    with registered(booking(answers=False)):
        told = revised(studio, puppet).words
        puppet.says("I see.")
        stage.settles()
    assert '- T1-1 book_table {"day":"Friday"}: done; result {"reservation":"R1"}' in told
    assert Call.objects.get().moved_from == "unknown"


def test_what_the_author_may_not_start_any_more_is_passed_over(
    studio: Studio, puppet: Puppet, stage: Stage, books: None, monkeypatch: pytest.MonkeyPatch
):
    Agent.objects.filter(pk=studio.robin.id).update(turns_a_day=1)
    posts(studio.ana, studio.thread, "book a table for Friday")
    puppet.is_asked()
    message = posts(studio.ana, studio.thread, "actually, Saturday")
    puppet.calls("book_table", day="Friday")
    puppet.is_asked()
    puppet.calls("message_means", meaning="revises")
    until(lambda: Message.objects.get(pk=message.id).passed_over is not None)
    stage.settles()
    (turn,) = turns(studio.thread)
    assert (turn.status, turn.reason) == ("stopped", "revised")


SCRIPT = """
- when: 'book a table'
  steps:
    - hang: 0.2
      say: "I look."
    - calls: [{tool: list_documents}]
    - say: "Nothing is booked."
- when: 'tell Sam'
  classify: adds
  steps: [{say: "Sam will hear."}]
- when: 'the time'
  classify: independent
  steps: [{say: "Noon."}]
- when: 'Saturday'
  classify: revises
  steps: [{say: "Saturday it is."}]
- when: '.'
  steps: [{say: "Hm."}]
"""


@pytest.mark.parametrize(
    ("text", "taken", "reason"),
    [
        ("also tell Sam", [["book a table", "also tell Sam"]], ""),
        ("what is the time?", [["book a table"], ["what is the time?"]], ""),
        ("actually, Saturday", [["book a table"], ["actually, Saturday"]], "revised"),
        ("hm", [["book a table"]], ""),
    ],
    ids=["adds", "independent", "revises", "unclear"],
)
def test_a_script_says_what_a_message_means(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, taken: list[list[str]], reason: str
):
    file = tmp_path / "script.yaml"
    file.write_text(SCRIPT)
    model = ScriptedModel(ScriptFile(file))
    monkeypatch.setattr(runner, "model_for", lambda name: model)
    before = runner.Runner._classify
    posts(studio.ana, studio.thread, "book a table")

    async def posted(*args: object) -> None:
        await runner.in_db(_once, studio, text)
        await before(*args)

    monkeypatch.setattr(runner.Runner, "_classify", staticmethod(posted))
    with staged() as stage:
        stage.wake(studio.thread)
        until(lambda: [took(turn) for turn in turns(studio.thread)] == taken)
        stage.settles()
    assert turns(studio.thread)[0].reason == reason
    assert ("message_held" in types(studio.thread)) == (text == "hm")


def _once(studio: Studio, text: str) -> None:
    if not Message.objects.filter(thread=studio.thread, content=text).exists():
        posts(studio.ana, studio.thread, text)
