"""Every attack of FAILURES 5.2, what must stop it, and the tests that show it, that it would succeed without its rule,
and that honest work is not stopped with it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its number, what stops it, and its tests as ``folder/module::start of the name``.

    Attributes:
        ablation: the test that is given ``rule`` and sees the attack succeed where that is off; "" where the rule has
            no such test.
        honest: what looks alike and must succeed.
    """

    number: int
    stopped_by: str
    tests: tuple[str, ...]
    ablation: str
    honest: str


WRITES = "attacks/test_authority::test_honest_an_editors_turn_writes"
APPROVES = "attacks/test_webhooks::test_honest_an_offer_that_its_owner_approves"

ATTACKS = (
    Attack(
        1, "author ∩ policy at the write: forbidden",
        ("attacks/test_rights::test_attack_1_", "attacks/test_authority::test_attack_1_"),
        "attacks/test_authority::test_attack_1_", WRITES,
    ),
    Attack(
        2, "the agent's cap after the author's right: forbidden",
        ("attacks/test_rights::test_attack_2_", "attacks/test_authority::test_attack_2_"),
        "attacks/test_authority::test_attack_2_", WRITES,
    ),
    Attack(
        3, "an origin that is no person waits for consent: consent, no_one_to_ask",
        ("attacks/test_webhooks::test_attack_3_", "attacks/test_ceiling_webhooks::test_a_webhooks_turn_only_proposes"),
        "attacks/test_webhooks::test_attack_3_what", APPROVES,
    ),
    Attack(
        4, "the source is compared with the turn's origin before the model sees it",
        ("attacks/test_webhooks::test_attack_4_",), "attacks/test_webhooks::test_attack_4_",
        "attacks/test_webhooks::test_honest_what_the_same_person_adds",
    ),
    Attack(
        5, "closed schema: argument_schema",
        ("attacks/test_rights::test_attack_5_", "attacks/test_authority::test_attack_5_"),
        "attacks/test_authority::test_attack_5_", WRITES,
    ),
    Attack(
        6, "the object is loaded for who asks, in the thread's workspace: not_found",
        ("attacks/test_rights::test_attack_6_", "attacks/test_authority::test_attack_6_"),
        "attacks/test_authority::test_attack_6_", WRITES,
    ),
    Attack(
        7, "only people approve, by id: forbidden",
        ("attacks/test_consent::test_attack_7_", "attacks/test_rights::test_attack_7_"),
        "attacks/test_consent::test_attack_7_", APPROVES,
    ),
    Attack(
        8, "the question is rendered from the arguments, with nothing hidden",
        ("attacks/test_consent::test_attack_8_",), "attacks/test_consent::test_attack_8_nothing", APPROVES,
    ),
    Attack(
        9, "the frozen steps run, and every other call is refused: report_only",
        ("attacks/test_consent::test_attack_9_",), "attacks/test_consent::test_attack_9_", APPROVES,
    ),
    Attack(
        10, "an action is decided once, for one turn: already_yours",
        ("attacks/test_consent::test_attack_10_",), "attacks/test_consent::test_attack_10_an_approval_is_used",
        APPROVES,
    ),
    Attack(
        11, "the versions of the documents that a step names are frozen: changed_since",
        ("attacks/test_consent::test_attack_11_",), "attacks/test_consent::test_attack_11_",
        "attacks/test_consent::test_honest_what_nobody_changed",
    ),
    Attack(
        12, "limits of a turn and a day, and later writes wait too: limit, consent",
        ("attacks/test_consent::test_attack_12_",), "attacks/test_consent::test_attack_12_many", APPROVES,
    ),
    Attack(
        13, "caps on what waits for consent: too_many_actions, limit",
        ("attacks/test_consent::test_attack_13_",), "attacks/test_consent::test_attack_13_a_flood", APPROVES,
    ),
    Attack(
        14, "may_resolve: nobody accepts their own",
        ("attacks/test_rights::test_attack_14_",), "attacks/test_ablation::test_without_acts_as",
        "attacks/test_rights::test_attack_14_only_a_person_accepts",
    ),
    Attack(
        15, "an edit touches its document alone: argument_schema",
        ("attacks/test_scope::test_attack_15_",), "", "attacks/test_rights::test_attack_14_only_a_person_accepts",
    ),
    Attack(
        16, "no such tool, or not enabled here: unknown_tool, not_enabled",
        ("attacks/test_rights::test_attack_16_", "attacks/test_authority::test_attack_16_"),
        "attacks/test_authority::test_attack_16_", WRITES,
    ),
    Attack(
        17, "rights are read at each write, whom a turn is for is fixed: forbidden",
        ("attacks/test_rights::test_attack_17_", "attacks/test_authority::test_attack_17_"),
        "attacks/test_authority::test_attack_17_the_call", WRITES,
    ),
    Attack(
        18, "the gate of arguments and its limits: argument_schema, unknown_tool",
        ("attacks/test_bad_output::test_attack_18_", "attacks/test_endless::test_attack_18_"),
        "attacks/test_endless::test_attack_18_", WRITES,
    ),
    Attack(
        19, "the budget of a turn: limit",
        ("attacks/test_bad_output::test_attack_19_", "attacks/test_endless::test_attack_19_"),
        "attacks/test_endless::test_attack_19_", "attacks/test_endless::test_honest_a_text_is_sent",
    ),
    Attack(
        20, "attempts are counted: abandoned, and the thread goes on",
        ("attacks/test_bad_output::test_attack_20_", "attacks/test_endless::test_attack_20_"),
        "attacks/test_endless::test_attack_20_", "attacks/test_endless::test_honest_the_next_person",
    ),
    Attack(
        21, "the reply check",
        (
            "integration/test_replies_in_turns::test_a_claim_that_a_refused_call_was_done",
            "integration/test_replies_in_turns::test_a_write_nobody_told_of",
        ),
        "", "integration/test_replies_in_turns::test_a_true_claim_stands",
    ),
    Attack(
        22, "nothing is fetched, and the author's rights bound what is read",
        ("attacks/test_bad_output::test_attack_22_",), "", WRITES,
    ),
    Attack(
        23, "history has no authority, and its labels cannot be written inside of them",
        ("attacks/test_bad_output::test_attack_23_",), "", WRITES,
    ),
    Attack(
        24, "signature, moment, one delivery an id; no address is an argument or a redirect: bad_signature, too_old",
        ("attacks/test_webhooks::test_attack_24_",), "attacks/test_webhooks::test_attack_24_a_forged", APPROVES,
    ),
    Attack(
        25, "what nobody knows the outcome of is not done again: unknown_before",
        ("attacks/test_endless::test_attack_25_",), "attacks/test_endless::test_attack_25_",
        "attacks/test_endless::test_honest_what_its_person_lets_be_done_again",
    ),
)  # fmt: skip

