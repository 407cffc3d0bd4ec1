"""When a call waits for consent, and whose: the rule alone (DESIGN 7)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from agents.tools.consent import addressee, step_hash, waits
from agents.tools.contract import Consent, Effect, Tool, ToolContext, tool
from permissions.actors import Agent, Client, Person, Source, System

ANA, OWNER = Person(uuid4()), uuid4()


def made(effect: Effect = "write", consent: Consent | None = None, **contract) -> Tool:
    async def send(ctx: ToolContext, text: str) -> None:
        """Send."""

    return tool(effect=effect, consent=consent, **contract)(send)


@pytest.mark.parametrize(
    ("consent", "asks_first", "waiting"),
    [
        ("never", False, False), ("never", True, False),
        ("unless_person", False, False), ("unless_person", True, True),
        ("always", False, True), ("always", True, True),
    ],
)  # fmt: skip
def test_consent_is_needed_as_the_contract_says(consent: Consent, asks_first: bool, waiting: bool):
    assert waits(made(consent=consent), asks_first=asks_first, steps=0) is waiting


def test_every_later_write_waits_with_the_first_and_reads_do_not():
    assert waits(made(consent="never"), asks_first=False, steps=1)
    assert not waits(made(effect="read"), asks_first=True, steps=1)


def test_a_write_to_another_side_needs_consent_unless_a_person_asked_by_default():
    assert made().consent == "unless_person"
    assert made(effect="read").consent == "never"


@pytest.mark.parametrize(
    ("origin", "on_behalf_of", "asked"),
    [
        (ANA, ANA, ANA),
        (Client(OWNER, ANA.id), Client(OWNER, ANA.id), ANA),
        (Client(OWNER, None), Client(OWNER, None), None),
        (Source(uuid4(), OWNER), None, Person(OWNER)),
        (Source(uuid4(), None), None, None),
        (System(), None, None),
    ],
    ids=["a person", "a client of theirs", "a client of no one", "a source with an owner", "a source", "the system"],
)
def test_who_is_asked_is_the_person_it_is_for_or_the_owner(origin, on_behalf_of, asked):
    assert addressee(origin, on_behalf_of) == asked


def test_a_source_asks_its_owner_whoever_answered_meanwhile():
    assert addressee(Source(uuid4(), None), ANA) is None


def test_a_step_is_frozen_by_its_tool_and_its_arguments():
    assert step_hash("a", '{"x":1}') == step_hash("a", '{"x":1}')
    assert len({step_hash("a", '{"x":1}'), step_hash("b", '{"x":1}'), step_hash("a", '{"x":2}')}) == 3


def test_an_agent_is_nobody_to_ask():
    assert addressee(Agent(uuid4(), uuid4(), None), None) is None
