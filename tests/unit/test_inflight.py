"""What waiting messages do to a running turn (DESIGN 6, In flight)."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from agents.turns.inflight import MOST_ASKED, Policy, Verdict, policy_of, to_classify, what_joins
from agents.turns.plan import Waiting
from permissions.actors import Actor, Person, Source

ANA, BEN, SHOP = Person(UUID(int=1)), Person(UUID(int=2)), Source(UUID(int=3), None)


def waiting(*authors: Actor) -> list[Waiting]:
    return [Waiting(uuid4(), seq, author) for seq, author in enumerate(authors, start=1)]


def means(messages: list[Waiting], *meanings: str) -> dict[UUID, str]:
    return {message.id: meaning for message, meaning in zip(messages, meanings, strict=False)}


def test_merge_takes_the_authors_messages_up_to_the_first_of_another():
    one, two, other, behind = messages = waiting(ANA, ANA, BEN, ANA)
    assert what_joins("merge", messages, ANA, {}, classify=False) == Verdict((one, two))
    assert (other, behind) == tuple(messages[2:])


def test_queue_takes_nothing():
    assert what_joins("queue", waiting(ANA, ANA), ANA, {}, classify=False) == Verdict()


def test_restart_stops_the_turn_for_one_that_begins_with_what_adds():
    (one,) = messages = waiting(ANA)
    assert what_joins("restart", messages, ANA, {}, classify=False) == Verdict((one,), anew="restarted")


@pytest.mark.parametrize("policy", ["merge", "queue", "restart"])
@pytest.mark.parametrize("classify", [False, True], ids=["plain", "classified"])
def test_anothers_message_does_nothing_whatever_it_is_said_to_mean(policy: Policy, classify: bool):
    for meaning in ("adds", "revises", "unclear"):
        messages = waiting(BEN, ANA)
        found = what_joins(policy, messages, ANA, means(messages, meaning, meaning), classify=classify)
        assert found == Verdict()


def test_nothing_that_waits_does_nothing():
    assert what_joins("restart", [], ANA, {}, classify=True) == Verdict()


def test_a_model_is_asked_about_nothing_from_the_first_other_author_on():
    own, _, _ = messages = waiting(ANA, BEN, ANA)
    assert to_classify(messages, ANA, {}) == (own,)
    assert to_classify(messages[1:], ANA, {}) == ()


def test_a_model_is_asked_once_about_each_message_and_about_a_few_at_a_boundary():
    messages = waiting(*[ANA] * (MOST_ASKED + 2))
    assert to_classify(messages, ANA, means(messages, "independent")) == tuple(messages[1 : MOST_ASKED + 1])


def test_what_adds_joins_and_what_is_independent_waits_with_all_behind_it():
    adds, _, _ = messages = waiting(ANA, ANA, ANA)
    found = what_joins("merge", messages, ANA, means(messages, "adds", "independent", "adds"), classify=True)
    assert found == Verdict((adds,))


def test_what_revises_stops_the_turn_also_from_behind_what_waits():
    messages = waiting(ANA, ANA)
    found = what_joins("queue", messages, ANA, means(messages, "independent", "revises"), classify=True)
    assert found.anew == "revised"


def test_what_is_unclear_is_held_and_what_is_behind_it_goes_on():
    unclear, adds = messages = waiting(ANA, ANA)
    found = what_joins("merge", messages, ANA, means(messages, "unclear", "adds"), classify=True)
    assert found == Verdict((adds,), holds=(unclear,))


def test_what_is_unclear_from_a_source_waits_since_nobody_could_say():
    messages = waiting(SHOP, SHOP)
    assert what_joins("merge", messages, SHOP, means(messages, "unclear", "adds"), classify=True) == Verdict()


def test_what_came_after_the_model_was_asked_waits_for_the_next_boundary():
    adds, _, _ = messages = waiting(ANA, ANA, ANA)
    found = what_joins("merge", messages, ANA, {adds.id: "adds", messages[2].id: "revises"}, classify=True)
    assert found == Verdict((adds,))


@pytest.mark.parametrize(("kept", "policy"), [("queue", "queue"), ("restart", "restart"), ("later", "merge")])
def test_a_policy_that_is_not_known_is_merge(kept: str, policy: str):
    class Row:
        in_flight = kept

    assert policy_of(Row()) == policy
