"""Quotas of the API: how many requests a client may make within a minute, and what it is told."""

from __future__ import annotations

from agents.clients.rest.quotas import Policy, Quotas

FEW = Policy("few", 3)
OTHER = Policy("other", 1)


def test_so_many_fit_within_a_minute_and_the_next_has_to_wait() -> None:
    quotas = Quotas()
    assert [quotas.spend("desk", FEW, 10.0 + second).left for second in range(3)] == [2, 1, 0]
    late = quotas.spend("desk", FEW, 30.0)
    assert (late.left, late.wait, late.reset) == (0, 40.0, 40)


def test_a_request_that_was_too_many_makes_nobody_wait_longer() -> None:
    quotas = Quotas()
    for second in range(9):
        quotas.spend("desk", FEW, float(second))
    assert quotas.spend("desk", FEW, 60.0).wait == 0


def test_one_client_uses_up_nothing_of_anothers_nor_one_kind_of_the_other() -> None:
    quotas = Quotas()
    for _ in range(3):
        quotas.spend("desk", FEW, 0.0)
    assert quotas.spend("desk", FEW, 1.0).wait
    assert not quotas.spend("door", FEW, 1.0).wait
    assert not quotas.spend("desk", OTHER, 1.0).wait


def test_whoever_was_heard_of_longest_ago_is_forgotten_first() -> None:
    quotas = Quotas(most=2)
    for who in ("desk", "door", "bell"):
        quotas.spend(who, OTHER, 0.0)
    assert not quotas.spend("desk", OTHER, 1.0).wait
    assert quotas.spend("bell", OTHER, 1.0).wait


def test_its_headers_name_the_policy_and_what_is_left() -> None:
    spent = Quotas().spend("desk", FEW, 0.0)
    assert spent.headers == {"RateLimit-Policy": '"few";q=3;w=60', "RateLimit": '"few";r=2;t=60'}
