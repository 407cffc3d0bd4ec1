"""What each kind of actor may do, decided on facts alone (DESIGN 5)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.actors import Agent, Client, Person, Source, System
from permissions.decisions import (
    AccountKind,
    Action,
    Facts,
    Held,
    Level,
    Lowering,
    Standing,
    accounts_of,
    decide,
)
from permissions.roles import ROLE_GRANTS, Role

ANA, BEN, VERA, DESK, ROBIN, HOOK = (UUID(int=number) for number in range(1, 7))
DINNER = UUID(int=101)
SUGGEST = (Lowering("Launch dinner is in suggest mode"),)
ALLOW, PROPOSE, DENY = Level.ALLOW, Level.PROPOSE, Level.DENY
CHANGE = Action.CHANGE_DOCUMENT

ROBIN_FOR_BEN = Agent(ROBIN, DINNER, Person(BEN))
ROBIN_FOR_DESK = Agent(ROBIN, DINNER, Client(DESK, BEN))
ROBIN_ALONE = Agent(ROBIN, DINNER)


def held(*codenames: str, through: str = "", on_scope: bool = True) -> tuple[Held, ...]:
    return tuple(Held(codename, on_scope, through) for codename in codenames)


def role(name: Role | None) -> tuple[Held, ...]:
    return held(*sorted(ROLE_GRANTS[name])) if name else ()


def person(id: UUID, name: str, grants=(), **more) -> Standing:
    return Standing(id, name, AccountKind.PERSON, grants=grants, **more)


def agent(grants=(), **more) -> Standing:
    return Standing(ROBIN, "Robin", AccountKind.AGENT, grants=grants, **more)


def client(grants=(), **more) -> Standing:
    return Standing(DESK, "Desk", AccountKind.CLIENT, grants=grants, **more)


def about(*standings: Standing, lowers=(), cap=None) -> Facts:
    return Facts("Plan", {standing.account: standing for standing in standings}, lowers, cap)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("name", [None, *Role])
def test_a_person_may_what_their_role_holds(action, name):
    expected = {
        None: "",
        Role.VIEWER: "view",
        Role.COMMENTER: "view comment",
        Role.CONTRIBUTOR: "view comment start_turn",
        Role.EDITOR: "view comment start_turn change_document review_document",
        Role.OWNER: "view comment start_turn change_document review_document manage use_tool",
    }[name].split()
    proposes = name is Role.CONTRIBUTOR and action is CHANGE
    level = decide(Person(BEN), action, about(person(BEN, "Ben", role(name)))).level
    assert level is (ALLOW if action in expected else PROPOSE if proposes else DENY)


@pytest.mark.parametrize(
    ("robins", "bens", "expected"),
    [
        (Role.EDITOR, Role.EDITOR, ALLOW),
        (Role.EDITOR, Role.CONTRIBUTOR, PROPOSE),
        (Role.CONTRIBUTOR, Role.EDITOR, PROPOSE),
        (Role.EDITOR, Role.VIEWER, DENY),
        (Role.VIEWER, Role.OWNER, DENY),
        (Role.EDITOR, None, DENY),
        (None, Role.OWNER, DENY),
    ],
)
def test_an_agent_may_the_lower_of_its_own_and_whom_it_works_for(robins, bens, expected):
    facts = about(agent(role(robins)), person(BEN, "Ben", role(bens)))
    assert decide(ROBIN_FOR_BEN, CHANGE, facts).level is expected


@pytest.mark.parametrize(
    ("desks", "expected"), [(Role.EDITOR, ALLOW), (Role.CONTRIBUTOR, PROPOSE), (Role.VIEWER, DENY)]
)
def test_a_client_in_the_chain_caps_too(desks, expected):
    facts = about(agent(role(Role.EDITOR)), client(role(desks)), person(BEN, "Ben", role(Role.EDITOR)))
    assert decide(ROBIN_FOR_DESK, CHANGE, facts).level is expected
    assert decide(Client(DESK, BEN), CHANGE, facts).level is expected


@pytest.mark.parametrize(("own", "expected"), [(Role.EDITOR, ALLOW), (Role.CONTRIBUTOR, PROPOSE), (None, DENY)])
def test_acting_for_no_one_is_its_own_grants_alone_and_never_no_limit(own, expected):
    assert decide(ROBIN_ALONE, CHANGE, about(agent(role(own)))).level is expected
    assert decide(Client(DESK), CHANGE, about(client(role(own)))).level is expected


def test_a_superuser_may_everything_in_person():
    facts = about(person(ANA, "Ana", superuser=True))
    assert all(decide(Person(ANA), action, facts).level is ALLOW for action in Action)


@pytest.mark.parametrize(("robins", "expected"), [(Role.EDITOR, ALLOW), (Role.CONTRIBUTOR, PROPOSE), (None, DENY)])
def test_a_superusers_rights_are_capped_by_the_agents_grants(robins, expected):
    facts = about(agent(role(robins)), person(ANA, "Ana", superuser=True))
    assert decide(Agent(ROBIN, DINNER, Person(ANA)), CHANGE, facts).level is expected


def test_a_superuser_flag_on_an_agent_or_a_client_means_nothing():
    assert decide(ROBIN_ALONE, CHANGE, about(agent(superuser=True))).level is DENY
    assert decide(Client(DESK), CHANGE, about(client(superuser=True))).level is DENY


@pytest.mark.parametrize(
    ("actor", "expected"),
    [
        (Person(BEN), ALLOW),
        (Client(DESK, BEN), PROPOSE),
        (Client(DESK), PROPOSE),
        (ROBIN_FOR_BEN, PROPOSE),
        (ROBIN_FOR_DESK, PROPOSE),
        (ROBIN_ALONE, PROPOSE),
    ],
)
def test_suggest_mode_lowers_agents_and_clients_and_not_people(actor, expected):
    editor = role(Role.EDITOR)
    facts = about(agent(editor), client(editor), person(BEN, "Ben", editor), lowers=SUGGEST)
    assert decide(actor, CHANGE, facts).level is expected


def test_suggest_mode_lowers_changes_and_nothing_else():
    facts = about(agent(role(Role.EDITOR)), lowers=SUGGEST)
    lowered = {action for action in Action if decide(ROBIN_ALONE, action, facts).level is PROPOSE}
    assert lowered == {CHANGE}


def test_suggest_mode_never_raises_a_level():
    assert decide(ROBIN_ALONE, CHANGE, about(agent(role(Role.VIEWER)), lowers=SUGGEST)).level is DENY


@pytest.mark.parametrize("off", [ROBIN, DESK, BEN])
@pytest.mark.parametrize("superuser", [False, True])
def test_an_inactive_account_anywhere_in_the_chain_denies(off, superuser):
    editor = role(Role.EDITOR)
    facts = about(
        agent(editor, active=off != ROBIN),
        client(editor, active=off != DESK),
        person(BEN, "Ben", editor, active=off != BEN, superuser=superuser),
    )
    assert decide(ROBIN_FOR_DESK, Action.VIEW, facts).level is DENY


@pytest.mark.parametrize("gone", [ROBIN, DESK, BEN])
def test_an_account_that_is_gone_denies(gone):
    editor = role(Role.EDITOR)
    standings = [agent(editor), client(editor), person(BEN, "Ben", editor)]
    facts = about(*(standing for standing in standings if standing.account != gone))
    assert decide(ROBIN_FOR_DESK, Action.VIEW, facts).level is DENY


def test_an_account_of_another_kind_denies():
    assert decide(Person(ROBIN), Action.VIEW, about(agent(role(Role.EDITOR)))).level is DENY
    assert decide(Client(BEN), Action.VIEW, about(person(BEN, "Ben", role(Role.EDITOR)))).level is DENY
    assert decide(Client(BEN), Action.VIEW, about(person(BEN, "Ben", superuser=True))).level is DENY


@pytest.mark.parametrize("action", [Action.MANAGE, Action.USE_TOOL])
def test_a_row_that_says_an_agent_or_a_client_manages_gives_nothing(action):
    facts = about(agent(held("manage")), client(held("manage")), person(ANA, "Ana", role(Role.OWNER)))
    assert decide(ROBIN_ALONE, action, facts).level is DENY
    assert decide(Client(DESK), action, facts).level is DENY
    assert decide(Agent(ROBIN, DINNER, Person(ANA)), action, facts).level is DENY


def test_a_tool_is_used_by_whoever_was_given_it_and_by_owners():
    facts = about(agent(held("use_tool", on_scope=False)), person(ANA, "Ana", role(Role.OWNER)), person(BEN, "Ben"))
    assert decide(Person(ANA), Action.USE_TOOL, facts).level is ALLOW
    assert decide(Agent(ROBIN, DINNER, Person(ANA)), Action.USE_TOOL, facts).level is ALLOW
    assert decide(ROBIN_FOR_BEN, Action.USE_TOOL, facts).level is DENY


@pytest.mark.parametrize(("owners", "expected"), [(Role.EDITOR, ALLOW), (Role.CONTRIBUTOR, PROPOSE), (None, DENY)])
def test_the_owner_of_a_timer_caps_the_turn_without_being_acted_for(owners, expected):
    facts = about(agent(role(Role.EDITOR)), person(ANA, "Ana", role(owners)), cap=ANA)
    decision = decide(ROBIN_ALONE, CHANGE, facts)
    assert decision.level is expected
    assert not decision.because.startswith("Robin for Ana")


def test_an_owner_who_left_stops_their_timer():
    editor = role(Role.EDITOR)
    gone = about(agent(editor), cap=ANA)
    inactive = about(agent(editor), person(ANA, "Ana", editor, active=False), cap=ANA)
    assert decide(ROBIN_ALONE, Action.VIEW, gone).level is DENY
    assert decide(ROBIN_ALONE, Action.VIEW, inactive).level is DENY


@pytest.mark.parametrize(
    ("action", "source", "system"),
    [
        (Action.VIEW, ALLOW, ALLOW),
        (Action.COMMENT, ALLOW, ALLOW),
        (Action.START_TURN, ALLOW, DENY),
        (Action.CHANGE_DOCUMENT, DENY, DENY),
        (Action.REVIEW_DOCUMENT, DENY, DENY),
        (Action.MANAGE, DENY, DENY),
        (Action.USE_TOOL, DENY, DENY),
    ],
)
def test_a_source_only_informs_and_asks_and_the_system_only_informs(action, source, system):
    assert decide(Source(HOOK), action, about()).level is source
    assert decide(System(), action, about()).level is system


@pytest.mark.parametrize(("owners", "expected"), [(Role.CONTRIBUTOR, ALLOW), (Role.VIEWER, DENY), (None, DENY)])
def test_a_source_is_capped_by_its_owner(owners, expected):
    facts = about(person(ANA, "Ana", role(owners)))
    assert decide(Source(HOOK, ANA), Action.START_TURN, facts).level is expected


def test_every_account_consulted_is_asked_for():
    assert accounts_of(ROBIN_FOR_DESK, cap=ANA) == (ROBIN, DESK, BEN, ANA)
    assert accounts_of(ROBIN_FOR_BEN, cap=BEN) == (ROBIN, BEN)
    assert accounts_of(Source(HOOK, ANA)) == (ANA,)
    assert accounts_of(System()) == ()


EDITOR = role(Role.EDITOR)


@pytest.mark.parametrize(
    ("actor", "facts", "sentence"),
    [
        (
            Person(BEN), about(person(BEN, "Ben", held("change_document"))),
            "Ben may change Plan: Ben holds change document on its workspace.",
        ),
        (
            Person(BEN), about(person(BEN, "Ben", held("change_document", through="Editors", on_scope=False))),
            "Ben may change Plan: Ben holds change document on Plan, through group Editors.",
        ),
        (
            ROBIN_FOR_BEN, about(agent(EDITOR), person(BEN, "Ben", superuser=True)),
            "Robin for Ben may change Plan: Robin holds change document on its workspace; Ben is a superuser.",
        ),
        (
            ROBIN_FOR_BEN, about(agent(EDITOR), person(BEN, "Ben", held("view"))),
            "Ben may only view Plan (Robin may change it).",
        ),
        (
            ROBIN_FOR_BEN, about(agent(EDITOR), person(BEN, "Ben", held("view", "comment"))),
            "Ben may not change Plan (Robin may).",
        ),
        (
            ROBIN_FOR_BEN, about(agent(), person(BEN, "Ben", EDITOR)),
            "Robin may not change Plan (Ben may).",
        ),
        (ROBIN_FOR_BEN, about(agent(), person(BEN, "Ben")), "Robin and Ben may not change Plan."),
        (
            ROBIN_FOR_BEN, about(agent(EDITOR), person(BEN, "Ben", held("propose_document"))),
            "Ben may only propose changes to Plan (Robin may change it).",
        ),
        (
            ROBIN_FOR_BEN, about(agent(EDITOR), person(BEN, "Ben", EDITOR), lowers=SUGGEST),
            "Robin for Ben may only propose changes to Plan: Launch dinner is in suggest mode.",
        ),
        (
            ROBIN_FOR_BEN, about(agent(EDITOR), person(BEN, "Ben", EDITOR, active=False)),
            "Ben may not change Plan: Ben is inactive.",
        ),
        (ROBIN_FOR_BEN, about(agent(EDITOR)), "A removed account may not change Plan: A removed account is gone."),
        (
            ROBIN_ALONE, about(agent(EDITOR), person(ANA, "Ana", held("view")), cap=ANA),
            "Ana may only view Plan (Robin may change it).",
        ),
        (System(), about(), "The system may not change Plan."),
    ],
)  # fmt: skip
def test_the_sentence_says_who_lacks_what_and_who_could(actor, facts, sentence):
    assert decide(actor, CHANGE, facts).because == sentence


def test_the_sentence_about_managing_says_that_only_people_do():
    decision = decide(ROBIN_ALONE, Action.MANAGE, about(agent(held("manage"))))
    assert decision.because == "Robin may not manage Plan: Robin is no person, and only people manage."


def test_the_nearest_of_equal_grants_is_the_one_told():
    grants = (
        *held("change_document", through="Editors"),
        *held("change_document"),
        *held("propose_document", on_scope=False),
        *held("change_document", through="Editors", on_scope=False),
    )
    assert decide(Person(BEN), CHANGE, about(person(BEN, "Ben", grants))).because == (
        "Ben may change Plan: Ben holds change document on Plan, through group Editors."
    )


def test_of_two_groups_that_give_the_same_the_first_by_name_is_told_in_whatever_order_they_are_read():
    grants = (*held("change_document", through="Readers"), *held("change_document", through="Editors"))
    told = [decide(Person(BEN), CHANGE, about(person(BEN, "Ben", one))).because for one in (grants, grants[::-1])]
    assert told == ["Ben may change Plan: Ben holds change document on its workspace, through group Editors."] * 2


def test_a_decision_has_a_line_for_each_party():
    decision = decide(ROBIN_FOR_BEN, CHANGE, about(agent(EDITOR), person(BEN, "Ben", held("view"))))
    assert [(line.name, line.level, line.via) for line in decision.parties] == [
        ("Robin", ALLOW, "holds change document on its workspace"),
        ("Ben", DENY, "holds no grant for it"),
    ]


CODENAMES = sorted(ROLE_GRANTS[Role.OWNER] | {"use_tool"})
GRANTS = st.lists(
    st.builds(Held, st.sampled_from(CODENAMES), st.booleans(), st.sampled_from(["", "Editors"])), max_size=5
).map(tuple)
PEOPLE = st.builds(
    Standing, st.just(BEN), st.just("Ben"), st.just(AccountKind.PERSON), st.booleans(), st.booleans(), GRANTS
)
AGENTS = st.builds(
    Standing, st.just(ROBIN), st.just("Robin"), st.just(AccountKind.AGENT), st.booleans(), st.booleans(), GRANTS
)
CLIENTS = st.builds(
    Standing, st.just(DESK), st.just("Desk"), st.just(AccountKind.CLIENT), st.booleans(), st.booleans(), GRANTS
)


@given(robin=AGENTS, desk=CLIENTS, ben=PEOPLE, action=st.sampled_from(Action), lowers=st.sampled_from([(), SUGGEST]))
def test_an_agent_never_exceeds_itself_nor_anyone_it_works_for(robin, desk, ben, action, lowers):
    facts = about(robin, desk, ben, lowers=lowers)
    level = decide(ROBIN_FOR_DESK, action, facts).level
    assert level <= decide(ROBIN_ALONE, action, facts).level
    assert level <= decide(Client(DESK, BEN), action, facts).level
    assert level <= decide(Person(BEN), action, facts).level


@given(robin=AGENTS, ben=PEOPLE, action=st.sampled_from(Action), more=GRANTS)
def test_another_grant_never_takes_anything_away(robin, ben, action, more):
    richer = Standing(robin.account, "Robin", robin.kind, robin.active, robin.superuser, robin.grants + more)
    before = decide(ROBIN_FOR_BEN, action, about(robin, ben)).level
    assert decide(ROBIN_FOR_BEN, action, about(richer, ben)).level >= before


@given(robin=AGENTS, ben=PEOPLE, action=st.sampled_from(Action), lowers=st.sampled_from([(), SUGGEST]))
def test_every_decision_says_why_in_one_sentence(robin, ben, action, lowers):
    because = decide(ROBIN_FOR_BEN, action, about(robin, ben, lowers=lowers)).because
    assert because.endswith(".")
    assert because.count(".") == 1


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("actor", [Client(DESK), Client(DESK, BEN), ROBIN_FOR_DESK])
def test_a_token_for_other_workspaces_denies_everything(actor, action):
    editor = role(Role.EDITOR)
    known = about(agent(editor), client(editor), person(BEN, "Ben", editor, superuser=True))
    decision = decide(actor, action, replace(known, outside=True))
    assert decision.level is DENY
    assert "Desk came with a token that is for other workspaces" in decision.because or action is Action.MANAGE


def test_a_token_says_nothing_of_what_people_may():
    known = replace(about(person(BEN, "Ben", role(Role.EDITOR))), outside=True)
    assert decide(Person(BEN), CHANGE, known).level is ALLOW