WITHOUT_ABLATION = {15, 21, 22, 23}
"""Attacks that no test sees succeed."""


def test_all_twenty_five_attacks_are_listed_once_and_all_but_four_are_seen_to_succeed_without_their_rule() -> None:
    assert [attack.number for attack in ATTACKS] == list(range(1, 26))
    assert {attack.number for attack in ATTACKS if not attack.ablation} == WITHOUT_ABLATION


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"attack {attack.number}")
def test_an_attack_has_its_tests(attack: Attack) -> None:
    for named in (*attack.tests, attack.honest):
        assert _found(named), f"attack {attack.number}: there is no test {named}"
    if attack.ablation:
        switched = [arguments for arguments in _found(attack.ablation) if "rule" in arguments]
        assert switched, f"attack {attack.number}: {attack.ablation} is not given the rule"


def test_every_test_of_an_attack_is_in_the_table() -> None:
    listed = {named for attack in ATTACKS for named in attack.tests}
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for name in _tests_of(file):
            if name.startswith("test_attack_"):
                assert any(f"attacks/{file.stem}::{name}".startswith(named) for named in listed), name


def _found(named: str) -> list[list[str]]:
    """Return the arguments of each test that a row names."""
    path, start = named.split("::")
    file = TESTS / f"{path}.py"
    return [arguments for name, arguments in _tests_of(file).items() if name.startswith(start)] if file.exists() else []


@cache
def _tests_of(file: Path) -> dict[str, list[str]]:
    tree = ast.parse(file.read_text("utf-8"))
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
