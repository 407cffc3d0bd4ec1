"""What a delegation makes of an agent's rights, decided on facts alone (docs/decisions/0013)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.actors import Agent, Client, Person
from permissions.decisions import AccountKind, Action, Delegated, Facts, Held, Level, Lowering, Standing, decide
from permissions.roles import ROLE_GRANTS, Role

ANA, BEN, DESK, ROBIN, DINNER = (UUID(int=number) for number in range(1, 6))
ALLOW, PROPOSE, DENY = Level.ALLOW, Level.PROPOSE, Level.DENY
CHANGE = Action.CHANGE_DOCUMENT
SIX = datetime(2026, 6, 4, 18, 0, tzinfo=UTC)
MODE = Lowering("Launch dinner is in suggest mode", of_mode=True)
POLICY = Lowering("Plan takes changes by agents and clients as proposals")
ROBIN_FOR_BEN = Agent(ROBIN, DINNER, Person(BEN))


def standing(id: UUID, name: str, role: Role | None, kind: AccountKind = AccountKind.PERSON, **more) -> Standing:
    grants = tuple(Held(codename, on_scope=True) for codename in sorted(ROLE_GRANTS[role])) if role else ()
    return Standing(id, name, kind, grants=grants, **more)


def decided(
    level: Level | None,
    *,
    robin: Role | None = Role.EDITOR,
    ben: Role | None = Role.EDITOR,
    ana: Role | None = Role.OWNER,
    lowers: tuple[Lowering, ...] = (),
    actor=ROBIN_FOR_BEN,
    action: Action = CHANGE,
    **anas,
):
    people = [standing(ANA, "Ana", ana, **anas), standing(BEN, "Ben", ben)]
    services = [
        standing(ROBIN, "Robin", robin, AccountKind.AGENT),
        standing(DESK, "Desk", Role.EDITOR, AccountKind.CLIENT),
    ]
    known = {one.account: one for one in [*people, *services]}
    return decide(
        actor, action, Facts("Plan", known, lowers, delegated=None if level is None else Delegated(level, ANA, SIX))
    )


@pytest.mark.parametrize(
    ("level", "robin", "lowers", "expected"),
    [
        (ALLOW, Role.EDITOR, (MODE,), ALLOW),
        (ALLOW, Role.VIEWER, (), ALLOW),
        (ALLOW, Role.CONTRIBUTOR, (MODE,), ALLOW),
        (ALLOW, None, (), DENY),
        (ALLOW, Role.EDITOR, (POLICY,), PROPOSE),
        (ALLOW, Role.EDITOR, (MODE, POLICY), PROPOSE),
        (PROPOSE, Role.EDITOR, (), PROPOSE),
        (PROPOSE, Role.VIEWER, (), PROPOSE),
        (PROPOSE, None, (), DENY),
        (DENY, Role.EDITOR, (), DENY),
        (DENY, Role.EDITOR, (MODE,), DENY),
    ],
)
def test_a_delegation_takes_the_place_of_the_agents_grants_and_the_mode(level, robin, lowers, expected):
    assert decided(level, robin=robin, lowers=lowers).level is expected


@pytest.mark.parametrize(("ben", "expected"), [(Role.VIEWER, DENY), (Role.CONTRIBUTOR, PROPOSE), (Role.EDITOR, ALLOW)])
def test_the_person_it_acts_for_still_caps_it(ben, expected):
    assert decided(ALLOW, ben=ben).level is expected


def test_a_client_in_the_chain_still_caps_it():
    for_desk = Agent(ROBIN, DINNER, Client(DESK, BEN))
    assert decided(ALLOW, robin=Role.VIEWER, actor=for_desk).level is ALLOW
    assert decided(ALLOW, robin=Role.VIEWER, actor=for_desk, ben=Role.VIEWER).level is DENY


@pytest.mark.parametrize(
    "ana", [{"ana": Role.VIEWER}, {"ana": Role.CONTRIBUTOR}, {"ana": None}, {"ana": Role.OWNER, "active": False}]
)
def test_a_giver_who_may_not_themselves_gives_nothing_and_still_takes(ana):
    assert decided(ALLOW, robin=Role.VIEWER, **ana).level is DENY
    assert decided(ALLOW, robin=Role.EDITOR, lowers=(MODE,), **ana).level is PROPOSE
    assert decided(ALLOW, robin=Role.EDITOR, **ana).level is ALLOW
    assert decided(DENY, robin=Role.EDITOR, **ana).level is DENY


def test_it_changes_no_other_right():
    for action in set(Action) - {CHANGE}:
        assert decided(ALLOW, action=action) == decided(None, action=action)


def test_it_changes_nobody_elses_rights():
    for actor in (Person(BEN), Client(DESK, BEN)):
        assert decided(DENY, actor=actor) == decided(None, actor=actor)


def test_what_it_gives_names_the_delegation_its_giver_and_its_end():
    decision = decided(ALLOW, robin=Role.VIEWER)
    assert decision.because == (
        "Robin for Ben may change Plan: Robin may change documents in this thread by Ana's delegation, "
        "until 4 June 2026, 18:00 UTC; Ben holds change document on its workspace; "
        "Ana holds change document on its workspace."
    )
    assert [line.name for line in decision.parties] == ["Robin", "Ben", "Ana"]


def test_what_it_lowers_and_refuses_names_it_too():
    lowered, denied = decided(PROPOSE), decided(DENY)
    assert lowered.because == (
        "Robin for Ben may only propose changes to Plan: Robin may only propose changes in this thread by Ana's "
        "delegation, until 4 June 2026, 18:00 UTC."
    )
    assert lowered.lowered_by
    assert denied.because == (
        "Robin may not change Plan: Robin may change no document in this thread by Ana's delegation, "
        "until 4 June 2026, 18:00 UTC."
    )


def test_its_giver_is_one_party_even_where_the_turn_is_for_them():
    for_ana = Agent(ROBIN, DINNER, Person(ANA))
    assert [line.name for line in decided(ALLOW, actor=for_ana).parties] == ["Robin", "Ana"]


ROLES = st.sampled_from([None, *Role])


@given(level=st.sampled_from(Level), robin=ROLES, ben=ROLES, ana=ROLES, mode=st.booleans(), policy=st.booleans())
def test_it_never_gives_more_than_it_says_nor_than_its_giver_or_its_person_may(level, robin, ben, ana, mode, policy):
    lowers = (*((MODE,) if mode else ()), *((POLICY,) if policy else ()))
    found = decided(level, robin=robin, ben=ben, ana=ana, lowers=lowers).level
    without = decided(None, robin=robin, ben=ben, ana=ana, lowers=lowers).level
    anas, bens = (decided(None, actor=Person(id), ana=ana, ben=ben).level for id in (ANA, BEN))
    assert found <= bens
    assert found <= level
    assert found <= without or found <= anas
