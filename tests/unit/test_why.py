"""An explanation is true: what it says would change a decision does, and nothing less would (DESIGN 11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissions import ways
from permissions.actors import Agent, Client, Person, Source, System
from permissions.decisions import AccountKind, Action, Delegated, Facts, Held, Level, Lowering, Standing, decide
from permissions.roles import OBJECT_PERMISSIONS
from permissions.why import Kept, explain, json_of, lines_of

ANA, BEN, ROBIN, DESK, THREAD = (uuid4() for _ in range(5))
KINDS = {ANA: AccountKind.PERSON, BEN: AccountKind.PERSON, ROBIN: AccountKind.AGENT, DESK: AccountKind.CLIENT}
NAMES = {ANA: "Ana", BEN: "Ben", ROBIN: "Robin", DESK: "Desk"}
SUGGEST = Lowering("Launch dinner is in suggest mode", of_mode=True, undone_by="set Launch dinner to edit mode")
POLICY = Lowering("Launch plan takes proposals", undone_by="let Launch plan take changes directly")
UNTIL = datetime(2026, 6, 12, 18, tzinfo=UTC)
CHANGE, MANAGE = Action.CHANGE_DOCUMENT, Action.MANAGE
CODENAMES = [codename for codename, _ in OBJECT_PERMISSIONS]

ACTORS = [
    *(Person(BEN), Client(DESK), Client(DESK, BEN), Agent(ROBIN, THREAD), Agent(ROBIN, THREAD, Person(BEN))),
    *(Agent(ROBIN, THREAD, Client(DESK, BEN)), Source(uuid4(), BEN), System()),
]


def standing(id: UUID, *codenames: str, **more) -> Standing:
    return Standing(id, NAMES[id], KINDS[id], grants=tuple(Held(codename) for codename in codenames), **more)


def facts(*standings: Standing, **more) -> Facts:
    return Facts("Launch plan", {one.account: one for one in standings}, **more)


def told(actor, action, known, kept=None, *, narrowed=True, **more):
    return explain(actor, action, known, kept or {}, narrowed=narrowed, **more)


held = st.builds(Held, st.sampled_from(CODENAMES), on_scope=st.booleans(), through=st.sampled_from(["", "Editors"]))


@st.composite
def anything(draw) -> Facts:
    """Facts of any kind, accounts that are gone or off among them."""
    present = draw(st.lists(st.sampled_from(list(NAMES)), unique=True))
    standings = [
        Standing(id, NAMES[id], KINDS[id], draw(st.booleans()), draw(st.booleans()) and KINDS[id] is KINDS[BEN],
                 tuple(draw(st.lists(held, max_size=3))))
        for id in present
    ]  # fmt: skip
    delegated = draw(st.none() | st.builds(Delegated, st.sampled_from(Level), st.just(ANA), st.just(UNTIL)))
    lowers = draw(st.lists(st.sampled_from([SUGGEST, POLICY]), unique=True))
    return facts(*standings, lowers=tuple(lowers), cap=draw(st.none() | st.just(ANA)), delegated=delegated)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ACTORS), st.sampled_from(Action), anything(), st.booleans())
def test_every_way_leads_there_and_no_part_of_it_does(actor, action, known, narrowed):
    before = decide(actor, action, known).level
    for level in (level for level in Level if level > before):
        possible = list(ways.changes_to(actor, action, known, level, narrowed=narrowed))
        way = ways.fewest(actor, action, known, level, narrowed=narrowed)
        sets = [some for number in range(len(possible) + 1) for some in combinations(possible, number)]
        leading = [some for some in sets if decide(actor, action, ways.with_changes(some, known)).level >= level]
        assert (way is None) == (not leading)
        if way is not None:
            assert len(way.changes) == min(len(some) for some in leading) > 0


@given(st.sampled_from(ACTORS), st.sampled_from(Action), anything())
def test_an_explanation_says_what_the_decision_says(actor, action, known):
    kept = {id: [Kept(held) for held in one.grants] for id, one in known.standings.items()}
    found = told(actor, action, known, kept)
    decision = decide(actor, action, known)
    assert found.decision == decision
    assert [(link.party, link.level) for link in found.links] == [(line.party, line.level) for line in decision.parties]
    for link, line in zip(found.links, decision.parties, strict=True):
        assert any(finding.says == line.via for finding in link.findings)
    assert all(way.level > decision.level for way in found.ways)
    assert json_of(found)["because"] == decision.because == lines_of(found)[0].partition(": ")[2]


def test_an_agent_that_lacks_a_grant_is_to_be_given_it_on_the_object_or_its_workspace():
    known = facts(standing(ROBIN, "view"), standing(BEN, "change_document"))
    (propose, allow) = told(Agent(ROBIN, THREAD, Person(BEN)), CHANGE, known).ways
    assert propose.changes == ("give Robin propose document on Launch plan or its workspace",)
    assert (propose.level, allow.level) == (Level.PROPOSE, Level.ALLOW)
    assert allow.changes == ("give Robin change document on Launch plan or its workspace",)


def test_a_workspace_is_not_said_to_be_in_one():
    (way,) = told(Person(BEN), MANAGE, facts(standing(BEN)), narrowed=False).ways
    assert way.changes == ("give Ben manage on Launch plan",)


def test_suggest_mode_is_to_be_set_to_edit_mode_and_the_person_may_do_it_themselves():
    known = facts(standing(ROBIN, "change_document"), standing(BEN, "change_document"), lowers=(SUGGEST,))
    found = told(Agent(ROBIN, THREAD, Person(BEN)), CHANGE, known)
    assert [way.changes for way in found.ways] == [("set Launch dinner to edit mode",)]
    assert [(bound.says, bound.lowers) for bound in found.bounds] == [(SUGGEST.because, True)]
    assert found.instead == ("In person, Ben may change Launch plan.",)
    assert not any(link.decides for link in found.links)


def test_what_lowers_a_change_does_not_lower_a_persons():
    found = told(Person(BEN), CHANGE, facts(standing(BEN, "change_document"), lowers=(SUGGEST,)))
    assert [bound.lowers for bound in found.bounds] == [False]
    assert found.ways == found.instead == ()


def test_a_delegation_that_denies_is_to_be_ended_and_its_giver_is_named():
    given_by_ana = Delegated(Level.DENY, ANA, UNTIL)
    known = facts(
        standing(ROBIN, "view", "change_document"), standing(BEN, "change_document"), standing(ANA, "change_document"),
        delegated=given_by_ana,
    )  # fmt: skip
    found = told(Agent(ROBIN, THREAD, Person(BEN)), CHANGE, known)
    assert found.ways[-1].changes == ("end Ana's delegation in the thread",)
    assert [link.part for link in found.links] == ["the agent", "whom it is for", "who delegated it"]


@pytest.mark.parametrize("id", [ROBIN, DESK])
def test_nothing_lets_an_agent_or_a_client_manage(id):
    actor = Agent(ROBIN, THREAD) if id == ROBIN else Client(DESK)
    assert told(actor, MANAGE, facts(standing(id, *CODENAMES))).ways == ()


def test_nothing_brings_a_removed_account_back():
    assert told(Person(BEN), CHANGE, facts()).ways == ()


def test_an_account_that_is_off_is_to_be_switched_on_before_it_is_given_more():
    kept = {BEN: [Kept(Held("change_document"))]}
    found = told(Person(BEN), CHANGE, facts(standing(BEN, "change_document", active=False)), kept)
    assert [way.changes for way in found.ways] == [("switch Ben on again",)]
    (link,) = found.links
    assert [(finding.says, finding.counts) for finding in link.findings] == [
        ("is inactive", False), ("holds change document on Launch plan", False),
    ]  # fmt: skip


def test_an_expired_grant_is_named_with_its_end_and_gives_nothing():
    kept = {BEN: [Kept(Held("change_document", on_scope=True, through="Editors"), UNTIL, stands=False)]}
    (link,) = told(Person(BEN), CHANGE, facts(standing(BEN)), kept).links
    assert [(finding.says, finding.counts) for finding in link.findings] == [
        ("holds no grant for it", False),
        ("held change document on its workspace, through group Editors, expired 2026-06-12 18:00 UTC", False),
    ]


def test_grants_that_do_not_include_the_action_are_named():
    kept = {BEN: [Kept(Held("view")), Kept(Held("comment", on_scope=True), UNTIL)]}
    (link,) = told(Person(BEN), CHANGE, facts(standing(BEN, "view", "comment")), kept).links
    assert link.findings[-1].says == "holds comment and view, which is not enough"


def test_a_moment_in_the_past_names_no_way_and_what_is_not_known():
    found = told(Person(BEN), CHANGE, facts(standing(BEN)), unknown=["Whether it rained."], at=UNTIL)
    assert (found.ways, found.instead, found.unknown) == ((), (), ("Whether it rained.",))
    assert "Not recorded: Whether it rained." in lines_of(found)
    assert json_of(found)["at"] == "2026-06-12T18:00:00+00:00"


def test_giving_on_the_workspace_does_what_giving_on_the_object_does():
    known = facts(standing(ROBIN, "view"), standing(BEN, "change_document"))
    actor = Agent(ROBIN, THREAD, Person(BEN))
    given_there = replace(standing(ROBIN, "view"), grants=(Held("change_document", on_scope=True),))
    there = replace(known, standings={**known.standings, ROBIN: given_there})
    assert decide(actor, CHANGE, there).level is Level.ALLOW
