"""Who counts as one author, and who may resolve whose proposal: every ordered pair, written out by hand (DESIGN 5)."""

from __future__ import annotations

from uuid import UUID

import pytest

from permissions.actors import (
    Actor,
    Agent,
    Client,
    Person,
    Source,
    System,
    author_key,
    dumps,
    loads,
    person,
    same_author,
)
from permissions.resolving import ResolveRule, may_resolve

ANA, BEN, DESK, LAMP, ROBIN, HOOK = (UUID(int=number) for number in range(1, 7))
DINNER, BUDGET = UUID(int=101), UUID(int=102)
NAMES = {ANA: "Ana", BEN: "Ben", DESK: "Desk", LAMP: "Lamp", ROBIN: "Robin"}

ACTORS: dict[str, Actor] = {
    "ana": Person(ANA),
    "ben": Person(BEN),
    "desk/ana": Client(DESK, ANA),
    "lamp/ana": Client(LAMP, ANA),
    "desk": Client(DESK),
    "robin/ana": Agent(ROBIN, DINNER, Person(ANA)),
    "robin/desk/ana": Agent(ROBIN, DINNER, Client(DESK, ANA)),
    "robin/lamp/ana": Agent(ROBIN, DINNER, Client(LAMP, ANA)),
    "robin/desk": Agent(ROBIN, DINNER, Client(DESK)),
    "robin": Agent(ROBIN, DINNER),
    "elsewhere/ana": Agent(ROBIN, BUDGET, Person(ANA)),
    "hook": Source(HOOK),
    "hook of ana": Source(HOOK, ANA),
    "system": System(),
}
"""Ana, Ben, Ana's two clients, a client of no one, the agent of one thread for each of them and for no one, the agent
of another thread for Ana, a source without and with an owner, the system."""

# fmt: off
# The columns stand in the order of ACTORS; a dot is no.
ONE_AUTHOR = {
    "ana":            "y . . . . y . . . . y . . .",
    "ben":            ". y . . . . . . . . . . . .",
    "desk/ana":       ". . y . . . y . . . . . . .",
    "lamp/ana":       ". . . y . . . y . . . . . .",
    "desk":           ". . . . y . . . y . . . . .",
    "robin/ana":      "y . . . . y . . . . y . . .",
    "robin/desk/ana": ". . y . . . y . . . . . . .",
    "robin/lamp/ana": ". . . y . . . y . . . . . .",
    "robin/desk":     ". . . . y . . . y . . . . .",
    "robin":          ". . . . . . . . . y . . . y",
    "elsewhere/ana":  "y . . . . y . . . . y . . .",
    "hook":           ". . . . . . . . . . . y . .",
    "hook of ana":    ". . . . . . . . . . . . y .",
    "system":         ". . . . . . . . . y . . . y",
}

# Rows resolve what columns proposed.
MAY_RESOLVE = {
    "ana":            ". y . . y y y y y y y y y y",
    "ben":            "y . y y y y y y y y y y y y",
    "desk/ana":       ". y . . . . . . . y . y y y",
    "lamp/ana":       ". y . . y . . . y y . y y y",
    "desk":           "y y . y . y . y . y y y y y",
    "robin/ana":      ". y . . y . . . . . . y y y",
    "robin/desk/ana": ". y . . . . . . . . . y y y",
    "robin/lamp/ana": ". y . . y . . . . . . y y y",
    "robin/desk":     "y y . y . . . . . . y y y y",
    "robin":          "y y y y y . . . . . y y y y",
    "elsewhere/ana":  ". y . . y . . . y y . y y y",
    "hook":           ". . . . . . . . . . . . . .",
    "hook of ana":    ". . . . . . . . . . . . . .",
    "system":         ". . . . . . . . . . . . . .",
}


# fmt: on


def pairs(table: dict[str, str]) -> list[tuple[str, str, bool]]:
    assert list(table) == list(ACTORS)
    return [
        (row, column, answer == "y")
        for row, answers in table.items()
        for column, answer in zip(ACTORS, answers.split(), strict=True)
    ]


