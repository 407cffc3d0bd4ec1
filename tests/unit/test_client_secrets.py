"""What a token's secret looks like, and how one is found where it must not be."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.clients.secrets import SHOWN, can_be_one, digest_of, found_in, secret_made


def test_a_secret_is_recognised_by_its_form_and_its_checksum():
    secret = secret_made()
    assert secret.startswith("accord_")
    assert can_be_one(secret)


def test_no_two_secrets_are_alike_and_what_is_shown_of_one_is_not_enough():
    made = {secret_made() for _ in range(200)}
    assert len(made) == 200
    assert all(len(secret) - SHOWN > 40 for secret in made)


@given(place=st.integers(7, 55), other=st.sampled_from("ABCxyz019-_"))
def test_a_mistyped_secret_is_told_without_asking_the_database(place, other):
    secret = secret_made()
    typed = f"{secret[:place]}{other}{secret[place + 1 :]}"
    assert can_be_one(typed) is (typed == secret)


@pytest.mark.parametrize("text", ["", "accord_", "accord_short", "Bearer x", "accord_" + "é" * 49, "\x00" * 56])
def test_anything_else_is_no_secret(text):
    assert not can_be_one(text)


def test_what_is_kept_of_a_secret_does_not_hold_it():
    secret = secret_made()
    assert len(digest_of(secret)) == 64
    assert secret[SHOWN:] not in digest_of(secret)


def test_a_secret_in_an_address_is_found_wherever_it_stands():
    one, other = secret_made(), secret_made()
    encoded = quote(one).replace("a", "%61")
    assert found_in(f"/api/v1/{one}/threads", f"access_token={other}&x=1") == [one, other]
    assert found_in("/", f"token={encoded}") == [one]
    assert found_in(f"/t/accord_{one}", "") == [one]


def test_an_address_without_one_holds_none():
    assert found_in("/accord_/static/accord_thing.css", "next=/accord_") == []
