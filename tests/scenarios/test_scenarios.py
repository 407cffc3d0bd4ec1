"""Every scenario comes to what is recorded of it, and the world did what its ledger then says (docs/scenarios.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agents.management.commands.scenario import LOGS, played
from agents.scenarios.acts import names
from agents.scenarios.printing import printed

Came = Mapping[str, Mapping[str, Any]]

# The first test plays them all: a busy machine may take long, and none of them goes by the wall clock.
pytestmark = pytest.mark.timeout(900)

DEEDS = {
    "actually-saturday": ["reserve", "cancel", "reserve"],
    "actually-saturday-undone": ["reserve", "cancel", "reserve"],
    "approved-by-another": ["reserve"],
    "approved-too-late": ["reserve"],
    "approved-twice": ["reserve", "reserve", "text"],
    "approved-without-grant": ["reserve"],
    "booking": ["reserve"],
    "crash": ["reserve"],
    "four-inputs": [],
    "hidden-party": ["reserve"],
    "in-flight-classify": ["reserve", "text"],
    "in-flight-merge": ["reserve", "text"],
    "in-flight-queue": ["reserve", "text"],
    "in-flight-restart": ["text", "text"],
    "independent-question": ["reserve"],
    "lost-reply": ["reserve"],
    "lost-reply-settled-later": ["reserve"],
    "no-table": [],
    "offer": ["reserve"],
    "offer-approved": ["reserve", "reserve", "text"],
    "offer-superseded": ["reserve", "reserve", "text"],
    "replay": ["reserve"],
    "restart-by-operation": ["reserve", "text"],
    "restart-with-keys-per-turn": ["reserve", "reserve", "text"],
    "same-post-twice": ["reserve"],
    "tell-sam": ["reserve", "text"],
    "tell-sam-by-webhook": ["reserve", "reserve"],
    "unclear": ["reserve"],
}
"""What the world did in each, by its own ledger; whatever begins with an offer begins with a booking it is about."""


@pytest.fixture(scope="module")
def came() -> Came:
    """Play every scenario, once for all of these tests."""
    return {told["name"]: told for told in played(names())}


@pytest.mark.parametrize("name", names())
def test_a_scenario_comes_to_what_is_recorded(came: Came, name: str):
    assert "error" not in came[name], came[name]["error"]
    assert printed(came[name]) == (LOGS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", names())
def test_the_world_did_what_was_asked_of_it_and_no_more(came: Came, name: str):
    assert [deed["deed"] for deed in came[name]["world"]] == DEEDS[name]


def test_each_deed_has_a_key_of_its_own(came: Came):
    for told in came.values():
        keys = [deed["key"] for deed in told["world"]]
        assert len(keys) == len(set(keys)), told["name"]


def test_no_log_is_of_a_scenario_that_is_gone():
    assert sorted(path.stem for path in LOGS.glob("*.txt")) == names()


def test_a_model_reads_what_a_source_delivers_as_data(came: Came):
    first, second = came["offer"]["history"]
    assert first["lines"][0] == "reads: Ana: Book a table for 2 on Friday at 19:30."
    (read,) = [line for line in second["lines"] if "<event" in line]
    assert read.startswith('reads: <event from="restaurant" verified="signature">A table for 4 is free')
    assert read.endswith("</event> (not written by a person)")


def test_the_turn_that_revises_is_told_what_the_old_one_did(came: Came):
    _, second = came["actually-saturday"]["history"]
    (account,) = [line for line in second["lines"] if "This request changes an earlier one" in line]
    assert 'T1-1 reserve_table {"day":"2026-12-04","name":"","party":4,"time":"20:30"}: done' in account


def test_a_rule_that_is_taken_out_is_named(came: Came):
    assert [name for name, told in came.items() if "PATCHED" in printed(told)] == ["restart-with-keys-per-turn"]