@pytest.mark.parametrize(("a", "b", "expected"), pairs(ONE_AUTHOR))
def test_two_actors_are_one_author_when_they_act_for_the_same(a, b, expected):
    assert same_author(ACTORS[a], ACTORS[b]) is expected


@pytest.mark.parametrize(("responder", "proposer", "expected"), pairs(MAY_RESOLVE))
def test_nobody_resolves_what_is_theirs(responder, proposer, expected):
    assert may_resolve(ACTORS[responder], ACTORS[proposer], NAMES).allowed is expected


@pytest.mark.parametrize("actor", ACTORS.values(), ids=ACTORS.keys())
def test_an_actor_written_down_reads_back_as_itself(actor):
    assert loads(dumps(actor)) == actor


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ana",
        "person:1",
        f"person:{ANA}/person:{BEN}",
        f"client:{DESK}/owner:{ANA}",
        "system:1",
        f"agent:{ROBIN}@{DINNER}/system",
    ],
)
def test_what_is_no_actor_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        loads(text)


def test_the_person_is_found_at_the_end_of_the_chain():
    assert person(ACTORS["robin/desk/ana"]) == Person(ANA)
    assert person(ACTORS["robin/desk"]) is None
    assert person(ACTORS["hook of ana"]) is None


def test_a_source_is_never_the_author_that_its_owner_is():
    assert author_key(ACTORS["hook of ana"]) != author_key(ACTORS["ana"])


@pytest.mark.parametrize(
    ("responder", "proposer", "rule", "sentence", "to_responder"),
    [
        (
            "ana", "ana", ResolveRule.OWN,
            "Ana can't accept: Ana proposed it.",
            "You proposed it: someone else must accept.",
        ),
        (
            "ana", "ben", ResolveRule.ANOTHERS,
            "Ana can accept: Ben proposed it.",
            "You can accept: Ben proposed it.",
        ),
        (
            "ana", "robin/ana", ResolveRule.AGENTS_IN_PERSON,
            "Ana can accept: Robin proposed it for Ana.",
            "You can accept: Robin proposed it for you.",
        ),
        (
            "ana", "robin/desk/ana", ResolveRule.AGENTS_IN_PERSON,
            "Ana can accept: Robin proposed it for Desk, acting for Ana.",
            "You can accept: Robin proposed it for Desk, acting for you.",
        ),
        (
            "ben", "robin/ana", ResolveRule.ANOTHERS,
            "Ben can accept: Robin proposed it for Ana.",
            "You can accept: Robin proposed it for Ana.",
        ),
        (
            "ana", "desk/ana", ResolveRule.SHARED,
            "Ana can't accept: Desk proposed it for Ana.",
            "Desk proposed it for you: someone else must accept.",
        ),
        (
            "desk/ana", "ana", ResolveRule.SHARED,
            "Desk can't accept: Ana proposed it.",
            "Ana proposed it: someone else must accept.",
        ),
        (
            "desk/ana", "lamp/ana", ResolveRule.SHARED,
            "Desk can't accept: Lamp proposed it for Ana.",
            "Lamp proposed it for Ana: someone else must accept.",
        ),
        (
            "desk/ana", "desk", ResolveRule.OWN,
            "Desk can't accept: Desk proposed it.",
            "You proposed it: someone else must accept.",
        ),
        (
            "hook", "ana", ResolveRule.NO_RESOLVER,
            "The source can't accept: only people, and agents and clients, resolve proposals.",
            "The source can't accept: only people, and agents and clients, resolve proposals.",
        ),
    ],
)  # fmt: skip
def test_a_verdict_says_its_rule_to_everyone_and_to_the_responder(responder, proposer, rule, sentence, to_responder):
    verdict = may_resolve(ACTORS[responder], ACTORS[proposer], NAMES)
    assert (verdict.rule, verdict.because, verdict.to_responder) == (rule, sentence, to_responder)


def test_a_proposer_whose_account_is_gone_is_still_told():
    assert may_resolve(Person(BEN), Person(ANA), {BEN: "Ben"}).to_responder == (
        "You can accept: A removed account proposed it."
    )
