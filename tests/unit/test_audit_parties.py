"""The audit reads actors by code of its own; both readings must agree on every pair of actors."""

from __future__ import annotations

from itertools import product
from uuid import UUID

import pytest

from agents.audit import parties
from collab.services.proposals import may_withdraw
from permissions.actors import Agent, Client, Person, Source, System, dumps, principal, same_author
from permissions.decisions import accounts_of
from permissions.resolving import may_resolve

ANA, BEN, DESK, ROBIN, HOOK, HERE, THERE = (UUID(int=number) for number in range(1, 8))
PRINCIPALS = (Person(ANA), Person(BEN), Client(DESK, ANA), Client(DESK, BEN), Client(DESK))
ACTORS = (
    *PRINCIPALS,
    *(Agent(ROBIN, thread, acts_for) for thread in (HERE, THERE) for acts_for in (*PRINCIPALS, None)),
    *(Source(HOOK), Source(HOOK, ANA), Source(DESK)),
    System(),
)


@pytest.mark.parametrize("actor", ACTORS, ids=dumps)
def test_whom_an_actor_acts_for_and_with_which_accounts_is_read_alike(actor):
    acts_for = principal(actor)
    assert parties.whom(dumps(actor)) == (acts_for and dumps(acts_for))
    owner = {actor.owner} if isinstance(actor, Source) else set()
    assert {UUID(id) for id in parties.accounts(dumps(actor))} == set(accounts_of(actor)) - owner


def test_who_is_one_author_is_read_alike():
    for a, b in product(ACTORS, ACTORS):
        assert (parties.author(dumps(a)) == parties.author(dumps(b))) is same_author(a, b), (a, b)


def test_who_may_resolve_and_withdraw_is_read_alike():
    for responder, proposer in product(ACTORS, ACTORS):
        texts = dumps(responder), dumps(proposer)
        assert parties.may_resolve(*texts) is may_resolve(responder, proposer, {}).allowed, texts
        assert parties.may_withdraw(*texts) is may_withdraw(responder, proposer), texts
